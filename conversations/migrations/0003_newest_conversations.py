"""The index of the admin's list of conversations, which without one reads and sorts those of all owners."""

from django.db import migrations, models

from chatsite.schema.operations import AddIndexConcurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('conversations', '0002_privacy_page_names'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='conversation',
            index=models.Index(fields=['-last_active_at', '-id'], name='conversation_newest'),
        ),
    ]

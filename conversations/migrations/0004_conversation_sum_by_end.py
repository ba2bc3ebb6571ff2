"""The index by which conversations of the last days are counted, which without one reads those of all time."""

from django.db import migrations, models

from chatsite.schema.operations import AddIndexConcurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('conversations', '0003_newest_conversations'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='conversationsum',
            index=models.Index(fields=['last_quarter', 'first_quarter'], name='conversation_sum_by_end'),
        ),
    ]

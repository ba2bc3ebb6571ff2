"""Tables of which users were active in closed days, and how many conversations: filled when the next day is closed."""

import conversations.models.activity
import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0004_conversation_sum_by_end'),
    ]

    operations = [
        migrations.CreateModel(
            name='ConversationsOfDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('begins_at', models.DateTimeField(unique=True)),
                ('began', models.PositiveIntegerField()),
                ('ended', models.PositiveIntegerField()),
                ('anonymous_completions', models.PositiveIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='ActiveUsers',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('span', models.CharField(max_length=5)),
                ('begins_at', models.DateTimeField()),
                ('users', conversations.models.activity.BitsField()),
                ('most_expensive', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('next_cost_usd', models.DecimalField(decimal_places=10, max_digits=30)),
                ('next_input_tokens', models.PositiveBigIntegerField()),
                ('next_completions', models.PositiveIntegerField()),
                ('anonymous_completions', models.PositiveIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('span', 'begins_at'), name='active_users_one_each')],
            },
        ),
    ]

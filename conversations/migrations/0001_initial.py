import conversations.models.price
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import pgvector.django
import pgvector.django.vector
import uuid
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models

from conversations.migrations._ledger_stays import KEEP, LET_GO


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        pgvector.django.VectorExtension(),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=255, verbose_name='name')),
                ('size_bytes', models.PositiveIntegerField(verbose_name='size bytes')),
                ('digest', models.CharField(max_length=64, verbose_name='digest')),
                ('kind', models.CharField(blank=True, choices=[('pdf', 'PDF'), ('docx', 'DOCX'), ('markdown', 'Markdown'), ('html', 'HTML'), ('text', 'text'), ('csv', 'CSV'), ('json', 'JSON'), ('records', 'JSON records')], max_length=10, verbose_name='kind')),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('reading', 'Reading'), ('ready', 'Ready'), ('failed', 'Failed')], default='waiting', max_length=8, verbose_name='state')),
                ('percent', models.PositiveSmallIntegerField(default=0, verbose_name='percent')),
                ('error_code', models.CharField(blank=True, max_length=50)),
                ('error_params', models.JSONField(default=dict)),
                ('passage_count', models.PositiveIntegerField(default=0, verbose_name='passage count')),
                ('tokens', models.PositiveIntegerField(default=0, verbose_name='tokens')),
                ('encoding', models.CharField(blank=True, max_length=50, verbose_name='encoding')),
                ('search_language', models.CharField(blank=True, max_length=50, verbose_name='search language')),
                ('embedding_model', models.CharField(blank=True, max_length=200, verbose_name='embedding model')),
                ('embedded_count', models.PositiveIntegerField(default=0, verbose_name='embedded count')),
                ('embedding_error_code', models.CharField(blank=True, max_length=50)),
                ('worker', models.CharField(blank=True, max_length=100, verbose_name='worker')),
                ('lease_until', models.DateTimeField(null=True, verbose_name='lease until')),
                ('attempt', models.PositiveSmallIntegerField(default=0, verbose_name='attempt')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('ready_at', models.DateTimeField(null=True, verbose_name='ready at')),
            ],
            options={
                'verbose_name': 'document',
                'verbose_name_plural': 'documents',
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='SystemPrompt',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('text', models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name='Calibration',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language_model', models.CharField(max_length=200, unique=True, verbose_name='language model')),
                ('ratio', models.DecimalField(decimal_places=4, default=Decimal('1'), max_digits=6, verbose_name='ratio')),
                ('pairs', models.PositiveIntegerField(default=0, verbose_name='pairs')),
                ('limit_tokens', models.PositiveIntegerField(blank=True, null=True, verbose_name='limit tokens')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='updated at')),
            ],
            options={
                'verbose_name': 'calibration',
                'verbose_name_plural': 'calibrations',
                'ordering': ['language_model'],
                'constraints': [models.CheckConstraint(condition=models.Q(('ratio__gte', 1)), name='calibration_only_tightens')],
            },
        ),
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='public id')),
                ('title', models.CharField(blank=True, max_length=200, verbose_name='title')),
                ('anchor_position', models.PositiveIntegerField(null=True)),
                ('has_pins', models.BooleanField(default=False)),
                ('archived', models.BooleanField(default=False, verbose_name='archived')),
                ('starred', models.BooleanField(default=False, verbose_name='starred')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('last_active_at', models.DateTimeField(verbose_name='last active at')),
                ('deleted_at', models.DateTimeField(help_text='Taken away by its owner; can be brought back until it is swept.', null=True, verbose_name='deleted at')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
            ],
            options={
                'verbose_name': 'conversation',
                'verbose_name_plural': 'conversations',
                'ordering': ['-last_active_at'],
            },
        ),
        migrations.CreateModel(
            name='DocumentFile',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='file', serialize=False, to='conversations.document')),
                ('content', models.BinaryField()),
            ],
            options={
                'verbose_name': 'file of a document',
                'verbose_name_plural': 'files of documents',
            },
        ),
        migrations.AddField(
            model_name='document',
            name='conversation',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='conversations.conversation', verbose_name='conversation'),
        ),
        migrations.AddField(
            model_name='document',
            name='uploader',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='documents', to=settings.AUTH_USER_MODEL, verbose_name='uploader'),
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(verbose_name='position')),
                ('active', models.BooleanField(default=True, verbose_name='active')),
                ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant'), ('tool', 'Tool')], max_length=10, verbose_name='role')),
                ('content', models.TextField(blank=True, verbose_name='content')),
                ('grounding', models.JSONField(default=list)),
                ('tool_calls', models.JSONField(default=list)),
                ('tool_call_id', models.CharField(blank=True, max_length=100)),
                ('content_tokens', models.PositiveIntegerField(default=0, verbose_name='content tokens')),
                ('grounding_tokens', models.PositiveIntegerField(default=0, verbose_name='grounding tokens')),
                ('encoding', models.CharField(max_length=50, verbose_name='encoding')),
                ('pinned', models.BooleanField(default=False, verbose_name='pinned')),
                ('excluded', models.BooleanField(default=False, verbose_name='excluded')),
                ('state', models.CharField(choices=[('streaming', 'Streaming'), ('complete', 'Complete'), ('stopped', 'Stopped'), ('interrupted', 'Interrupted'), ('failed', 'Failed')], default='complete', max_length=12, verbose_name='state')),
                ('error_code', models.CharField(blank=True, max_length=50, verbose_name='error code')),
                ('error_params', models.JSONField(default=dict)),
                ('client_id', models.UUIDField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='conversations.conversation', verbose_name='conversation')),
                ('parent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='children', to='conversations.message', verbose_name='parent')),
            ],
            options={
                'verbose_name': 'message',
                'verbose_name_plural': 'messages',
                'ordering': ['position'],
            },
        ),
        migrations.AddField(
            model_name='conversation',
            name='head',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='conversations.message'),
        ),
        migrations.CreateModel(
            name='Passage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('heading', models.TextField(blank=True)),
                ('text', models.TextField()),
                ('tokens', models.PositiveIntegerField()),
                ('search', django.contrib.postgres.search.SearchVectorField()),
                ('embedding', pgvector.django.vector.VectorField(null=True)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='passages', to='conversations.document')),
            ],
            options={
                'verbose_name': 'passage',
                'verbose_name_plural': 'passages',
                'ordering': ['document', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Price',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language_model', models.CharField(max_length=200, verbose_name='language model')),
                ('valid_from', models.DateField(default=conversations.models.price.today, verbose_name='valid from')),
                ('input_usd', models.DecimalField(decimal_places=8, max_digits=16, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('1000000'))], verbose_name='input usd')),
                ('cached_input_usd', models.DecimalField(blank=True, decimal_places=8, max_digits=16, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('1000000'))], verbose_name='cached input usd')),
                ('cache_write_usd', models.DecimalField(blank=True, decimal_places=8, max_digits=16, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('1000000'))], verbose_name='cache write usd')),
                ('output_usd', models.DecimalField(decimal_places=8, max_digits=16, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('1000000'))], verbose_name='output usd')),
                ('note', models.CharField(blank=True, help_text='Where it comes from.', max_length=200, verbose_name='note')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='created by')),
            ],
            options={
                'verbose_name': 'price',
                'verbose_name_plural': 'prices',
                'ordering': ['language_model', '-valid_from'],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('ended', 'Ended')], default='waiting', max_length=8, verbose_name='state')),
                ('worker', models.CharField(blank=True, max_length=100, verbose_name='worker')),
                ('attempt', models.PositiveSmallIntegerField(default=0, verbose_name='attempt')),
                ('lease_until', models.DateTimeField(null=True, verbose_name='lease until')),
                ('stop_requested_at', models.DateTimeField(null=True, verbose_name='stop requested at')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('started_at', models.DateTimeField(null=True, verbose_name='started at')),
                ('ended_at', models.DateTimeField(null=True, verbose_name='ended at')),
                ('reply', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='run', to='conversations.message', verbose_name='reply')),
            ],
            options={
                'verbose_name': 'run',
                'verbose_name_plural': 'runs',
            },
        ),
        migrations.CreateModel(
            name='Scenario',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('system_prompt', models.TextField(blank=True, verbose_name='system prompt')),
                ('language_model', models.CharField(blank=True, max_length=200, verbose_name='language model')),
                ('sampling', models.JSONField(blank=True, default=dict, verbose_name='sampling')),
                ('tools', models.JSONField(blank=True, default=list, verbose_name='tools')),
                ('offered', models.BooleanField(default=False, help_text='Everyone may choose it.', verbose_name='offered')),
                ('is_default', models.BooleanField(default=False, help_text='New conversations start with it.', verbose_name='is default')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('policy_name', models.CharField(default='sliding', max_length=200, verbose_name='window policy')),
                ('low_water_share', models.DecimalField(decimal_places=2, default=Decimal('0.7'), help_text='How much of its room a sliding window fills when it takes a step; 1 is a window that slides always.', max_digits=3, validators=[django.core.validators.MinValueValidator(Decimal('0.01')), django.core.validators.MaxValueValidator(1)], verbose_name='low water share')),
                ('last_messages', models.PositiveIntegerField(default=20, help_text='How many of the newest messages are sent, with the one just written.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='last messages')),
                ('cap_tokens', models.PositiveIntegerField(blank=True, help_text="Most tokens of a prompt; empty is the language model's own limit.", null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='cap tokens')),
                ('message_cap_tokens', models.PositiveIntegerField(blank=True, help_text='Most tokens of one message; empty is what fits.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='message cap tokens')),
                ('reply_reserve_tokens', models.PositiveIntegerField(blank=True, help_text="Tokens kept free for the reply, which can be no longer; empty is the language model's own.", null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='reply reserve tokens')),
                ('grounding_share', models.DecimalField(decimal_places=2, default=Decimal('0.5'), help_text='Largest part of the budget for grounding, 0 to 1.', max_digits=3, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)], verbose_name='grounding share')),
                ('skip_oversized', models.BooleanField(default=False, help_text='Go on with older messages when one is too large, instead of stopping there.', verbose_name='skip oversized')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='scenarios', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
            ],
            options={
                'verbose_name': 'scenario',
                'verbose_name_plural': 'scenarios',
                'ordering': ['name'],
            },
        ),
        migrations.AddField(
            model_name='document',
            name='scenario',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='conversations.scenario', verbose_name='scenario'),
        ),
        migrations.AddField(
            model_name='conversation',
            name='scenario',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to='conversations.scenario', verbose_name='scenario'),
        ),
        migrations.CreateModel(
            name='Spending',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('period', models.CharField(choices=[('day', 'Day'), ('month', 'Month')], max_length=5)),
                ('begins_on', models.DateField()),
                ('spent_usd', models.DecimalField(decimal_places=10, default=Decimal('0'), max_digits=30)),
                ('reserved_usd', models.DecimalField(decimal_places=10, default=Decimal('0'), max_digits=30)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='spendings', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Completion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(choices=[('reply', 'Reply'), ('tool_step', 'Tool step'), ('title', 'Title'), ('summary', 'Summary'), ('embedding', 'Embedding')], default='reply', max_length=10, verbose_name='purpose')),
                ('attempt', models.PositiveSmallIntegerField(default=1, verbose_name='attempt')),
                ('language_model', models.CharField(max_length=200, verbose_name='language model')),
                ('window', models.JSONField(null=True)),
                ('request', models.JSONField(default=dict)),
                ('messages_digest', models.CharField(blank=True, max_length=64)),
                ('estimated_input_tokens', models.PositiveIntegerField()),
                ('input_tokens', models.PositiveIntegerField(null=True)),
                ('cached_input_tokens', models.PositiveIntegerField(null=True)),
                ('cache_write_tokens', models.PositiveIntegerField(null=True)),
                ('output_tokens', models.PositiveIntegerField(null=True, verbose_name='output tokens')),
                ('reasoning_tokens', models.PositiveIntegerField(null=True)),
                ('usage_estimated', models.BooleanField(null=True, verbose_name='usage estimated')),
                ('input_price_usd', models.DecimalField(decimal_places=8, max_digits=16, null=True)),
                ('cached_input_price_usd', models.DecimalField(decimal_places=8, max_digits=16, null=True)),
                ('cache_write_price_usd', models.DecimalField(decimal_places=8, max_digits=16, null=True)),
                ('output_price_usd', models.DecimalField(decimal_places=8, max_digits=16, null=True)),
                ('price_source', models.CharField(blank=True, max_length=200)),
                ('price_list', models.JSONField(null=True)),
                ('cost_usd', models.DecimalField(decimal_places=10, max_digits=20, null=True, verbose_name='cost usd')),
                ('cost_without_history_usd', models.DecimalField(decimal_places=10, max_digits=20, null=True)),
                ('reserved_usd', models.DecimalField(decimal_places=10, max_digits=20, null=True)),
                ('time_to_first_token_seconds', models.FloatField(null=True)),
                ('duration_seconds', models.FloatField(null=True)),
                ('finish_reason', models.CharField(blank=True, max_length=50, verbose_name='finish reason')),
                ('error_code', models.CharField(blank=True, max_length=50, verbose_name='error code')),
                ('provider_request_id', models.CharField(blank=True, max_length=200, verbose_name='provider request id')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='created at')),
                ('ended_at', models.DateTimeField(null=True, verbose_name='ended at')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='completions', to=settings.AUTH_USER_MODEL, verbose_name='user')),
                ('conversation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='completions', to='conversations.conversation', verbose_name='conversation')),
                ('reply', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='completions', to='conversations.message', verbose_name='reply')),
                ('scenario', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='completions', to='conversations.scenario', verbose_name='scenario')),
                ('system_prompt', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='conversations.systemprompt')),
            ],
            options={
                'verbose_name': 'completion',
                'verbose_name_plural': 'completions',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='UploadCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('uploads', models.PositiveIntegerField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(condition=models.Q(('pinned', True)), fields=['conversation'], name='message_pins'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=django.contrib.postgres.indexes.GinIndex(condition=models.Q(('grounding', []), _negated=True), fields=['grounding'], name='message_grounding', opclasses=['jsonb_path_ops']),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('active', True)), fields=('conversation', 'position'), name='message_one_active_per_position'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(fields=('conversation', 'client_id'), name='message_client_id'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'streaming')), fields=('conversation',), name='message_one_streaming_reply'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'streaming'), _negated=True), ('role', 'assistant'), _connector='OR'), name='message_only_replies_stream'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('parent', None), ('position', 0)), models.Q(('parent__isnull', False), ('position__gt', 0)), _connector='OR'), name='message_root_is_at_position_0'),
        ),
        migrations.AddIndex(
            model_name='passage',
            index=django.contrib.postgres.indexes.GinIndex(fields=['search'], name='passage_search'),
        ),
        migrations.AddIndex(
            model_name='passage',
            index=models.Index(condition=models.Q(('embedding', None)), fields=['document', 'number'], name='passage_to_embed'),
        ),
        migrations.AddConstraint(
            model_name='passage',
            constraint=models.UniqueConstraint(fields=('document', 'number'), name='passage_number'),
        ),
        migrations.AddConstraint(
            model_name='price',
            constraint=models.UniqueConstraint(fields=('language_model', 'valid_from'), name='price_one_a_day'),
        ),
        migrations.AddConstraint(
            model_name='price',
            constraint=models.CheckConstraint(condition=models.Q(('input_usd__range', (0, 1000000)), ('output_usd__range', (0, 1000000)), models.Q(('cached_input_usd', None), ('cached_input_usd__range', (0, 1000000)), _connector='OR'), models.Q(('cache_write_usd', None), ('cache_write_usd__range', (0, 1000000)), _connector='OR')), name='price_in_range'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('state', 'waiting')), fields=['id'], name='run_waiting'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['created_at'], name='run_by_time'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('state', 'running')), fields=['lease_until'], name='run_running'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), _negated=True), ('lease_until__isnull', False), _connector='OR'), name='run_running_has_a_lease'),
        ),
        migrations.AddConstraint(
            model_name='scenario',
            constraint=models.UniqueConstraint(models.F('is_default'), condition=models.Q(('is_default', True)), name='scenario_one_default'),
        ),
        migrations.AddConstraint(
            model_name='scenario',
            constraint=models.CheckConstraint(condition=models.Q(('last_messages__gte', 1), models.Q(('cap_tokens', None), ('cap_tokens__gte', 1), _connector='OR'), models.Q(('message_cap_tokens', None), ('message_cap_tokens__gte', 1), _connector='OR'), models.Q(('reply_reserve_tokens', None), ('reply_reserve_tokens__gte', 1), _connector='OR')), name='scenario_limits_are_above_0'),
        ),
        migrations.AddConstraint(
            model_name='scenario',
            constraint=models.CheckConstraint(condition=models.Q(('grounding_share__gte', 0), ('grounding_share__lte', 1), ('low_water_share__gt', 0), ('low_water_share__lte', 1)), name='scenario_shares_are_parts'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'reading'])), fields=['id'], name='document_to_read'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('conversation', None), ('scenario__isnull', False)), models.Q(('conversation__isnull', False), ('scenario', None)), _connector='OR'), name='document_of_one_place'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(condition=models.Q(('conversation__isnull', False)), fields=('conversation', 'digest'), name='document_once_in_conversation'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(condition=models.Q(('scenario__isnull', False)), fields=('scenario', 'digest'), name='document_once_in_scenario'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'reading'), _negated=True), ('lease_until__isnull', False), _connector='OR'), name='document_reading_has_a_lease'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('deleted_at', None)), fields=['owner', '-last_active_at'], name='conversation_list'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('deleted_at', None), _negated=True), fields=['deleted_at'], name='conversation_to_sweep'),
        ),
        migrations.AddConstraint(
            model_name='spending',
            constraint=models.UniqueConstraint(fields=('user', 'period', 'begins_on'), name='spending_one_each', nulls_distinct=False),
        ),
        migrations.AddIndex(
            model_name='completion',
            index=models.Index(fields=['user', 'created_at'], name='completion_user_day'),
        ),
        migrations.AddIndex(
            model_name='completion',
            index=models.Index(fields=['created_at'], name='completion_day'),
        ),
        migrations.AddIndex(
            model_name='completion',
            index=models.Index(fields=['conversation', '-id'], name='completion_newest'),
        ),
        migrations.AddIndex(
            model_name='completion',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['id'], name='completion_open'),
        ),
        migrations.AddIndex(
            model_name='completion',
            index=models.Index(condition=models.Q(('error_code', ''), _negated=True), fields=['created_at'], include=('error_code',), name='completion_failed'),
        ),
        migrations.AddIndex(
            model_name='completion',
            index=models.Index(condition=models.Q(('usage_estimated', False)), fields=['language_model', '-id'], name='completion_reported'),
        ),
        migrations.AddConstraint(
            model_name='completion',
            constraint=models.CheckConstraint(condition=models.Q(('ended_at', None), models.Q(('input_tokens__isnull', False), ('output_tokens__isnull', False)), _connector='OR'), name='completion_settled_has_usage'),
        ),
        migrations.AddConstraint(
            model_name='completion',
            constraint=models.CheckConstraint(condition=models.Q(('cached_input_tokens', None), ('cached_input_tokens__lte', models.F('input_tokens')), _connector='OR'), name='completion_cached_is_part_of_input'),
        ),
        migrations.AddConstraint(
            model_name='completion',
            constraint=models.CheckConstraint(condition=models.Q(('cache_write_tokens', None), ('cache_write_tokens__lte', django.db.models.expressions.CombinedExpression(models.F('input_tokens'), '-', models.F('cached_input_tokens'))), _connector='OR'), name='completion_cache_write_is_part_of_input'),
        ),
        migrations.AddConstraint(
            model_name='uploadcount',
            constraint=models.UniqueConstraint(fields=('user', 'day'), name='upload_count_one_a_day'),
        ),
        migrations.CreateModel(
            name='Reading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('reviewer_email', models.EmailField(max_length=254, verbose_name='reviewer')),
                ('conversation_public_id', models.UUIDField(null=True)),
                ('reason', models.CharField(max_length=500, verbose_name='reason')),
                ('began_at', models.DateTimeField(auto_now_add=True, verbose_name='began at')),
                ('ends_at', models.DateTimeField(verbose_name='ends at')),
                ('conversation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='readings', to='conversations.conversation', verbose_name='conversation')),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
                ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='readings', to=settings.AUTH_USER_MODEL, verbose_name='reviewer')),
            ],
            options={
                'verbose_name': 'reading',
                'verbose_name_plural': 'readings',
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='ReadingStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('what', models.CharField(choices=[('thread', 'the thread'), ('message', 'a message'), ('prompt', 'a request as it was sent'), ('document', 'the name of a document'), ('search', 'hits of a search for words'), ('export', 'an export')], max_length=10)),
                ('detail', models.CharField(blank=True, max_length=200)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('reading', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='conversations.reading')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='LedgerSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('quarter', models.DateTimeField()),
                ('language_model', models.CharField(max_length=200)),
                ('purpose', models.CharField(choices=[('reply', 'Reply'), ('tool_step', 'Tool step'), ('title', 'Title'), ('summary', 'Summary'), ('embedding', 'Embedding')], max_length=10)),
                ('completions', models.PositiveIntegerField(default=0)),
                ('replies', models.PositiveIntegerField(default=0)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('stopped', models.PositiveIntegerField(default=0)),
                ('input_tokens', models.PositiveBigIntegerField(default=0)),
                ('cached_input_tokens', models.PositiveBigIntegerField(default=0)),
                ('cache_write_tokens', models.PositiveBigIntegerField(default=0)),
                ('output_tokens', models.PositiveBigIntegerField(default=0)),
                ('reasoning_tokens', models.PositiveBigIntegerField(default=0)),
                ('cost_usd', models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ('unknown_costs', models.PositiveIntegerField(default=0)),
                ('remembering_cost_usd', models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ('cost_without_history_usd', models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ('reported_input_tokens', models.PositiveBigIntegerField(default=0)),
                ('estimated_input_tokens', models.PositiveBigIntegerField(default=0)),
                ('estimate_error_tokens', models.PositiveBigIntegerField(default=0)),
                ('conversation', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='conversations.conversation')),
                ('scenario', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='conversations.scenario')),
                ('user', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'quarter'], name='ledger_sum_of_user')],
                'constraints': [models.UniqueConstraint(fields=('quarter', 'user', 'conversation', 'scenario', 'language_model', 'purpose'), name='ledger_sum_one_each', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='RolledUpSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('completions', models.PositiveIntegerField(default=0)),
                ('replies', models.PositiveIntegerField(default=0)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('stopped', models.PositiveIntegerField(default=0)),
                ('input_tokens', models.PositiveBigIntegerField(default=0)),
                ('cached_input_tokens', models.PositiveBigIntegerField(default=0)),
                ('cache_write_tokens', models.PositiveBigIntegerField(default=0)),
                ('output_tokens', models.PositiveBigIntegerField(default=0)),
                ('reasoning_tokens', models.PositiveBigIntegerField(default=0)),
                ('cost_usd', models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ('unknown_costs', models.PositiveIntegerField(default=0)),
                ('remembering_cost_usd', models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ('cost_without_history_usd', models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ('reported_input_tokens', models.PositiveBigIntegerField(default=0)),
                ('estimated_input_tokens', models.PositiveBigIntegerField(default=0)),
                ('estimate_error_tokens', models.PositiveBigIntegerField(default=0)),
                ('dimension', models.CharField(max_length=20)),
                ('begins_at', models.DateTimeField()),
                ('key_id', models.BigIntegerField(default=0)),
                ('key_name', models.CharField(default='', max_length=200)),
            ],
            options={
                'indexes': [models.Index(fields=['dimension', 'begins_at'], name='rolled_up_sum_in_time')],
                'constraints': [models.UniqueConstraint(fields=('dimension', 'key_id', 'key_name', 'begins_at'), name='rolled_up_sum_one_each')],
            },
        ),
        migrations.CreateModel(
            name='RunningSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('completions', models.PositiveIntegerField(default=0)),
                ('replies', models.PositiveIntegerField(default=0)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('stopped', models.PositiveIntegerField(default=0)),
                ('input_tokens', models.PositiveBigIntegerField(default=0)),
                ('cached_input_tokens', models.PositiveBigIntegerField(default=0)),
                ('cache_write_tokens', models.PositiveBigIntegerField(default=0)),
                ('output_tokens', models.PositiveBigIntegerField(default=0)),
                ('reasoning_tokens', models.PositiveBigIntegerField(default=0)),
                ('cost_usd', models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ('unknown_costs', models.PositiveIntegerField(default=0)),
                ('remembering_cost_usd', models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ('cost_without_history_usd', models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ('reported_input_tokens', models.PositiveBigIntegerField(default=0)),
                ('estimated_input_tokens', models.PositiveBigIntegerField(default=0)),
                ('estimate_error_tokens', models.PositiveBigIntegerField(default=0)),
                ('quarter', models.DateTimeField(unique=True)),
                ('users', models.PositiveIntegerField(default=0)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.AddIndex(
            model_name='reading',
            index=models.Index(fields=['reviewer', 'conversation', '-ends_at'], name='reading_that_holds'),
        ),
        migrations.AddIndex(
            model_name='reading',
            index=models.Index(fields=['owner', '-id'], name='reading_of_owner'),
        ),
        migrations.RunSQL(KEEP, reverse_sql=LET_GO),
    ]

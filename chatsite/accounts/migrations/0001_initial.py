import chatsite.accounts.models.gate
import chatsite.accounts.models.user
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import uuid
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models

from chatsite.postgres.append_only import make_append_only


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "email",
                    chatsite.accounts.models.user.LowercaseEmailField(
                        max_length=254, unique=True, verbose_name="email address"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        blank=True, help_text="How the page greets you.", max_length=150, verbose_name="name"
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("user", "user"), ("reviewer", "reviewer"), ("admin", "admin")],
                        default="user",
                        help_text="A user chats. A reviewer also sees everyone's usage and cost, and reads conversations with a reason. An admin also changes users and settings.",
                        max_length=8,
                        verbose_name="role",
                    ),
                ),
                (
                    "gate_rule",
                    models.CharField(
                        choices=[
                            ("site", 'site default'),
                            ("required", "always needs a password"),
                            ("waived", "never needs a password"),
                            ("blocked", 'always blocked'),
                        ],
                        default="site",
                        help_text='Whether the gate asks this user for a password. Admins are always admitted.',
                        max_length=8,
                        verbose_name="gate",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Inactive users can't sign in. Deactivate accounts instead of deleting them.",
                        verbose_name="active",
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True,
                        choices=chatsite.accounts.models.user.language_choices,
                        help_text="Leave empty for the browser's language.",
                        max_length=10,
                        verbose_name="language",
                    ),
                ),
                (
                    "shows_costs",
                    models.BooleanField(
                        default=True, help_text="Tokens and cost under each reply.", verbose_name="show costs"
                    ),
                ),
                (
                    "shows_costs_always",
                    models.BooleanField(
                        default=False,
                        help_text="Under all replies, not only the last one.",
                        verbose_name="show costs always",
                    ),
                ),
                ("about_me", models.TextField(blank=True, editable=False)),
                ("recalls_other_conversations", models.BooleanField(default=False, editable=False)),
                ("time_zone", models.CharField(blank=True, editable=False, max_length=64)),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("email"), name="user_email_unique_in_any_case"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("email", ""), _negated=True), name="user_email_is_not_empty"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", chatsite.accounts.models.user.Role)), name="user_role_is_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("gate_rule__in", chatsite.accounts.models.user.GateRule)),
                        name="user_gate_rule_is_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "session_key",
                    models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key"),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("began_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("address", models.GenericIPAddressField(null=True)),
                ("user_agent", models.CharField(blank=True, max_length=300)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
            },
        ),
        migrations.CreateModel(
            name="FirstAdminLink",
            fields=[
                ("singleton", models.BooleanField(default=True, primary_key=True, serialize=False)),
                ("token_hash", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("singleton", True)), name="first_admin_link_is_only_one")
                ],
            },
        ),
        migrations.CreateModel(
            name="Gate",
            fields=[
                ("singleton", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                (
                    "mode",
                    models.CharField(
                        choices=[
                            ("off", "off"),
                            ("shared", 'one password for everyone'),
                            ("personal", 'one password per user'),
                        ],
                        default="off",
                        max_length=8,
                    ),
                ),
                (
                    "seats",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text='Leave empty for no limit.',
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(1000000)],
                    ),
                ),
                (
                    "contact",
                    models.CharField(
                        blank=True,
                        help_text='Contact for the password, such as Ada, ada@example.org.',
                        max_length=200,
                    ),
                ),
            ],
            options={
                "verbose_name": "gate",
                "verbose_name_plural": "gate",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("singleton", True)), name="gate_is_only_one"),
                    models.CheckConstraint(
                        condition=models.Q(("mode__in", chatsite.accounts.models.gate.GateMode)),
                        name="gate_mode_is_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AttemptCount",
            fields=[
                ("tried_by", models.CharField(max_length=90, primary_key=True, serialize=False)),
                ("began_at", models.DateTimeField(db_index=True)),
                ("count", models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                (
                    "email",
                    chatsite.accounts.models.user.LowercaseEmailField(
                        blank=True, help_text='Leave empty for any address.', max_length=254, verbose_name="email address"
                    ),
                ),
                (
                    "note",
                    models.CharField(
                        blank=True, help_text='A note for admins: who it is for.', max_length=200, verbose_name="note"
                    ),
                ),
                ("expires_at", models.DateTimeField(verbose_name="expires at")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("used_at", models.DateTimeField(null=True, verbose_name="used at")),
                ("revoked_at", models.DateTimeField(null=True, verbose_name="revoked at")),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="created by",
                    ),
                ),
                (
                    "used_by",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="invitation",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="used by",
                    ),
                ),
            ],
            options={
                "verbose_name": "invitation",
                "verbose_name_plural": "invitations",
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("used_by", None), models.Q(("used_at", None), _negated=True), _connector="OR"
                        ),
                        name="invitation_used_by_has_its_day",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SiteBudget",
            fields=[
                ("singleton", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                (
                    "money_per_day_usd",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        max_digits=16,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                    ),
                ),
                (
                    "money_per_month_usd",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        max_digits=16,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                    ),
                ),
            ],
            options={
                "verbose_name": "site budget",
                "verbose_name_plural": "site budget",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("singleton", True)), name="site_budget_is_only_one"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("money_per_day_usd", None),
                            models.Q(("money_per_day_usd__gte", 0), ("money_per_day_usd__lt", 10000000000)),
                            _connector="OR",
                        ),
                        name="site_budget_day_is_an_amount",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("money_per_month_usd", None),
                            models.Q(("money_per_month_usd__gte", 0), ("money_per_month_usd__lt", 10000000000)),
                            _connector="OR",
                        ),
                        name="site_budget_month_is_an_amount",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GateEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.UUIDField()),
                ("unlocked_at", models.DateTimeField()),
                ("seated_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gate_entry",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("seated_at", None)), fields=["unlocked_at"], name="gate_entry_waiting"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GatePassword",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hash", models.CharField(max_length=128)),
                ("version", models.UUIDField(default=uuid.uuid4)),
                ("set_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gate_password",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "gate password",
                "constraints": [
                    models.UniqueConstraint(
                        models.Value(1), condition=models.Q(("user", None)), name="gate_password_for_all_is_only_one"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Limits",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        blank=True,
                        choices=[("user", "user"), ("reviewer", "reviewer"), ("admin", "admin")],
                        max_length=8,
                        null=True,
                        unique=True,
                        verbose_name="role",
                    ),
                ),
                (
                    "messages_per_minute",
                    models.PositiveIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(1000000000)],
                        verbose_name="messages per minute",
                    ),
                ),
                (
                    "replies_at_once",
                    models.PositiveIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(1000000000)],
                        verbose_name="replies at once",
                    ),
                ),
                (
                    "message_tokens",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The longest message, in tokens.",
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(1000000000)],
                        verbose_name="message tokens",
                    ),
                ),
                (
                    "uploads_per_day",
                    models.PositiveIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(1000000000)],
                        verbose_name="uploads per day",
                    ),
                ),
                (
                    "upload_kilobytes",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The largest file.",
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(1000000000)],
                        verbose_name="upload kilobytes",
                    ),
                ),
                (
                    "money_per_day_usd",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        max_digits=16,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                    ),
                ),
                (
                    "money_per_month_usd",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        max_digits=16,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="limits",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "limits",
                "verbose_name_plural": "limits",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("user", None), ("role", None), _connector="OR"),
                        name="limits_of_a_person_or_a_role",
                        violation_error_message='Limits belong to a user or a role, not both.',
                    ),
                    models.UniqueConstraint(
                        models.Value(1),
                        condition=models.Q(("role", None), ("user", None)),
                        name="limits_of_the_site_are_one_row",
                        violation_error_message="Everyone's limits already exist.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("money_per_day_usd", None),
                            models.Q(("money_per_day_usd__gte", 0), ("money_per_day_usd__lt", 10000000000)),
                            _connector="OR",
                        ),
                        name="limits_day_is_an_amount",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("money_per_month_usd", None),
                            models.Q(("money_per_month_usd__gte", 0), ("money_per_month_usd__lt", 10000000000)),
                            _connector="OR",
                        ),
                        name="limits_month_is_an_amount",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AccountChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "admin_email",
                    chatsite.accounts.models.user.LowercaseEmailField(max_length=254, verbose_name="admin"),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("address", "email address changed"),
                            ("role", "role changed"),
                            ("factors", "second factors removed"),
                            ("link", 'password reset link sent'),
                        ],
                        max_length=8,
                        verbose_name="change",
                    ),
                ),
                ("detail", models.CharField(blank=True, max_length=254)),
                ("at", models.DateTimeField(auto_now_add=True, verbose_name="at")),
                (
                    "admin",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="admin",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="changes",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "change to an account",
                "verbose_name_plural": "changes to accounts",
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["user", "-id"], name="change_of_account")],
            },
        ),
        migrations.CreateModel(
            name="CacheEntry",
            fields=[
                ("cache_key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
        ),
        make_append_only("accounts_accountchange", forgets=["user_id", "admin_id"], clears=["detail"]),
        migrations.CreateModel(
            name='SecurityEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True, db_index=True, verbose_name='at')),
                ('kind', models.CharField(choices=[('signed_in', 'signed in'), ('signed_out', 'signed out'), ('signed_up', 'signed up'), ('sign_up_refused', 'sign-up refused'), ('sign_in_failed', 'sign-in failed'), ('sign_in_limited', 'sign-in limited'), ('code_failed', 'second factor failed'), ('gate_entered', 'gate entered'), ('gate_failed', 'gate password wrong'), ('gate_limited', 'gate limited'), ('access_refused', 'access refused'), ('factor_added', 'second factor added'), ('factor_removed', 'second factor removed'), ('codes_renewed', 'recovery codes renewed'), ('password_changed', 'password changed'), ('password_reset', 'password reset'), ('email_changed', 'email address changed'), ('shared', 'conversation shared'), ('share_revoked', 'share revoked'), ('hold_placed', 'legal hold placed'), ('hold_lifted', 'legal hold lifted'), ('key_made', 'API key made'), ('key_revoked', 'API key revoked'), ('key_refused', 'API key refused'), ('webhook_set', 'webhook set or removed'), ('changed_by_admin', 'changed by an admin'), ('admin_action', 'admin action')], max_length=16, verbose_name='event')),
                ('network', models.CharField(blank=True, max_length=43, verbose_name='network')),
                ('about', models.CharField(blank=True, max_length=100, verbose_name='about')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='security_events', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'security event',
                'verbose_name_plural': 'security events',
                'ordering': ['-pk'],
            },
        ),
        make_append_only("accounts_securityevent", forgets=["user_id"], clears=["network"]),
    ]

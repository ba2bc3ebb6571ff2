"""Users, known by their email address, with their role and preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chatsite.names import NameField, clean_name


def language_choices() -> list[tuple[str, str]]:
    """Return the languages of the pages. A function, so that another language in the settings needs no migration."""
    return list(settings.LANGUAGES)


class Role(models.TextChoices):
    """Users chat; reviewers also read conversations in the admin; admins also change everything there."""

    USER = "user", _("user")
    REVIEWER = "reviewer", _("reviewer")
    ADMIN = "admin", _("admin")


class GateRule(models.TextChoices):
    """How the gate treats one user, whatever its mode."""

    SITE = "site", _("site default")
    REQUIRED = "required", _("always needs a password")
    WAIVED = "waived", _("never needs a password")
    BLOCKED = "blocked", _("always blocked")


def refuse_invisible_characters(address: str) -> None:
    """Validator: Django lets controls stand in the domain of an address, which turn around what is beside it."""
    if clean_name(address) != address:
        raise ValidationError(validate_email.message, code="invalid")


class LowercaseEmailInput(forms.EmailField):
    """An email address in a form, lowercased: another letter case counts as no change."""

    def to_python(self, value: Any) -> Any:
        value = super().to_python(value)
        return value.lower() if isinstance(value, str) else value


if TYPE_CHECKING:
    EmailField = models.EmailField[str | Combinable, str]
else:
    EmailField = models.EmailField


class LowercaseEmailField(EmailField):
    """An email address that is stored, looked up and compared in lower case."""

    default_validators = [*models.EmailField.default_validators, refuse_invisible_characters]

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"form_class": LowercaseEmailInput, **kwargs})

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return value.lower() if isinstance(value, str) else value

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = self.get_prep_value(super().pre_save(model_instance, add))
        setattr(model_instance, self.attname, value)
        return value


class UserManager(BaseUserManager["User"]):
    """Makes users that have no user name."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=email, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(email, password, **{"role": Role.ADMIN, **fields})

    def admins(self) -> models.QuerySet[User]:
        """Return the admins who are active and not blocked at the gate."""
        return self.filter(role=Role.ADMIN, is_active=True).exclude(gate_rule=GateRule.BLOCKED)


class User(AbstractBaseUser):
    """An account. Its role alone decides its rights: there are no groups."""

    email = LowercaseEmailField(_("email address"), unique=True)
    name = NameField(_("name"), max_length=150, blank=True, help_text=_("How the page greets you."))
    role = models.CharField(
        _("role"),
        max_length=8,
        choices=Role,
        default=Role.USER,
        help_text=_(
            "A user chats. A reviewer also sees everyone's usage and cost, and reads "
            "conversations with a reason. An admin also changes users and settings."
        ),
    )
    gate_rule = models.CharField(
        _("gate"),
        max_length=8,
        choices=GateRule,
        default=GateRule.SITE,
        help_text=_("Whether the gate asks this user for a password. Admins are always admitted."),
    )
    is_active = models.BooleanField(
        _("active"),
        default=True,
        help_text=_("Inactive users can't sign in. Deactivate accounts instead of deleting them."),
    )
    language = models.CharField(
        _("language"),
        max_length=10,
        choices=language_choices,
        blank=True,
        help_text=_("Leave empty for the browser's language."),
    )
    shows_costs = models.BooleanField(_("show costs"), default=True, help_text=_("Tokens and cost under each reply."))
    shows_costs_always = models.BooleanField(
        _("show costs always"), default=False, help_text=_("Under all replies, not only the last one.")
    )
    # Sent with each of the user's questions; what it may be is checked where it is saved.
    about_me = models.TextField(blank=True, editable=False)
    # Recall looks in the user's other conversations, too.
    recalls_other_conversations = models.BooleanField(default=False, editable=False)
    # An IANA name, as a page has last reported it, for what happens while the user looks at no page.
    time_zone = models.CharField(max_length=64, blank=True, editable=False)
    date_joined = models.DateTimeField(_("date joined"), default=timezone.now)

    EMAIL_FIELD = "email"
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = UserManager()

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        constraints = [
            # Two accounts for one address in different letter case would be two users to the ledger.
            models.UniqueConstraint(Lower("email"), name="user_email_unique_in_any_case"),
            models.CheckConstraint(condition=~models.Q(email=""), name="user_email_is_not_empty"),
            models.CheckConstraint(condition=models.Q(role__in=Role), name="user_role_is_known"),
            models.CheckConstraint(condition=models.Q(gate_rule__in=GateRule), name="user_gate_rule_is_known"),
        ]

    def __str__(self) -> str:
        return self.email

    @property
    def is_staff(self) -> bool:
        """Whether the user may enter the admin, as Django asks."""
        return self.role in (Role.REVIEWER, Role.ADMIN)

    @property
    def is_superuser(self) -> bool:
        return self.role == Role.ADMIN

    def has_perm(self, perm: str, obj: object = None) -> bool:
        """Return whether the role allows *perm* (`app.verb_model`), on any object."""
        if not self.is_active:
            return False
        return self.is_superuser or (self.role == Role.REVIEWER and perm in settings.REVIEWER_PERMISSIONS)

    def has_perms(self, perms: list[str], obj: object = None) -> bool:
        return all(self.has_perm(perm, obj) for perm in perms)

    def has_module_perms(self, app_label: str) -> bool:
        """Return whether the role allows anything in that app."""
        if self.role == Role.REVIEWER:
            return self.is_active and any(perm.startswith(f"{app_label}.") for perm in settings.REVIEWER_PERMISSIONS)
        return self.is_active and self.is_superuser

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name or self.email.partition("@")[0]

"""People, known by their email address, and the link that makes the first of them the admin."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import UserManager as DjangoUserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _


class LowercaseEmailField(models.EmailField):
    """An email address that is stored and looked up in lower case, whatever way it comes in."""

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return value.lower() if isinstance(value, str) else value

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        value = self.get_prep_value(super().pre_save(model_instance, add))
        setattr(model_instance, self.attname, value)
        return value


class UserManager(DjangoUserManager["User"]):
    """Makes users without a user name."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:  # type: ignore[override]
        user = self.model(email=email, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:  # type: ignore[override]
        return self.create_user(email, password, **{"is_staff": True, "is_superuser": True, **fields})

    def admins(self) -> models.QuerySet[User]:
        """Return those who may do everything, of those who may sign in."""
        return self.filter(is_superuser=True, is_active=True)


class User(AbstractUser):
    """A person with an account."""

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = LowercaseEmailField(_("email address"), unique=True)
    name = models.CharField(_("name"), max_length=150, blank=True, help_text=_("How the page greets you."))

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = UserManager()  # type: ignore[assignment]

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        constraints = [
            # Two accounts for one address in different letter case would be two people to the ledger.
            models.UniqueConstraint(Lower("email"), name="user_email_unique_in_any_case"),
            models.CheckConstraint(condition=~models.Q(email=""), name="user_email_is_not_empty"),
        ]

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name or self.email.partition("@")[0]


class FirstAdminLink(models.Model):
    """The link printed at start while the site has no admin: at most one row, locked while an admin is made."""

    only = models.BooleanField(primary_key=True, default=True)
    token_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(only=True), name="first_admin_link_is_only_one")]

    def __str__(self) -> str:
        return f"first admin link of {self.created_at:%Y-%m-%d %H:%M}"

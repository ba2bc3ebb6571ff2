"""People, known by their e-mail address."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import UserManager as DjangoUserManager
from django.db import models
from django.db.models.functions import Lower


class UserManager(DjangoUserManager["User"]):
    """Makes users without a user name."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:  # type: ignore[override]
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:  # type: ignore[override]
        return self.create_user(email, password, **{"is_staff": True, "is_superuser": True, **fields})


class User(AbstractUser):
    """A person with an account."""

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField("e-mail address", unique=True)
    name = models.CharField(max_length=150, blank=True, help_text="How the page greets you.")

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = UserManager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            # Two accounts for one address in different letter case would be two people to the ledger.
            models.UniqueConstraint(Lower("email"), name="user_email_unique_in_any_case"),
        ]

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name or self.email.partition("@")[0]

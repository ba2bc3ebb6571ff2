"""Password validator: no password that is much like the name or address of this site."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.password_validation import UserAttributeSimilarityValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from chatsite.accounts.models import User


class OwnWordsValidator:
    """Refuses what is as similar to a word of the site as Django's validator lets no password be to its user."""

    def __init__(self) -> None:
        self._similarity = UserAttributeSimilarityValidator(user_attributes=("name",))

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        for word in ("Windowseat", settings.SITE_NAME, urlsplit(settings.SITE_URL).hostname or ""):
            try:
                self._similarity.validate(password, User(name=word))
            except ValidationError:
                sentence = _("The password is too similar to the name or address of this site.")
                raise ValidationError(sentence, code="password_of_site") from None

    def get_help_text(self) -> str:
        return _("Your password can’t be similar to the name or address of this site.")

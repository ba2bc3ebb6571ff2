"""An account that was found by an address which an identity provider vouches for.

If the account has confirmed the address, both prove the same mailbox, and the person may come in. If it has not, it
may be somebody else's who wrote this address into the sign-up and now waits for its owner to arrive, with a password,
an identity or a changed address of theirs in it. The owner gets the account without any of that.
"""

from __future__ import annotations

from collections.abc import Iterable

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.db.models import F

from chatsite.accounts.models import User
from chatsite.accounts.second_factors.factors import has_second_factor


def may_link_by_email(user: User) -> bool:
    """Say whether an address alone may open the account: not what is worth more, where it was never confirmed."""
    return _is_confirmed(user) or not (user.is_staff or has_second_factor(user))


@transaction.atomic
def adopt(user: User) -> None:
    """Leave of *user*'s ways in only those that prove the address; a new password ends every session there is."""
    if _is_confirmed(user):
        return
    SocialAccount.objects.filter(user=user).delete()
    EmailAddress.objects.filter(user=user).delete()
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    user.set_unusable_password()
    user.save(update_fields=["password"])


def drop_unverified_claims(emails: Iterable[str]) -> None:
    """Let nobody else wait to change to an address that has just been proved to be somebody's."""
    EmailAddress.objects.filter(email__in=emails, verified=False).exclude(user__email=F("email")).delete()


def _is_confirmed(user: User) -> bool:
    return bool(EmailAddress.objects.filter(user=user, email=user.email, verified=True).exists())

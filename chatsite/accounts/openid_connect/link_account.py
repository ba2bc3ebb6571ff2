"""Link an existing account to an identity provider, by an email address that the provider has verified.

If the account has confirmed the address, both prove the same mailbox, and the user may sign in. If it has not, it may
be an attacker's, who signed up with this address and now waits for its owner to arrive, with a password, an identity or
a changed address of theirs in it. The owner gets the account without any of that.
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
    """Return whether the address alone may open the account: never confirmed, it opens no staff's or protected one."""
    return _is_confirmed(user) or not (user.is_staff or has_second_factor(user))


@transaction.atomic
def remove_unproved_sign_in_methods(user: User) -> None:
    """Remove sign-in methods that do not prove the address; a new password ends every session."""
    if _is_confirmed(user):
        return
    SocialAccount.objects.filter(user=user).delete()
    EmailAddress.objects.filter(user=user).delete()
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    user.set_unusable_password()
    user.save(update_fields=["password"])


def drop_unverified_claims(emails: Iterable[str]) -> None:
    """Delete the pending changes of other accounts to an address that has just been proved."""
    EmailAddress.objects.filter(email__in=emails, verified=False).exclude(user__email=F("email")).delete()


def _is_confirmed(user: User) -> bool:
    return bool(EmailAddress.objects.filter(user=user, email=user.email, verified=True).exists())

"""Sign-up policy: who may make an account, decided here for the form and for identity providers alike.

Code that makes an account asks `may_sign_up` first, and calls `complete_sign_up` in the transaction that makes it.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.utils.translation import gettext as _

from chatsite.accounts.models import Invitation, User
from chatsite.accounts.sign_up import first_admin, invitations
from chatsite.accounts.sign_up.domains import ascii_domain, email_domain
from chatsite.names import isolate_name


class SignUpRefused(Exception):
    """The invitation or the first admin's link that allowed the sign-up was used by someone else meanwhile."""


def may_sign_up(session: SessionBase, email: str) -> bool:
    """Return whether the user of *session* may make an account with the address *email*.

    That it is theirs is proved later, by an email, or has been already, by an identity provider that verified it.
    """
    return refusal_sentence(session, email) is None


def is_sign_up_open(session: SessionBase) -> bool:
    """Return whether the user of *session* may make an account with any address at all."""
    some_address_is_enough = settings.SIGN_UP in ("open", "domains")
    return some_address_is_enough or first_admin.holds_grant(session) or usable_invitation(session) is not None


def refusal_sentence(session: SessionBase, email: str) -> str | None:
    """Return why sign-up is refused, without revealing whether the address has an account; None if it is allowed."""
    if first_admin.holds_grant(session):
        return None
    invitation = usable_invitation(session)
    if invitation and not invitation.is_for(email):
        return _("This invitation is for %(email)s.") % {"email": isolate_name(invitation.email)}
    return None if invitation or settings.SIGN_UP == "open" or _is_at_our_domains(email) else policy_sentence()


def usable_invitation(session: SessionBase) -> Invitation | None:
    """Return the invitation that this session may use now."""
    held = None if settings.SIGN_UP == "closed" else invitations.held_invitation(session)
    return held if held and held.is_open else None


def complete_sign_up(session: SessionBase, user: User) -> bool:
    """Use up the first admin's link or the invitation; return whether it was the link, which makes *user* the admin.

    Raises `SignUpRefused`, and the account may not be made, if one was needed and is no longer valid.
    """
    if first_admin.GRANT in session and first_admin.make_first_admin(session, user):
        return True
    is_invited = invitations.GRANT in session and settings.SIGN_UP != "closed" and invitations.use(session, user)
    if not is_invited and not may_sign_up(session, user.email):
        raise SignUpRefused
    return False


def policy_sentence() -> str | None:
    """Return a sentence on who may make an account, for the sign-up page; None if anyone may."""
    if settings.SIGN_UP == "domains":
        return _("Only email addresses at %(domains)s can have an account.") % {
            "domains": _listed(settings.SIGN_UP_DOMAINS)
        }
    if settings.SIGN_UP == "invitation":
        return _("Accounts are by invitation only.")
    return None if settings.SIGN_UP == "open" else _("This site is not accepting new accounts.")


def _is_at_our_domains(email: str) -> bool:
    """Return whether the policy is by domain and the address is at one of them; a sub-domain is another."""
    domain = email_domain(email)
    return (
        settings.SIGN_UP == "domains" and domain is not None and domain in map(ascii_domain, settings.SIGN_UP_DOMAINS)
    )


def _listed(domains: Iterable[str]) -> str:
    *others, last = domains
    return _("%(others)s or %(last)s") % {"others": ", ".join(others), "last": last} if others else last

"""Invitations: made and revoked by admins, opened with their link, used up by one account.

What an invitation allows is decided in `chatsite.accounts.sign_up.sign_up_policy`.
"""

from __future__ import annotations

import datetime as dt
import logging

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chatsite.accounts.models import Invitation, User
from chatsite.accounts.sign_up.one_time_links import build_link, hash_token, make_token

GRANT = "invitation_grant"
USUAL_DAYS, MOST_DAYS = 7, 90

log = logging.getLogger(__name__)


class InvitationNotOpen(Exception):
    """The invitation was used or revoked already."""


def invite(invitation: Invitation, *, days: int) -> str:
    """Store an invitation that is new or not used yet, and return its link, which can't be shown again.

    An earlier link stops working. Raises `InvitationNotOpen` if the invitation was used or revoked meanwhile.
    """
    token = make_token()
    fresh = {"token_hash": hash_token(token), "expires_at": timezone.now() + dt.timedelta(days=days)}
    if invitation.pk is None:
        for name, value in fresh.items():
            setattr(invitation, name, value)
        invitation.save()
    elif not _still_to_be_used(invitation).update(**fresh):
        raise InvitationNotOpen
    return build_link("invitation", token)


def revoke(invitation: Invitation) -> bool:
    """Return whether there was something to revoke: an account that was made already stays."""
    return bool(_still_to_be_used(invitation).update(revoked_at=timezone.now()))


def send(invitation: Invitation, link: str, *, days: int) -> bool:
    """Email the link to the invited address; return whether the mail server accepted it."""
    context = {"link": link, "days": days, "site_name": settings.SITE_NAME}
    try:
        get_adapter().render_mail("account/email/invitation", invitation.email, context).send()
    except OSError:  # which smtplib's errors are
        log.exception("An invitation could not be sent.")
        return False
    return True


def find_by_token(token: str) -> Invitation | None:
    return Invitation.objects.filter(token_hash=hash_token(token)).first()


def hold_invitation(session: SessionBase, invitation: Invitation) -> None:
    """Store in the session that its user came by the link."""
    session[GRANT] = invitation.token_hash


def drop_invitation(session: SessionBase) -> None:
    session.pop(GRANT, None)


def held_invitation(session: SessionBase) -> Invitation | None:
    """Return the invitation by whose link this session came, in whatever state it is now."""
    if GRANT not in session:
        return None
    return Invitation.objects.filter(token_hash=session[GRANT]).first()


@transaction.atomic
def use(session: SessionBase, user: User) -> bool:
    """Use the session's invitation up for *user*, whose account this transaction makes.

    Return whether it could be used: of two with the same invitation the second waits here, and finds it used.
    """
    held = Invitation.objects.select_for_update().filter(token_hash=session[GRANT]).first()
    if held is None or not held.is_open or not held.is_for(user.email):
        return False
    held.used_at, held.used_by = timezone.now(), user
    held.save(update_fields=["used_at", "used_by"])
    drop_invitation(session)
    return True


def _still_to_be_used(invitation: Invitation) -> QuerySet[Invitation]:
    return Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None)

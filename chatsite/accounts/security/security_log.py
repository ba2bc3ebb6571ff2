"""Security log (ASVS 5, V16): each event is one line of the logger `security`, and one row of `SecurityEvent`.

Neither holds words, passwords, keys or what was typed; lines have ids of users. What a visitor can cause without limit
is recorded `MOST_FROM_NETWORK` times for each kind and network.
"""

from __future__ import annotations

import datetime as dt
import logging

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models.functions import Now
from django.http import HttpRequest

from chatsite.accounts.attempts import Limit, TooManyAttempts, count_attempt, hashed_key, network_of
from chatsite.accounts.models import SecurityEvent, SecurityEventKind, User
from chatsite.postgres.append_only import MAY_CHANGE

MOST_FROM_NETWORK = Limit(30, dt.timedelta(minutes=1))
WITHOUT_LIMIT = frozenset(
    {
        SecurityEventKind.ADMIN_ACTION,
        SecurityEventKind.CHANGED_BY_ADMIN,
        SecurityEventKind.HOLD_PLACED,
        SecurityEventKind.HOLD_LIFTED,
    }
)
FURTHER_LEFT_OUT = "further ones of this minute are left out"
ABOUT_CHARACTERS = 100
security = logging.getLogger("security")
log = logging.getLogger(__name__)


def record_security_event(
    kind: SecurityEventKind, *, user: User | None = None, address: str = "", about: str = ""
) -> None:
    """Write the event down. A failure of the database is logged and breaks nothing else."""
    network = network_of(address)
    user_id = user.pk if user else None
    try:
        with transaction.atomic():
            if kind not in WITHOUT_LIMIT:
                try:
                    count_attempt(hashed_key("event", kind, network), MOST_FROM_NETWORK)
                except TooManyAttempts as refusal:
                    if not refusal.is_first:
                        return
                    user_id, about = None, FURTHER_LEFT_OUT
            stored = {"user_id": user_id, "network": network}
            if user_id and not User.objects.filter(pk=user_id).exists():  # signed out after deleting the account
                stored = {}
            SecurityEvent.objects.create(kind=kind, about=about[:ABOUT_CHARACTERS], **stored)
    except DatabaseError:
        log.exception("a security event could not be stored")
    security.info(kind.value, extra={"kind": kind.value, "user_id": user_id, "address": network, "about": about})


def record_request_event(
    kind: SecurityEventKind, request: HttpRequest, *, user: User | None = None, about: str = ""
) -> None:
    """Write the event of *request* down, about *user* or else the user who is signed in."""
    if user is None and getattr(request, "user", None) is not None and request.user.is_authenticated:
        user = request.user
    record_security_event(kind, user=user, address=request.META.get("REMOTE_ADDR", ""), about=about)


def forget_security_events(user: User) -> None:
    """Take a person whose account is deleted out of the events."""
    SecurityEvent.objects.filter(user=user).update(user=None, network="")


def sweep_security_events() -> int:
    """Delete the events older than `SECURITY_LOG_DAYS`; return how many."""
    old = SecurityEvent.objects.filter(at__lt=Now() - dt.timedelta(days=settings.SECURITY_LOG_DAYS))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT set_config('{MAY_CHANGE}', 'on', TRUE)")
        deleted = old.delete()[0]
        cursor.execute(f"SELECT set_config('{MAY_CHANGE}', '', TRUE)")
    return deleted

"""Make, find, check and revoke API keys.

    wsk_PUBLIC_SECRET     the public part finds the row; of the secret only the SHA-256 is stored, and compared in
                          constant time

A key that was never made is compared with a digest, too, and every wrong key gets the same answer: what is told, and
how long it takes, say nothing of which keys there are.
"""

from __future__ import annotations

import datetime as dt
import hmac
import re
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.accounts.sign_up.one_time_links import hash_token
from chatsite.postgres.compiled_query import CompiledQuery
from conversations.access import lock_admitted, require_admitted
from conversations.core.errors import ApiKeyInvalid, ApiKeyNotFound, ApiOff, ApiScopeMissing, TooManyApiKeys
from conversations.models import ApiKey, ApiScope, Message, Scenario
from conversations.models.message import MessageState
from conversations.models.revocable import is_open_now, open_now_sql
from conversations.services.replies.stop_reply import stop_reply

PUBLIC_CHARACTERS = 12
SECRET_BYTES = 32
MOST_KEYS = 50  # of one user, those that are over or revoked not among them
MOST_LISTED = 100
TEXT = re.compile(r"wsk_([0-9a-z]{12})_([A-Za-z0-9_-]{43})")
BEGINNING = re.compile(r"wsk_([0-9a-z]{12})(?![0-9a-z])")
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
NO_SECRET = hash_token("")  # what the secret of a key that was never made is compared with
SEEN_AGAIN = dt.timedelta(minutes=1)
BY_PUBLIC_PART = CompiledQuery(
    ApiKey.objects.select_related("owner", "scenario"),
    f"WHERE conversations_apikey.public_part = %s AND {open_now_sql('conversations_apikey')}",
)


@dataclass(frozen=True, slots=True)
class KeyBounds:
    """What a key may do and use, and how much of it. None and empty are no bound of its own."""

    scopes: Sequence[str] = (ApiScope.CHAT,)
    scenario: Scenario | None = None
    language_models: Sequence[str] = ()
    requests_per_minute: int | None = None
    money_per_day_usd: Decimal | None = None
    money_per_month_usd: Decimal | None = None
    ends_at: dt.datetime | None = None


class MadeKey(NamedTuple):
    """A key, and its text, which can't be shown again."""

    key: ApiKey
    text: str


def make_key(user: User, *, name: str, bounds: KeyBounds = KeyBounds()) -> MadeKey:
    """Store a new key of *user*. Raises `ApiOff`, `TooManyApiKeys`, or as `require_admitted` does."""
    if not settings.API:
        raise ApiOff
    public_part = "".join(secrets.choice(ALPHABET) for _ in range(PUBLIC_CHARACTERS))
    secret = secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic():
        lock_admitted(user)
        if ApiKey.objects.filter(is_open_now(), owner=user).count() >= MOST_KEYS:
            raise TooManyApiKeys(most=MOST_KEYS)
        key = ApiKey.objects.create(
            owner=user,
            name=name,
            public_part=public_part,
            secret_digest=hash_token(secret),
            scopes=list(bounds.scopes),
            scenario=bounds.scenario,
            is_bound=bounds.scenario is not None,
            language_models=list(bounds.language_models),
            requests_per_minute=bounds.requests_per_minute,
            money_per_day_usd=bounds.money_per_day_usd,
            money_per_month_usd=bounds.money_per_month_usd,
            ends_at=bounds.ends_at,
        )
    return MadeKey(key, f"wsk_{public_part}_{secret}")


def authenticate(text: str) -> ApiKey:
    """Return the key with that text, its owner with it. Raises `ApiKeyInvalid`, and a `GateClosed` where that is so."""
    parts = TEXT.fullmatch(text)
    public_part, secret = parts.groups() if parts else ("", "")
    key = BY_PUBLIC_PART.first(public_part)
    is_right = hmac.compare_digest(hash_token(secret), key.secret_digest if key else NO_SECRET)
    if key is None or not is_right or not key.owner.is_active:
        raise ApiKeyInvalid
    require_admitted(key.owner)
    return key


def require_scope(key: ApiKey, *scopes: ApiScope) -> None:
    """Raise `ApiScopeMissing` unless *key* has one of *scopes*."""
    if not set(scopes) & set(key.scopes):
        raise ApiScopeMissing(scope=scopes[0].value)


def note_use(key: ApiKey) -> None:
    """Store that *key*, which has just been read, is used now: at most once a minute."""
    if key.last_used_at and timezone.now() - key.last_used_at < SEEN_AGAIN:
        return
    outdated = Q(last_used_at=None) | Q(last_used_at__lt=Now() - SEEN_AGAIN)
    ApiKey.objects.filter(outdated, pk=key.pk).update(last_used_at=Now())


def list_keys(user: User) -> list[ApiKey]:
    """Return the keys of *user*, the newest first, those that are over or revoked among them."""
    return list(ApiKey.objects.filter(owner=user).select_related("scenario")[:MOST_LISTED])


def read_public_part(text: str) -> str | None:
    """Return the public part of a key, from its text or the beginning of it; None for other text."""
    found = BEGINNING.match(text.strip())
    return found[1] if found else None


def find_key(user: User, public_id: uuid.UUID) -> ApiKey:
    """Return a key of *user*. Raises `ApiKeyNotFound` also if it is someone else's."""
    if (found := ApiKey.objects.filter(owner=user, public_id=public_id).first()) is None:
        raise ApiKeyNotFound
    return found


def revoke_key(key: ApiKey) -> None:
    """End *key* at once: what runs for it is stopped within seconds, also a reply that its client no longer reads."""
    ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=Now())
    running = Message.objects.filter(run__api_key=key, state=MessageState.STREAMING).select_related("conversation")
    for reply in running:
        stop_reply(conversation=reply.conversation, reply_id=reply.pk)

"""Requests that may be sent again (idempotency): each is billed once, and the same one joins its answer.

    join_first_request ─▶ none ─▶ store_once, in the transaction that opens the bill ─▶ keep_answer, until it has ended
                       └▶ the first ─▶ read_answer, from any process, until it has ended

PostgreSQL decides: with an `Idempotency-Key` by a unique index, without one by a lock on what is asked for. A row is
there if and only if there may be a bill, so a process that dies before it leaves nothing to join, and one that dies
afterwards leaves an answer that was interrupted.

Requests without a key are told apart by how often their client sent them: the retry with number n goes on where one
with a smaller number was. So of programs that ask the same five times at once, each retry joins an answer of its own.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret_or_none, encrypt_secret
from chatsite.postgres.faults import seconds_since_fault
from conversations.core.api.idempotency import IdempotencyMarks
from conversations.core.errors import AnswerNotKept, IdempotencyKeyReused
from conversations.models import ApiKey, IdempotentRequest

KEY_VALID = dt.timedelta(hours=24)  # in which a request with the same key is the same request
ANSWER_KEPT = dt.timedelta(minutes=10)  # after its end, for a request with a key
RETRY_KEPT = dt.timedelta(minutes=1)  # the same without one: the openai package retries within 10 seconds
WANTED_SECONDS = 12.0  # that an answer is made for a client that has gone away, or for readers that say no more
HOLDER_LIVES_SECONDS = 10.0  # without a heartbeat
FAULT_SECONDS = 8.0  # after the database was away, in which heartbeats may be late

# Two retries of two requests find one each.
ONE_AFTER_THE_OTHER = "SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))"
FIND_BY_BODY = """
SELECT id FROM conversations_idempotentrequest AS request
WHERE api_key_id = %s AND body_digest = %s AND idempotency_key = '' AND retry_number < %s
  AND coalesce(
    ended_at, (SELECT run.ended_at FROM conversations_run AS run WHERE run.reply_id = request.reply_id), 'infinity'
  ) > statement_timestamp() - make_interval(secs => %s)
ORDER BY client_has_gone DESC, retry_number DESC, created_at DESC LIMIT 1
"""
JOIN = """
UPDATE conversations_idempotentrequest
SET is_joined = true, retry_number = greatest(retry_number, %s),
    wanted_until = statement_timestamp() + make_interval(secs => %s)
WHERE id = %s
"""
READ = """
SELECT answer, window_id, ended_at IS NOT NULL, EXISTS (
  SELECT FROM conversations_apiheartbeat WHERE name = holder
  AND seen_at > statement_timestamp() - make_interval(secs => %s))
FROM conversations_idempotentrequest WHERE id = %s
"""
WANT = """
UPDATE conversations_idempotentrequest SET wanted_until = statement_timestamp() + make_interval(secs => %s)
WHERE id = %s AND ended_at IS NULL
"""
TAKE_BACK = """
DELETE FROM conversations_idempotentrequest
WHERE id = %s AND idempotency_key = '' AND (wanted_until IS NULL OR wanted_until < statement_timestamp())
"""


class RequestSentAgain(Exception):
    """The same request was stored before, as *first*."""

    def __init__(self, first: IdempotentRequest) -> None:
        self.first = first
        super().__init__()


@dataclass(slots=True)
class Idempotency:
    """What a request is known by when it is sent again; *client_has_gone* is set once its client is away."""

    key: ApiKey
    marks: IdempotencyMarks
    asked_for: bytes = field(repr=False)
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    client_has_gone: bool = False

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.asked_for).hexdigest()


def join_first_request(request: Idempotency) -> IdempotentRequest | None:
    """Return the same request that was stored before, joined by this one; None where there is none.

    Raises `IdempotencyKeyReused`, or `AnswerNotKept`.
    """
    marks = request.marks
    if not marks.may_have_come_before:
        return None
    with transaction.atomic():
        first = _find_by_key(request) if marks.idempotency_key else _find_by_body(request)
        if first is not None:
            with connection.cursor() as cursor:
                cursor.execute(JOIN, [marks.retry_number or 0, WANTED_SECONDS, first.pk])
    return first


def store_once(
    request: Idempotency, *, reply_id: int | None = None, holder: str = "", window_id: uuid.UUID | None = None
) -> None:
    """Store *request* in the transaction that opens its bill. Raises `RequestSentAgain` if the same one is stored.

    The key has to be locked: another request of it waits, and finds this one.
    """
    if (first := join_first_request(request)) is not None:
        raise RequestSentAgain(first)
    marks = request.marks
    IdempotentRequest.objects.create(
        pk=request.id,
        api_key=request.key,
        idempotency_key=marks.idempotency_key,
        body_digest=request.digest,
        retry_number=marks.retry_number or 0,
        reply_id=reply_id,
        holder=holder,
        window_id=window_id,
    )


def note_next_attempt(request: Idempotency, window_id: uuid.UUID) -> None:
    """Store the record of the window of another attempt at the provider."""
    IdempotentRequest.objects.filter(pk=request.id).update(window_id=window_id)


def _find_by_key(request: Idempotency) -> IdempotentRequest | None:
    named = IdempotentRequest.objects.filter(api_key=request.key, idempotency_key=request.marks.idempotency_key)
    named.filter(created_at__lt=Now() - KEY_VALID).delete()
    if (first := named.first()) is None:
        return None
    if first.body_digest != request.digest:
        raise IdempotencyKeyReused
    if first.ended_at and not first.answer:
        raise AnswerNotKept
    return first


def _find_by_body(request: Idempotency) -> IdempotentRequest | None:
    key_id, digest, number = request.key.pk, request.digest, request.marks.retry_number or 0
    with connection.cursor() as cursor:
        cursor.execute(ONE_AFTER_THE_OTHER, [digest, key_id])
        cursor.execute(FIND_BY_BODY, [key_id, digest, number, RETRY_KEPT.total_seconds()])
        row = cursor.fetchone()
    return IdempotentRequest.objects.get(pk=row[0]) if row else None


# The answer


@dataclass(frozen=True, slots=True)
class AnswerSoFar:
    """An answer as far as it is kept: *said*, as `keep_answer` was given it; whether it has ended or is still made."""

    said: dict[str, Any]
    window_id: uuid.UUID | None
    has_ended: bool
    is_made: bool


def keep_answer(request: Idempotency, said: dict[str, Any], *, has_ended: bool = False) -> None:
    """Store what has been said so far, for those that have joined."""
    sealed = encrypt_secret(json.dumps(said), bound_to=request.asked_for)
    ended = {"ended_at": Now()} if has_ended else {}
    IdempotentRequest.objects.filter(pk=request.id, ended_at=None).update(answer=sealed, **ended)


def let_go(request: Idempotency, said: dict[str, Any]) -> None:
    """Let the same request be asked again, as after an error that cost nothing. Those that have joined read *said*."""
    keep_answer(request, said, has_ended=True)
    IdempotentRequest.objects.filter(pk=request.id).update(idempotency_key="", body_digest="")


def read_answer(first_id: uuid.UUID, asked_for: bytes) -> AnswerSoFar | None:
    """Return what there is of the answer; None once it is gone."""
    with connection.cursor() as cursor:
        cursor.execute(READ, [HOLDER_LIVES_SECONDS, first_id])
        if (row := cursor.fetchone()) is None:
            return None
    answer, window_id, has_ended, lives = row
    plain = decrypt_secret_or_none(answer, bound_to=asked_for) if answer else None
    is_made = lives or seconds_since_fault() < FAULT_SECONDS
    return AnswerSoFar(json.loads(plain) if plain else {}, window_id, has_ended, is_made)


def want_answer(first_id: uuid.UUID) -> None:
    """Say that someone reads it, for the next seconds."""
    with connection.cursor() as cursor:
        cursor.execute(WANT, [WANTED_SECONDS, first_id])


def note_client_gone(request: Idempotency) -> None:
    """Store that the client has gone away: its retry goes on with this one before all others."""
    IdempotentRequest.objects.filter(pk=request.id).update(client_has_gone=True)
    want_answer(request.id)


def take_back(request: Idempotency) -> bool:
    """Forget a request whose client has gone and did not send it again in time; return whether it did not.

    From then on the same one is asked again. One with an `Idempotency-Key` is never taken back.
    """
    with connection.cursor() as cursor:
        cursor.execute(TAKE_BACK, [request.id])
        return bool(cursor.rowcount)


def forget_request(request: Idempotency) -> None:
    """Forget a request that its client will not send again: it reads the answer, and no one else does."""
    IdempotentRequest.objects.filter(pk=request.id, idempotency_key="", is_joined=False).delete()


def sweep_idempotent_requests() -> None:
    """Delete answers that are kept no longer, and requests that are not joined any more."""
    over = Q(ended_at__lt=Now() - RETRY_KEPT, idempotency_key="")
    of_dead_or_replies = Q(created_at__lt=Now() - KEY_VALID)
    IdempotentRequest.objects.filter(over | of_dead_or_replies).delete()
    IdempotentRequest.objects.filter(ended_at__lt=Now() - ANSWER_KEPT).exclude(answer="").update(answer="")

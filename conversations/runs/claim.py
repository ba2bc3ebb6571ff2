"""Claim waiting runs, and keep them by a lease. The database's clock counts, not a worker's."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from django.db import connection

from chatsite.accounts.gate.admission import FACTS_OF_OWNER_COLUMN, Admission, decide_admission_of_row, find_admissions
from conversations.core.frames.definitions import ReplyStarted
from conversations.live.fanout import publish_frame, publish_writing
from conversations.models.worker_heartbeat import HEARTBEAT_VALID
from conversations.services.replies.end_reply import SHUT_OUT, end_reply
from conversations.services.replies.reasoning import Reasoning

LEASE = dt.timedelta(seconds=10)

OVERDUE_SECONDS = 1.0  # four times as long as a worker takes that asks again because runs are left
MOST_OVERDUE = 5  # claimed at once above the share

# One statement, because every worker asks often, and each reply waits for it. Its first column is how many were
# waiting, also where none is claimed; its last ones are the facts that the owner's admission depends on.
# Locked rows are being claimed by another worker. Each state is looked for by its own index: asked for both at once
# PostgreSQL reads every run that ever was.
# A worker takes no more than its equal share of all runs, waiting and running, while others may be idle. What has
# waited for longer it takes nevertheless: the others are full, or dead and not known to be.
CLAIM = f"""
WITH load AS (
  SELECT count(*) AS runs,
         count(*) FILTER (WHERE state = 'waiting') AS waiting,
         count(*) FILTER (WHERE state = 'running' AND worker = %(worker)s) AS held,
         count(*) FILTER (WHERE state = 'waiting'
           AND waiting_since < statement_timestamp() - make_interval(secs => %(overdue_seconds)s)) AS overdue,
         (SELECT 1 + count(*) FROM conversations_workerheartbeat WHERE name <> %(worker)s
          AND seen_at > statement_timestamp() - make_interval(secs => %(heartbeat_seconds)s)) AS workers
  FROM (
    SELECT state, worker, waiting_since FROM conversations_run WHERE state = 'waiting'
    UNION ALL
    SELECT state, worker, waiting_since FROM conversations_run WHERE state = 'running'
  ) AS live
), waiting AS (
  SELECT id FROM conversations_run WHERE state = 'waiting' ORDER BY id
  LIMIT (SELECT least(%(limit)s, greatest((runs + workers - 1) / workers - held, least(overdue, %(most_overdue)s)))
         FROM load)
  FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE conversations_run AS run
  SET state = 'running', worker = %(worker)s, attempt = attempt + 1, started_at = statement_timestamp(),
      lease_until = statement_timestamp() + make_interval(secs => %(lease_seconds)s)
  FROM waiting, conversations_message AS reply, conversations_conversation AS conversation
  WHERE run.id = waiting.id AND reply.id = run.reply_id AND conversation.id = reply.conversation_id
  RETURNING run.id, reply.id AS reply_id, reply.position, conversation.public_id, conversation.owner_id, run.attempt,
    left(reply.content, run.text_before), left(reply.reasoning, run.reasoning_before),
    CASE WHEN run.text_before > 0 THEN reply.reasoning_seconds END AS seconds,
    CASE WHEN run.text_before > 0 AND NOT reply.reasoning_tokens_estimated THEN reply.reasoning_tokens END AS tokens
)
SELECT load.waiting, claimed.*, admission.*
FROM load LEFT JOIN claimed ON true
LEFT JOIN LATERAL {FACTS_OF_OWNER_COLUMN.format("claimed.owner_id")} AS admission ON true
"""  # noqa: S608  # nothing in it comes from outside


# These two are asked for every moment while replies are made: Django would write them each time.
RENEW = """
UPDATE conversations_run SET lease_until = statement_timestamp() + make_interval(secs => %(lease_seconds)s)
WHERE id = ANY(%(ids)s) AND worker = %(worker)s AND state = 'running'
RETURNING id
"""
STOPS = "SELECT id FROM conversations_run WHERE id = ANY(%(ids)s) AND stop_requested_at IS NOT NULL"

CLAIM_TIMES = {
    "lease_seconds": LEASE.total_seconds(),
    "heartbeat_seconds": HEARTBEAT_VALID.total_seconds(),
    "overdue_seconds": OVERDUE_SECONDS,
    "most_overdue": MOST_OVERDUE,
}


@dataclass(frozen=True, slots=True, order=True)
class ClaimedRun:
    """A run that this worker holds. Of a reply that is continued, *text* and *reasoning* are what it had before."""

    id: int
    reply_id: int
    position: int
    conversation: uuid.UUID
    owner_id: int
    attempt: int
    text: str = ""
    reasoning_text: str = ""
    reasoning_seconds: float | None = None
    reasoning_tokens: int | None = None

    @property
    def reasoning(self) -> Reasoning:
        return Reasoning(self.reasoning_text, self.reasoning_seconds or 0.0, self.reasoning_tokens)


COLUMNS = 1 + len(fields(ClaimedRun))  # of a claim, before those of the owner's admission


class Claimed(NamedTuple):
    """The *runs* that a worker has claimed, and how many were *left* waiting: held by others, or above its share."""

    runs: list[ClaimedRun]
    left: int


def claim_runs(worker: str, *, limit: int) -> Claimed:
    """Claim up to *limit* waiting runs, oldest first, and no more than the worker's share while others are alive.

    Several workers may ask at once; none gets another's.

    Replies of users who have lost admission meanwhile end here, before any request to a provider.
    """
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {**CLAIM_TIMES, "worker": worker, "limit": limit})
        rows = cursor.fetchall()
    claimed = sorted(ClaimedRun(*row[1:COLUMNS]) for row in rows if row[1] is not None)
    admissions = {row[1]: decide_admission_of_row(*row[COLUMNS:]) for row in rows}
    shut_out = {run.id for run in claimed if admissions[run.id] is not Admission.ADMITTED}
    for run in claimed:
        if run.id in shut_out:
            end_reply(run.reply_id, SHUT_OUT)
        else:
            publish_frame(ReplyStarted(run.conversation, run.reply_id, run.position), run.conversation)
            publish_writing(run.conversation, run.owner_id, writing=True)
    return Claimed([run for run in claimed if run.id not in shut_out], left=rows[0][0] - len(claimed))


def runs_of_shut_out(runs: Collection[ClaimedRun]) -> set[int]:
    """Return the ids of those of *runs* whose owners are not, or no longer, admitted. One statement."""
    admissions = find_admissions({run.owner_id for run in runs})
    return {run.id for run in runs if admissions[run.owner_id] is not Admission.ADMITTED}


def renew_leases(worker: str, run_ids: Collection[int]) -> set[int]:
    """Renew the leases of the worker's runs. Returns those that are no longer its own."""
    if not run_ids:
        return set()
    return set(run_ids) - _ids_by(
        RENEW, {"lease_seconds": LEASE.total_seconds(), "worker": worker, "ids": list(run_ids)}
    )


def stop_requests(run_ids: Collection[int]) -> set[int]:
    """Return those of *run_ids* for which a stop has been requested."""
    if not run_ids:
        return set()
    return _ids_by(STOPS, {"ids": list(run_ids)})


def _ids_by(sql: str, arguments: Mapping[str, Any]) -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        return {run_id for (run_id,) in cursor.fetchall()}

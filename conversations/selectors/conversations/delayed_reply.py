"""Whether a reply waits although no worker is alive, so that its page can say so."""

from __future__ import annotations

from django.db import connection

from conversations.models.worker_heartbeat import HEARTBEAT_VALID

DELAYED_AFTER_SECONDS = 2.0  # a worker that is just starting needs as long
WAITS = """
SELECT EXISTS (SELECT FROM conversations_run WHERE reply_id = %s AND state = 'waiting'
               AND waiting_since < statement_timestamp() - make_interval(secs => %s))
   AND NOT EXISTS (SELECT FROM conversations_workerheartbeat
                   WHERE seen_at > statement_timestamp() - make_interval(secs => %s))
"""


def waits_without_worker(reply_id: int) -> bool:
    """Tell whether the reply waits to be made, and there is no worker alive that would make it."""
    with connection.cursor() as cursor:
        cursor.execute(WAITS, [reply_id, DELAYED_AFTER_SECONDS, HEARTBEAT_VALID.total_seconds()])
        return bool(cursor.fetchone()[0])

"""Anonymize the ledger: deleting a user, a conversation or a scenario leaves its amounts, which then name none.

A deletion first takes what is deleted out of the ledger's rows, and at its end out of the ledger's sums. Settling locks
the row of the ledger first and the sums then, and so does a deletion. By its end nothing can be opened or settled in
the name of what is deleted: all its rows are changed, and a new one would name what is not there. Deletions wait for
each other, because one would need the same rows as another, in another order; and for the closing of days, so that
what is deleted is moved in the sums of a closed day too.
"""

from __future__ import annotations

from django.conf import settings
from django.db import connection
from django.db.models import Model

from .activity_sums import FORGET_ACTIVE_USER, FORGET_CONVERSATION_OF_DAY
from .ledger_sums import (
    ADD_TO_CONVERSATION_SUMS,
    ADD_TO_LEDGER_SUMS,
    ADD_TO_ROLLED_UP_SUMS,
    ADDED_TO_STORED,
    DAY,
    KEY_COLUMNS,
    ON_CONFLICT_ADD,
    ON_CONFLICT_ADD_TO_CONVERSATION,
    ROLLED_UP_KEY,
    SUM_COLUMNS,
    SUMS_ADDED_UP,
)

# What is deleted → the column that names it.
COLUMNS = {
    settings.AUTH_USER_MODEL: "user_id",
    "conversations.Conversation": "conversation_id",
    "conversations.Scenario": "scenario_id",
}
LOCK = "hashtext('conversations.forget_in_ledger')"
ONE_AT_A_TIME = f"SELECT pg_advisory_xact_lock({LOCK})"
FORGET_IN_ROWS = "UPDATE conversations_completion SET {column} = NULL WHERE {column} = %s"
FORGET_IN_SUMS = f"""
WITH deleted AS (DELETE FROM conversations_ledgersum WHERE {{column}} = %s RETURNING *),
     anonymous AS (SELECT {{key}}, {SUM_COLUMNS} FROM deleted)
{ADD_TO_LEDGER_SUMS}
SELECT {KEY_COLUMNS}, {SUMS_ADDED_UP} FROM anonymous GROUP BY {KEY_COLUMNS}
{ON_CONFLICT_ADD}
"""  # noqa: S608  # constants
FORGET_IN_ROLLED_UP = f"""
WITH deleted AS (
  DELETE FROM conversations_rolledupsum WHERE dimension = %s AND key_id = %s RETURNING *
)
{ADD_TO_ROLLED_UP_SUMS} SELECT dimension, span, begins_at, 0, key_name, {SUM_COLUMNS} FROM deleted
ON CONFLICT ({ROLLED_UP_KEY}) DO UPDATE SET {ADDED_TO_STORED}
"""  # noqa: S608  # constants
FORGET_CONVERSATION = f"""
WITH deleted AS (DELETE FROM conversations_conversationsum WHERE key_id = %s RETURNING *)
{ADD_TO_CONVERSATION_SUMS} SELECT 0, first_quarter, last_quarter, {SUM_COLUMNS} FROM deleted
{ON_CONFLICT_ADD_TO_CONVERSATION}
"""  # noqa: S608  # constants
# Sums that name no user count no active user.
FORGET_IN_RUNNING = f"""
UPDATE conversations_runningsum AS running SET users = greatest(users - 1, 0)
WHERE quarter >= (SELECT min(quarter) FROM conversations_ledgersum WHERE user_id = %(user)s)
  AND quarter < (SELECT max(quarter) FROM conversations_ledgersum WHERE user_id = %(user)s) + {DAY}
  AND EXISTS (
    SELECT FROM conversations_ledgersum AS theirs
    WHERE theirs.user_id = %(user)s AND theirs.quarter <= running.quarter AND theirs.quarter > running.quarter - {DAY}
  )
"""  # noqa: S608  # constants


def wait_for_other_deletions() -> None:
    """Take the lock of deletions; first in a transaction that locks what it deletes: no other waits for that then."""
    with connection.cursor() as cursor:
        cursor.execute(ONE_AT_A_TIME)


def forget_in_rows(instance: Model) -> None:
    """Take what is about to be deleted out of the ledger's rows, before the running sums of a user go."""
    wait_for_other_deletions()
    with connection.cursor() as cursor:
        cursor.execute(FORGET_IN_ROWS.format(column=_column_of(instance)), [instance.pk])


def forget_in_sums(instance: Model) -> None:
    """Add the sums of what has been deleted to those that name none, in the same transaction."""
    column = _column_of(instance)
    key = ", ".join(f"NULL::bigint AS {name}" if name == column else name for name in KEY_COLUMNS.split(", "))
    with connection.cursor() as cursor:
        if column == "user_id":
            cursor.execute(FORGET_IN_RUNNING, {"user": instance.pk})
            cursor.execute(FORGET_ACTIVE_USER, {"id": instance.pk})
        if column == "conversation_id":
            cursor.execute(FORGET_CONVERSATION_OF_DAY, {"id": instance.pk})
            cursor.execute(FORGET_CONVERSATION, [instance.pk])
        cursor.execute(FORGET_IN_ROLLED_UP, [column.removesuffix("_id"), instance.pk])
        cursor.execute(FORGET_IN_SUMS.format(column=column, key=key), [instance.pk])


def _column_of(instance: Model) -> str:
    return COLUMNS[instance._meta.label]

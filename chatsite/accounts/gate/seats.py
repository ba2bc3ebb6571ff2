"""Seats: how many people the gate lets in at once, and the line of those who wait for one.

A seat is had by whoever came in by a password that is still in force and needs one. It is given up by losing that: a
blocked or deactivated person, a password that changed, a gate that is off for them. Seats are given under a lock, by
one statement, in the order in which people gave the password; so none is had twice. A lower cap sends nobody out.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection, transaction

from chatsite.accounts.gate.admission import IS_ASKED, OPENING_VERSION, PEOPLE
from chatsite.accounts.models import Gate

# Those for whom `admission.decide` looks at the seat at all. A test holds the two together.
COUNTS = f"""{IS_ASKED} AND entry.version = {OPENING_VERSION}"""
PLACES = f"""
SELECT entry.id, person.id AS user_id, person.name, person.email, entry.unlocked_at,
       entry.seated_at IS NOT NULL AS is_seated, coalesce({COUNTS}, false) AS counts
FROM {PEOPLE} WHERE entry.id IS NOT NULL
"""  # noqa: S608  # nothing in it comes from outside
DUE = f"""
WITH place AS ({PLACES}),
next AS (
  SELECT id FROM place WHERE counts AND NOT is_seated ORDER BY unlocked_at, id
  LIMIT (
    SELECT CASE WHEN seats IS NOT NULL  -- NULL is no limit, here too
           THEN greatest(seats - (SELECT count(*) FROM place WHERE counts AND is_seated), 0) END
    FROM accounts_gate
  )
),
due AS (SELECT id, counts FROM place WHERE (is_seated AND NOT counts) OR id IN (SELECT id FROM next))
"""  # noqa: S608
IS_ANY_DUE = f"{DUE} SELECT EXISTS (SELECT FROM due)"  # noqa: S608
GIVE = f"""
{DUE}
UPDATE accounts_gateentry AS entry SET seated_at = CASE WHEN due.counts THEN statement_timestamp() END
FROM due WHERE due.id = entry.id
"""  # noqa: S608
LISTED = f"""
SELECT user_id, name, email, unlocked_at, is_seated FROM ({PLACES}) AS place WHERE counts
ORDER BY is_seated DESC, unlocked_at, id
"""  # noqa: S608
PLACE_IN_LINE = f"""
WITH place AS ({PLACES})
SELECT count(*) FROM place AS ahead, place AS mine
WHERE mine.user_id = %s AND ahead.counts AND NOT ahead.is_seated
      AND (ahead.unlocked_at, ahead.id) <= (mine.unlocked_at, mine.id)
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Place:
    """Somebody who gave the password and has a seat, or waits for one."""

    user_id: int
    name: str
    email: str
    since: object
    is_seated: bool


def lock_gate() -> Gate:
    """Return the gate, made if there is none, locked until the transaction ends."""
    return Gate.objects.select_for_update().get_or_create(only=True)[0]


def give_seats() -> None:
    """Take back the seats of those who have lost them, and give the free ones to those who have waited longest.

    Most often there is none, for one of many who wait and look again: then nobody waits for the lock.
    """
    if not _is_any_due():
        return
    with transaction.atomic():
        lock_gate()
        with connection.cursor() as cursor:
            cursor.execute(GIVE)


def _is_any_due() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(IS_ANY_DUE)
        return bool(cursor.fetchone()[0])


def list_places() -> list[Place]:
    """Return who is inside and then who waits, each in the order in which they gave the password."""
    with connection.cursor() as cursor:
        cursor.execute(LISTED)
        return [Place(*row) for row in cursor.fetchall()]


def place_in_line(user_id: int) -> int:
    """Return 1 for whoever gets the next seat, and so on."""
    with connection.cursor() as cursor:
        cursor.execute(PLACE_IN_LINE, [user_id])
        return int(cursor.fetchone()[0])

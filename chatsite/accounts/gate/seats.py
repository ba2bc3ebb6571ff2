"""Seats: how many users the gate admits at once, and the waiting list.

A user has a seat who needs a password and entered with one that is still in force. A seat is lost with that: when the
user is blocked or deactivated, the password changes, or the gate is off for them. Seats are assigned under a lock, by
one statement, in the order in which users gave the password; so none is assigned twice. A lower cap takes no seat away.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection, transaction

from chatsite.accounts.gate.admission import IS_GATED, REQUIRED_VERSION, USERS, Admission, find_admission
from chatsite.accounts.models import Gate

# Users for whom `decide_admission` looks at the seat at all. A test compares the two.
COUNTS = f"""{IS_GATED} AND entry.version = {REQUIRED_VERSION}"""
PLACES = f"""
SELECT entry.id, person.id AS user_id, person.name, person.email, entry.unlocked_at,
       entry.seated_at IS NOT NULL AS is_seated, coalesce({COUNTS}, false) AS counts
FROM {USERS} WHERE entry.id IS NOT NULL
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
class SeatRequest:
    """A user who gave the password and has a seat, or waits for one since *since*."""

    user_id: int
    name: str
    email: str
    since: object
    is_seated: bool


def admit(user: AbstractBaseUser | AnonymousUser) -> Admission:
    """Return the admission of *user*, after giving a waiting user a seat if one is free."""
    admission = find_admission(user.pk)
    if admission is Admission.WAITING:
        assign_seats()
        admission = find_admission(user.pk)
    return admission


def lock_gate() -> Gate:
    """Return the gate, made if there is none, locked until the transaction ends."""
    return Gate.objects.select_for_update().get_or_create(singleton=True)[0]


def assign_seats() -> None:
    """Take back the seats that are lost, and give the free ones to the users who have waited longest.

    Most often there is nothing to do, as when one of many who wait reloads: then the lock is not taken.
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


def list_seat_requests() -> list[SeatRequest]:
    """Return the seated users and then the waiting ones, each in the order in which they gave the password."""
    with connection.cursor() as cursor:
        cursor.execute(LISTED)
        return [SeatRequest(*row) for row in cursor.fetchall()]


def waiting_position(user_id: int) -> int:
    """Return the user's position on the waiting list; 1 gets the next seat."""
    with connection.cursor() as cursor:
        cursor.execute(PLACE_IN_LINE, [user_id])
        return int(cursor.fetchone()[0])

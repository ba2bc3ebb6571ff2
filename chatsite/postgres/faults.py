"""Which database errors are passing faults, such as a failover: worth trying again, with the same statement.

The one place that decides it. A failover is seen in turn as lost connections, a server that is shutting down, one that
can't be reached, and one that is read-only: Django has three exceptions for them.
"""

from __future__ import annotations

import time

import psycopg
from django.db import Error as DjangoError
from django.db import InterfaceError, OperationalError

PASSING_CLASSES = (
    "08",  # connection exception
    "53",  # insufficient resources: disk full, out of memory, too many connections
    "58",  # system error: I/O
)
PASSING_STATES = frozenset(
    """
    25006 25P03 25P04
    40001 40003 40P01
    55P03
    57014 57P01 57P02 57P03 57P05
    """.split()  # noqa: SIM905 - a table of codes reads better than a list of strings
)

OF_ONE_STATEMENT = frozenset({"25P03", "25P04", "40001", "40P01", "55P03", "57014"})


class DatabaseClosed(psycopg.InterfaceError):
    """The process is ending: no statement is sent any more."""


def is_passing_fault(error: BaseException) -> bool:
    """Tell whether the statement that raised *error* may succeed later, unchanged."""
    cause = error.__cause__ if isinstance(error, DjangoError) else error
    if isinstance(cause, DatabaseClosed):
        return False
    if state := getattr(cause, "sqlstate", None):
        return state in PASSING_STATES or state.startswith(PASSING_CLASSES)
    # Without a code the server has not answered: the connection is lost, can't be made, or none of the pool is free.
    return isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError | psycopg.InterfaceError)


def is_database_away(error: BaseException) -> bool:
    """Tell whether *error* is of a database that can’t be asked now: a passing fault, or this process is ending."""
    return is_passing_fault(error) or isinstance(error.__cause__ or error, DatabaseClosed)


def is_outage(error: BaseException) -> bool:
    """Tell whether *error* concerns the database as a whole, rather than a statement that took too long or a lock."""
    return is_passing_fault(error) and getattr(error, "sqlstate", None) not in OF_ONE_STATEMENT


class _LastFault:
    """When this process last met an outage, on the monotonic clock."""

    met_at = -float("inf")


def note_fault() -> None:
    """Note that the database did not do now what it was asked."""
    _LastFault.met_at = time.monotonic()


def seconds_since_fault() -> float:
    """Return how long ago this process last met an outage; infinity where it never did."""
    return time.monotonic() - _LastFault.met_at

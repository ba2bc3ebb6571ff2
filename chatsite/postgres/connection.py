"""Database connections with time limits: of connecting, of a statement, and of waiting for its answer.

The server's limits don't help where its answer never arrives: a firewall that has forgotten the connection, a host
that is gone, a proxy that goes on acknowledging. So the wait itself has a limit here, kept by the thread that waits:
above it the connection is closed and the thread goes on with an `OperationalError`.

    short work   pages and replies: ANSWER_SECONDS
    long work    indexing, exports, deletion, admin: the statement's own limit and a little more (`long_work`)
    commands     whatever does not call `begin_serving`: no limit, as of migrations

After an answer that did not come, and after a lost connection, all connections of the pool are replaced: idle ones at
once, the others when they come back. So they are after "read-only": an open connection may lead to the former primary.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Self, TypeVar

import psycopg
from django.conf import settings
from django.db import connections
from psycopg import _queries
from psycopg.abc import PQGen
from psycopg.errors import AdminShutdown, CrashShutdown, ReadOnlySqlTransaction, _WaitTimeout

from .faults import DatabaseClosed, is_outage, note_fault
from .pool import give_newest_first

R = TypeVar("R")
T = TypeVar("T")
ANSWER_SECONDS = 8.0
CHECK_SECONDS = 2.0  # for an idle connection of the pool to answer that it lives
TRUSTED_SECONDS = 0.05  # after an answer: a connection of the pool is not asked so soon whether it lives
MARGIN_SECONDS = 2.0  # for the server's own "canceling statement due to statement timeout" to arrive
LOCK_SECONDS = 5.0
IDLE_IN_TRANSACTION_SECONDS = 10.0  # also how long a dead connection may hold locks
LONG_IDLE_SECONDS = 300
CLIENT_CHECK_SECONDS = 2.0  # the server breaks a statement off this long after its connection was closed
DRAIN_SECONDS = 1.0  # at least so long between two replacements of all, or each refusal would cost one
# Of libpq, where it is TCP. Those that DATABASE_URL names take precedence.
NETWORK_LIMITS = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
# psycopg looks for the places of values in longer statements, and those with more values, each time that they are
# executed: of a joined row with all of its columns, or of the ledger's sums, that took as long as to make the values
# ready. The newest 128 texts are remembered.
_queries.MAX_CACHED_STATEMENT_LENGTH, _queries.MAX_CACHED_STATEMENT_PARAMS = 16_384, 100
# What one connection meets of these, the others do, too.
OF_ALL_CONNECTIONS = (ReadOnlySqlTransaction, AdminShutdown, CrashShutdown)
READ_ONLY_PARAMETERS = (b"default_transaction_read_only", b"in_hot_standby")

_is_long: ContextVar[bool] = ContextVar("is_long", default=False)


class _State:
    """Of this process: whether it serves or is ending, who waits, and when the connections were last replaced."""

    is_serving = False
    is_ending = False
    waiting: set[LimitedConnection[Any]] = set()
    drained_at = -float("inf")
    answered_at = -float("inf")


def begin_serving() -> None:
    """Limit statements and waits of this process from now on. Connections that are open are replaced."""
    _State.is_serving = True
    for connection in connections.all():
        connection.close()
        if connection.settings_dict["OPTIONS"].get("pool"):
            connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL's
            give_newest_first(connection.pool)  # type: ignore[attr-defined]  # the one in its place, not open yet


@contextmanager
def long_work() -> Iterator[None]:
    """Let each statement within take as long as the server lets it: DATABASE_STATEMENT_SECONDS."""
    token = _is_long.set(True)
    try:
        yield
    finally:
        _is_long.reset(token)


def end_waits() -> None:
    """Let all threads that wait for the database go on with an error, and refuse to wait again: the process ends."""
    _State.is_ending = True
    for connection in tuple(_State.waiting):
        connection.shut_down()


def has_just_answered() -> bool:
    """Tell whether the database has answered this process so lately that a connection of the pool is trusted."""
    return _State.is_serving and time.monotonic() - _State.answered_at <= TRUSTED_SECONDS


def answer_seconds() -> float | None:
    """Return how long the work of this context may wait for an answer; None is without limit."""
    if not _State.is_serving:
        return None
    if not _is_long.get():
        return ANSWER_SECONDS
    limit: int = settings.DATABASE_STATEMENT_SECONDS
    return limit + MARGIN_SECONDS if limit else None


def server_limits() -> str:
    """Return the server's limits as libpq's `options`, which cost no round trip."""
    limit: int = settings.DATABASE_STATEMENT_SECONDS
    if not _State.is_serving or not limit:
        return ""
    limits = {
        "statement_timeout": limit,
        "lock_timeout": LOCK_SECONDS,
        "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION_SECONDS,
        "client_connection_check_interval": CLIENT_CHECK_SECONDS,
    }
    return " ".join(f"-c {name}={seconds * 1000:.0f}" for name, seconds in limits.items())


def allow_long_idle() -> None:
    """Let the present transaction be idle for minutes, while large rows are made for it.

    Else the server ends it, and the same work begins again, for as often as it is tried.
    """
    with connections["default"].cursor() as cursor:
        cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{LONG_IDLE_SECONDS}s'")


class LimitedConnection(psycopg.Connection[R]):
    """psycopg's connection, which does not wait for ever."""

    opened_at = 0.0
    answered_at = -float("inf")

    @classmethod
    def connect(cls, conninfo: str = "", **parameters: Any) -> Self:
        if _State.is_ending:
            raise DatabaseClosed("the process is ending")
        if options := f"{server_limits()} {parameters.get('options') or ''}".strip():
            parameters["options"] = options
        try:
            connection = super().connect(conninfo, **parameters)
        except psycopg.OperationalError:
            note_fault()
            raise
        connection.opened_at = time.monotonic()
        return connection

    def execute(self, query: Any, *arguments: Any, **options: Any) -> Any:
        """Execute *query*. The empty one is the pool's, which asks whether the connection lives."""
        if query != "" or not _State.is_serving:
            return super().execute(query, *arguments, **options)
        if self._is_read_only and time.monotonic() - self.opened_at > DRAIN_SECONDS:
            note_fault()
            self._replace_all()
            self.close()
            raise psycopg.OperationalError("the connection is read-only; another may not be")
        if self._is_trusted:  # to ask each time was a fifth of all statements
            return None
        cursor = self.cursor()
        with self.lock:
            self.wait(cursor._execute_gen(query), timeout=CHECK_SECONDS)
        return cursor

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Wait for the server's answer, within *timeout* or else within the limit of the present work."""
        if _State.is_ending:
            raise DatabaseClosed("the process is ending")
        seconds = answer_seconds() if timeout is None else timeout
        _State.waiting.add(self)
        try:
            answer = super().wait(gen, interval, seconds)
            self.answered_at = _State.answered_at = time.monotonic()
            return answer
        except _WaitTimeout:
            self.pgconn.finish()
            note_fault()
            self._replace_all()
            raise psycopg.OperationalError(f"the database did not answer within {seconds:g} s") from None
        except psycopg.Error as error:
            if is_outage(error):
                note_fault()
                if self.closed or isinstance(error, OF_ALL_CONNECTIONS):
                    self._replace_all()
            raise
        finally:
            _State.waiting.discard(self)

    @property
    def _is_read_only(self) -> bool:
        """What the server has told without being asked, when the connection was made or since."""
        return any(self.pgconn.parameter_status(name) == b"on" for name in READ_ONLY_PARAMETERS)

    @property
    def _is_trusted(self) -> bool:
        """Whether it has just answered, and nothing has come since: a server that shuts down says so, or closes it."""
        if time.monotonic() - self.answered_at > TRUSTED_SECONDS:
            return False
        poll = select.poll()  # as select() takes no number above 1,023
        poll.register(self.pgconn.socket, select.POLLIN)
        return not poll.poll(0)

    def shut_down(self) -> None:
        """End what waits for this connection, in whichever thread."""
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self.pgconn.socket)) as copy:
            copy.shutdown(socket.SHUT_RDWR)

    def _replace_all(self) -> None:
        """Replace all connections of the pool, unless that was done just now."""
        now, pool = time.monotonic(), getattr(self, "_pool", None)
        if pool and now - _State.drained_at > DRAIN_SECONDS:
            _State.drained_at = now
            pool.drain()

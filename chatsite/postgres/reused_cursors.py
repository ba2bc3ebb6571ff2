"""Reused cursors: each connection to PostgreSQL keeps up to two cursors for its next statements.

Django makes a cursor for each statement, which copies psycopg's table of adapters, and psycopg then looks up how each
type is written and read: a third of the processor time that a statement of a reply costs, and all replies of a process
wait for one another meanwhile. A cursor is taken from its connection here, and goes back when it is closed,
without its result. So one that is still being read is not reused, however calls are nested, and none outlives its
connection. Django makes the cursor itself where statements are logged, and every named one.

Uses internals of psycopg (`_last_query`, `_tx`, `_reset`); tests/postgres/test_reused_cursors.py guards it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import psycopg
from django.apps import apps
from django.db.backends.postgresql import base
from django.db.backends.utils import CursorWrapper

MOST_KEPT = 2  # by a connection: of nested statements one is read while the other is executed

if TYPE_CHECKING:
    Cursor = psycopg.Cursor[Any]
else:
    Cursor = base.ServerBindingCursor


class ReusableCursor(Cursor):
    """psycopg's cursor, which remembers from one statement to the next how types are written and read."""

    timezone: dt.tzinfo | None = None  # of the timestamps that it reads

    def execute(self, query: Any, *arguments: Any, **options: Any) -> Self:
        if self._last_query:
            self._last_query = query  # else psycopg would forget: adapters may have been registered in between
        try:
            super().execute(query, *arguments, **options)
        except BaseException:
            self._last_query = None
            raise
        return self

    def keep(self) -> None:
        """Keep it for the next statement of its connection, unless one has failed, or was a COPY."""
        kept = _kept_by(self.connection)
        if not self._last_query or self.closed or len(kept) == MOST_KEPT:
            self.close()
            return
        self._reset()
        self._tx.set_pgresult(None)  # the result would stay in memory
        kept.append(self)


class ReusedCursorWrapper(CursorWrapper):
    """Django's wrapper of a cursor, which gives it back to its connection in place of closing it."""

    cursor: Any
    db: Any

    def execute(self, sql: Any, params: Any = None) -> Any:
        if self.db.execute_wrappers or not apps.ready:
            return super().execute(sql, params)
        self.db.validate_no_broken_transaction()
        with self.db.wrap_database_errors:
            return self.cursor.execute(sql, params)

    def fetchone(self) -> Any:
        with self.db.wrap_database_errors:
            return self.cursor.fetchone()

    def fetchmany(self, size: int = 0) -> list[Any]:
        with self.db.wrap_database_errors:
            rows: list[Any] = self.cursor.fetchmany(size)
        return rows

    def fetchall(self) -> list[Any]:
        with self.db.wrap_database_errors:
            rows: list[Any] = self.cursor.fetchall()
        return rows

    def __iter__(self) -> Iterator[Any]:
        while (row := self.fetchone()) is not None:
            yield row

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        cursor, self.cursor = self.cursor, CLOSED
        if cursor is not CLOSED:
            cursor.keep()


class _ClosedCursor:
    """What has become of a cursor for those who closed it: others may read from it by now."""

    closed, rowcount, description = True, -1, None

    def __getattr__(self, name: str) -> Any:
        raise psycopg.InterfaceError("the cursor is closed")


CLOSED = _ClosedCursor()


def take_kept_cursor(connection: psycopg.Connection[Any], timezone: dt.tzinfo | None) -> ReusableCursor | None:
    """Return a cursor that *connection* has kept, if there is one which reads timestamps in *timezone*."""
    kept = _kept_by(connection)
    cursor = kept.pop() if kept else None
    return cursor if cursor is not None and cursor.timezone == timezone else None


def _kept_by(connection: psycopg.Connection[Any]) -> list[ReusableCursor]:
    kept: list[ReusableCursor] = connection.__dict__.setdefault("_kept_cursors", [])
    return kept

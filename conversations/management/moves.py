"""Move the site's database into another one: nothing is lost, whenever a process is killed.

    old database                                    new database
    1. no other session; tables locked
    2. snapshot ── pg_dump ───────────────────────▶ one transaction: all rows, and the note "not finished"
    3. digests of all tables, samples, sums ──────▶ compared
    4. note "moved to ...", which ends the locks
    5.                                              the note is taken away

No site starts with a database that has a note. The locks let others read, and nothing write. Killed before the end of
2, the new database is empty; later it has a copy, which the next run compares again before it goes on. A process that
connected during the move would write into the old database: after 4 they are looked for once more, and if there
is one the note is taken back.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import Connection, sql

from chatsite.backups.backup_file import PART_BYTES
from chatsite.backups.database_copy import DatabaseCopyFailed, dump_database, restore_database
from chatsite.backups.table_digests import digest_tables, find_other_rows
from chatsite.command_line import own_command
from chatsite.parent_process import bind_to_parent
from chatsite.postgres.checks import ENCODING
from chatsite.schema.move_note import COMMAND, DROP, MoveNote, read_move_note, spell_note
from chatsite.schema.problems import EXTENSION, pgvector_problem, server_problem, table_names
from conversations.management.backups import add_vector_extension, database_address, exported_snapshot
from conversations.management.database_command import reason_of_refusal
from conversations.management.database_contents import TABLES, describe_contents, find_damage, find_missing_rows
from conversations.management.new_databases import (
    CONNECT_SECONDS,
    OWN_NAME,
    MoveRefused,
    NewDatabase,
    NewEmbeddedDatabase,
)
from conversations.management.startup import require_connection, require_database

IN_NEW_DATABASE = "--in-new-database"
MOVE_LOCK = 0x4D4F5645  # "MOVE"; any number that no one else locks
LOCK_SECONDS = 10  # an autovacuum gives way after one
LEAVING_SECONDS = 3.0  # for sessions of processes that have just ended
POLL_SECONDS = 0.1
LENGTH_BYTES = 8  # before each part of the copy, so that one that was cut off is known
WITHOUT_LIMITS = """
SELECT set_config(name, '0', false) FROM pg_settings
WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')
"""
# What a role may not see of other roles' sessions is NULL. The server's own processes have no user.
OTHER_SESSIONS = """
SELECT pid, usename, application_name, host(client_addr) FROM pg_stat_activity
WHERE datname = current_database() AND usename IS NOT NULL AND application_name IS DISTINCT FROM %s
AND coalesce(backend_type, 'client backend') = 'client backend' ORDER BY pid
"""


@dataclass(frozen=True, slots=True)
class Move:
    """What was moved: how many rows of which table, and where they still are."""

    old_place: str
    rows: Mapping[str, int]


def move_database(new: NewDatabase | NewEmbeddedDatabase, *, tell: Callable[[str], object]) -> Move:
    """Copy the site's database into *new*, and leave a note in the old one that it was moved.

    Raises `MoveRefused` and `DatabaseCopyFailed`; the site stays where it was then.
    """
    connection.settings_dict["OPTIONS"]["application_name"] = OWN_NAME
    require_database(allows_moved=True)
    with _connect_here() as here:
        note = read_move_note(here)
        if note is not None and note.is_new:
            raise MoveRefused(note.problem)
        _require_no_other_session(here)
        copied = _find_copy(new, note)
        if note is not None:  # killed after 4: what was written here since the comparison is not known
            here.execute(DROP)
            here.commit()
            _require_no_other_session(here)
        _lock_tables(here)
        token, rows = _copy_and_compare(new, copied, tell=tell)
        _require_no_other_session(here)
        here.execute(spell_note(is_new=False, token=token, other=new.place))
    _require_none_came()
    with new.connect() as there:
        there.execute(DROP)
    return Move(old_place(), rows)


def take_move_back() -> str:
    """Let the site go on with this database though it was moved to another, and return where that is.

    Raises `MoveRefused` where it was not.
    """
    require_connection()
    with _connect_here() as here:
        note = read_move_note(here)
        if note is None or note.is_new:
            raise MoveRefused(note.problem if note else "The site was not moved from here: there is nothing to do.")
        here.execute(DROP)
        return note.other


def old_place() -> str:
    """Return where the site's database is, without a password."""
    if not settings.DATABASE_URL:
        return f"the embedded PostgreSQL in {settings.DATABASES['default']['EMBEDDED_DIR']}"
    return NewDatabase(settings.DATABASE_URL).place


def receive_copy(stream: IO[bytes]) -> list[str]:
    """Fill the new database, which is this process's, from *stream*, and return what is not as it was before.

    Raises `DatabaseCopyFailed` and `RestoreRefused`.
    """
    asked = json.loads(stream.readline())
    require_connection()
    _require_one_copy()
    if asked["note"]:
        add_vector_extension()
        restore_database(database_address(), read_parts(stream), last_statement=asked["note"])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    contents = asked["contents"]
    connection.ensure_connection()
    digests = digest_tables(connection.connection, contents["tables"].keys() & {*table_names(connection.connection)})
    return find_missing_rows(contents) or find_other_rows(asked["digests"], digests) + find_damage(contents)


@contextmanager
def _connect_here() -> Iterator[Connection]:
    """Yield a session of its own with the site's database, whose one transaction ends with it."""
    own = {"connect_timeout": CONNECT_SECONDS, "application_name": OWN_NAME}
    with psycopg.connect(**database_address() | own) as here:
        here.execute(WITHOUT_LIMITS)
        yield here


def _require_no_other_session(here: Connection) -> None:
    """Raise `MoveRefused` where others are connected, or move the site at the same time."""
    deadline = time.monotonic() + LEAVING_SECONDS
    while sessions := here.execute(OTHER_SESSIONS, [OWN_NAME]).fetchall():
        if time.monotonic() > deadline:
            raise MoveRefused(_say_who(sessions))
        here.execute("SELECT pg_stat_clear_snapshot()")
        time.sleep(POLL_SECONDS)


def _say_who(sessions: list[tuple[Any, ...]]) -> str:
    pid, user, name, host = sessions[0]
    who = ", ".join(filter(None, [f"role {user}", f"process {pid} of the server", host and f"from {host}", name]))
    return (
        f"The site's database is used by other sessions, {len(sessions)} in number, such as this one: {who}. What "
        "they write could be lost. Stop all processes of the site, and what else uses it, and run the same command "
        "again. The site is as it was."
    )


def _lock_tables(here: Connection) -> None:
    """Let others only read until the transaction ends."""
    [(is_first,)] = here.execute("SELECT pg_try_advisory_xact_lock(%s)", [MOVE_LOCK])
    if not is_first:
        raise MoveRefused("This database is being moved by another process now.")
    tables = [name for (name,) in here.execute(TABLES)]
    here.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
    try:
        here.execute(sql.SQL("LOCK TABLE {} IN SHARE MODE").format(sql.SQL(", ").join(map(sql.Identifier, tables))))
    except psycopg.errors.LockNotAvailable:
        raise MoveRefused("A table of the site's database is locked. Look into pg_stat_activity who does so.") from None


def _require_none_came() -> None:
    """Take the note back, and raise `MoveRefused`, where a process of the site was started during the move."""
    with _connect_here() as here:
        try:
            _require_no_other_session(here)
        except MoveRefused:
            here.execute(DROP)
            here.commit()
            raise


def _find_copy(new: NewDatabase | NewEmbeddedDatabase, note_here: MoveNote | None) -> MoveNote | None:
    """Return the note of an unfinished copy in the new database, or None once it is empty.

    *note_here* is that of a site which has been moved: only the copy of that move will do. Raises `MoveRefused`.
    """
    with new.connect() as there:
        tables, note = table_names(there), read_move_note(there)
        if note_here is not None and (note is None or note.token != note_here.token):
            raise MoveRefused(note_here.problem)
        if tables and note is None:
            raise MoveRefused(f"In {new.place} are tables already, such as {tables[0]}. It has to be empty.")
        if (encoding := there.info.parameter_status("server_encoding")) != ENCODING:
            raise MoveRefused(f"The encoding of {new.place} is {encoding}. It has to be {ENCODING}.")
        [(pgvector, is_available, may_add)] = there.execute(EXTENSION)
        version = there.info.server_version // 10_000
        if problem := server_problem(version) or pgvector_problem(
            pgvector, is_available=is_available, may_add=may_add, is_made=False, server=version
        ):
            raise MoveRefused(f"The new one can't be used. {problem}")
    if note is None or note.is_new:
        return note
    new.make_room(f"From {new.place} the site was moved away to {note.other} at {note.at:%Y-%m-%d %H:%M} UTC.")
    return None


def _copy_and_compare(
    new: NewDatabase | NewEmbeddedDatabase, copied: MoveNote | None, *, tell: Callable[[str], object]
) -> tuple[str, Mapping[str, int]]:
    """Fill the new database unless it is *copied*, compare it, and return the token of its note and its rows."""
    with exported_snapshot() as (snapshot, left_out):
        tell("Reading all rows")
        contents = describe_contents()
        asked = {"contents": contents, "digests": digest_tables(connection.connection, contents["tables"])}
        if copied is not None:
            tell("Comparing the copy that an earlier run has made")
            if not _run_there(new, {**asked, "note": ""}):
                return copied.token, contents["tables"]
            at = f"{copied.at:%Y-%m-%d %H:%M} UTC"
            new.make_room(f"In {new.place} is a copy of {at}, and the site has changed since.")
        tell("Copying, then comparing")
        token = secrets.token_hex(8)
        parts = dump_database(database_address(), snapshot=snapshot, part_bytes=PART_BYTES, without_extensions=left_out)
        note = spell_note(is_new=True, token=token, other=old_place())
        if wrong := _run_there(new, {**asked, "note": note}, parts):
            raise MoveRefused(f"The copy is not as it should be: {'; '.join(wrong)}. The site stays where it was.")
        return token, contents["tables"]


def _run_there(
    new: NewDatabase | NewEmbeddedDatabase, asked: Mapping[str, Any], parts: Iterable[bytes] = ()
) -> list[str]:
    """Let a process of the new database do `receive_copy`, and return what that returns."""
    process = subprocess.Popen(  # noqa: S603
        [*own_command(), COMMAND, IN_NEW_DATABASE],
        env=os.environ | {"DATABASE_URL": new.url, "DATABASE_URL_FILE": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=bind_to_parent(),
    )
    try:
        with suppress(BrokenPipeError):
            for frame in _frame(asked, parts):
                process.stdin.write(frame)  # type: ignore[union-attr]  # that it has ended, it says why
        said, errors = process.communicate()
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        reason = reason_of_refusal(errors.decode(errors="replace")).rstrip(".")
        raise DatabaseCopyFailed(f"{reason}. The site stays where it was.")
    wrong: list[str] = json.loads(said)
    return wrong


def _frame(asked: Mapping[str, Any], parts: Iterable[bytes]) -> Iterator[bytes]:
    yield json.dumps(asked).encode() + b"\n"
    for part in parts:
        yield len(part).to_bytes(LENGTH_BYTES)
        yield part
    yield bytes(LENGTH_BYTES)


def read_parts(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the parts. Raises `DatabaseCopyFailed` where the end is missing: the process that sends them was killed."""
    while True:
        head = stream.read(LENGTH_BYTES)
        length = int.from_bytes(head)
        part = stream.read(length)
        if len(head) < LENGTH_BYTES or len(part) < length:
            raise DatabaseCopyFailed("The copy was cut off, and nothing of it was kept.")
        if not part:
            return
        yield part


def _require_one_copy() -> None:
    """Raise `MoveRefused` while another process copies into this database; else keep others from it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [MOVE_LOCK])
        if not cursor.fetchone()[0]:
            raise MoveRefused("A copy is being written into it now. If its command was killed, it ends soon.")

"""Upgrade the database to this version of the code, or rehearse that on a copy, and say what was done."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.db import connection

from chatsite.backups.backup_file import PART_BYTES
from chatsite.backups.database_copy import dump_database, restore_database
from chatsite.command_line import own_command
from chatsite.parent_process import bind_to_parent
from chatsite.schema.history import TABLE, MigrationHistory, read_migration_history
from conversations.management.backups import database_address, exported_snapshot
from conversations.management.database_command import reason_of_refusal
from conversations.management.database_contents import database_bytes, find_wrong_sums, rows_by_table
from conversations.management.room import explain_failure, free_bytes
from conversations.management.startup import migrate, require_database
from conversations.management.throw_away_site import throw_away_site

SECONDS = f"SELECT app, name, extract(epoch FROM ended_at - began_at)::float8 FROM {TABLE} ORDER BY began_at"  # noqa: S608
OF_MIGRATIONS = {"django_migrations", TABLE}
IN_COPY = "--in-copy"


class RehearsalFailed(Exception):
    """The copy could not be made or upgraded: says why. The database is as it was."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What was done: each migration with its seconds, what tables have other numbers of rows, which sums are wrong."""

    seconds: dict[str, float]
    other_counts: list[str]
    lost_rows: list[str]
    wrong_sums: list[str]


def migration_history() -> MigrationHistory:
    connection.ensure_connection()
    return read_migration_history(connection.connection)


def upgrade_database() -> dict[str, float]:
    """Apply the migrations that wait, and return the seconds of each. Raises `CommandError`."""
    waiting = migration_history().waiting
    migrate()
    require_database()
    with connection.cursor() as cursor:
        cursor.execute(SECONDS)
        return {f"{app}.{name}": seconds for app, name, seconds in cursor.fetchall() if (app, name) in waiting}


def rehearse_upgrade() -> Upgrade:
    """Upgrade a copy of the database, in an embedded one that is thrown away. Raises `RehearsalFailed`."""
    folder = Path(tempfile.gettempdir())
    free, size = free_bytes(folder), database_bytes()
    with throw_away_site() as environment:
        process = subprocess.Popen(  # noqa: S603
            [*own_command(), "upgrade", IN_COPY],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=bind_to_parent(),
        )
        try:
            _send_copy(process.stdin)
            said, errors = process.communicate()
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        reason = reason_of_refusal(errors.decode(errors="replace"))
        raise RehearsalFailed(explain_failure(reason, f"TMPDIR, {folder},", free=free, database_bytes=size))
    return Upgrade(**json.loads(said))


def _send_copy(pipe: IO[bytes] | None) -> None:
    """Write the database as it is at one moment into *pipe*, whose other end says why if it is closed."""
    with exported_snapshot() as (snapshot, left_out):
        parts = dump_database(database_address(), snapshot=snapshot, part_bytes=PART_BYTES, without_extensions=left_out)
        try:
            for part in parts:
                pipe.write(part)  # type: ignore[union-attr]
        except BrokenPipeError:
            parts.close()


def upgrade_copy(dump: IO[bytes]) -> str:
    """Fill the throw-away database of this process from *dump*, upgrade it, and return an `Upgrade` as JSON."""
    restore_database(database_address(), iter(lambda: dump.read(PART_BYTES), b""))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    before = rows_by_table()
    seconds = upgrade_database()
    after = rows_by_table()
    both = sorted((before.keys() & after.keys()) - OF_MIGRATIONS)
    other = [f"{name}: {before[name]:,} rows, then {after[name]:,}" for name in both if before[name] != after[name]]
    other += [f"{name}: {before[name]:,} rows, then dropped" for name in sorted(before.keys() - after.keys())]
    lost = [name for name in both if after[name] < before[name]]
    return json.dumps(
        {
            "seconds": seconds,
            "other_counts": other,
            "lost_rows": lost,
            "wrong_sums": [str(each) for each in find_wrong_sums()],
        }
    )

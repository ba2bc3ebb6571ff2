"""Make a backup of this site, and fill an empty one from it."""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, connection, transaction
from django.utils.crypto import salted_hmac

from chatsite.backups.backup_file import (
    PART_BYTES,
    BackupFile,
    BackupHead,
    BackupNotWritten,
    BackupUnreadable,
    write_backup,
)
from chatsite.backups.database_copy import (
    LIBPQ_PARAMETERS,
    DatabaseCopyFailed,
    dump_database,
    restore_database,
)
from chatsite.backups.kept_backups import delete_drafts, next_number
from chatsite.configuration.secret_key import keep_secret_key, kept_secret_key
from chatsite.version import product_version
from conversations.management.database_contents import (
    describe_contents,
    find_damage,
    find_missing_rows,
    find_other_encoding,
    find_other_schema,
    is_empty_database,
    was_migrated_since,
)
from conversations.management.restore_mark import delete_mark, has_mark, write_mark
from conversations.management.room import explain_failure, free_bytes
from conversations.management.startup import migrate

# The snapshot is held until the last row is written, however long that takes.
ONE_MOMENT = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
)

SCHEDULED_LOCK = 0x4B454550  # "KEEP"; any number that no one else locks in this database
# What a server's owner has added, such as pg_stat_statements: the site needs none, and another server may lack them.
OTHER_EXTENSIONS = "SELECT extname FROM pg_extension WHERE extname NOT IN ('plpgsql', 'vector')"


FORM_OF_CONTENTS = {"tables": dict, "triggers": list, "windows": dict, "secrets": list, "sealed": str}


HAS_TABLES = (
    "This database has tables already, and a backup is restored into an empty one alone. Set VAR_DIR to a new folder, "
    "or DATABASE_URL to a new database. Nothing was changed."
)


class RestoreRefused(Exception):
    """Nothing was changed, and why."""


@dataclass(frozen=True, slots=True)
class MadeBackup:
    """What was written."""

    size_bytes: int
    tables: int
    rows: int


def place_of_backup(chosen: Path | None) -> Path:
    """Return the file to write: *chosen*, or one named by the time in that folder, or in the site's BACKUP_FOLDER.

    Raises `BackupNotWritten`.
    """
    if chosen is not None and not chosen.is_dir():
        return chosen
    folder = chosen or settings.BACKUP_FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BackupNotWritten(f"The folder {folder} can't be made: {error.strerror or error}.") from error
    return folder / f"{dt.datetime.now(dt.UTC):windowseat-%Y%m%d-%H%M%S}.backup"


def make_backup(
    target: Path, *, passphrase: str = "", is_scheduled: bool = False, before_upgrade_of: str = ""
) -> MadeBackup:
    """Write *target* with the database as it is at one moment. Raises `BackupNotWritten` and `DatabaseCopyFailed`.

    *before_upgrade_of* is the version that made a database which is not upgraded to this one yet.
    """
    site = site_of_backups()
    with suppress(OSError):  # a folder that can't be read is said below
        delete_drafts(target.parent, site=site)
    try:
        number = next_number(target.parent, site=site) if is_scheduled else 0
    except OSError as error:
        raise BackupNotWritten(f"The folder {target.parent} can't be read: {error.strerror or error}.") from error
    with exported_snapshot() as (snapshot, left_out):
        if is_scheduled:
            _require_no_other_scheduled()
        contents = describe_contents(has_models=not before_upgrade_of)
        parts = dump_database(database_address(), snapshot=snapshot, part_bytes=PART_BYTES, without_extensions=left_out)
        size = write_backup(
            target,
            version=before_upgrade_of or product_version(),
            contents=contents | {"secret_key": settings.SECRET_KEY},
            parts=parts,
            passphrase=passphrase,
            site=site,
            is_scheduled=is_scheduled,
            number=number,
        )
    return MadeBackup(size, len(contents["tables"]), sum(contents["tables"].values()))


def _require_no_other_scheduled() -> None:
    """Raise `BackupNotWritten` while a process makes a scheduled one, also one whose worker is gone.

    The lock ends with the transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [SCHEDULED_LOCK])
        if not cursor.fetchone()[0]:
            raise BackupNotWritten("Another scheduled backup of this site is being made now.")


@contextmanager
def exported_snapshot() -> Iterator[tuple[str, list[str]]]:
    """Hold the database as it is at one moment, and yield that snapshot and the extensions that no copy needs."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in ONE_MOMENT:
            cursor.execute(statement)
        cursor.execute("SELECT pg_export_snapshot()")
        [snapshot] = cursor.fetchone()
        cursor.execute(OTHER_EXTENSIONS)
        yield snapshot, [name for (name,) in cursor.fetchall()]


def site_of_backups() -> str:
    """Return what tells this site's backups from another's in the same folder.

    It is the same after a restore, and so of a copy of the site with the same SECRET_KEY.
    """
    return salted_hmac("windowseat.backups", "site").hexdigest()[:16]


def restore_backup(
    file: BackupFile, *, keeps_secret_key: bool = False, tell: Callable[[str], object] = print
) -> tuple[BackupHead, list[str]]:
    """Fill the empty database of this site, and return the file's head and what is not as it was.

    The file is read to its end before anything is changed. Rows come by one transaction; the key of the site is
    stored before them. Where that was done and the rest was not, as after a kill, it goes on from there. Raises
    `BackupUnreadable`, `RestoreRefused` and `DatabaseCopyFailed`.
    """
    head = file.read_head()
    free = None if settings.DATABASE_URL else free_bytes(settings.VAR_DIR)
    is_empty = is_empty_database()
    if not (is_empty or has_mark()):
        raise RestoreRefused(HAS_TABLES)
    if is_empty and (problem := find_other_encoding()):
        raise RestoreRefused(problem)
    tell(f"Reading {file.path} to its end")
    contents = file.check()
    _require_whole(contents)
    if problem := find_other_schema(contents):
        raise RestoreRefused(f"{problem} Nothing was changed.")
    if not (is_empty or has_mark(contents)):
        raise RestoreRefused(HAS_TABLES)
    add_vector_extension()
    _adopt_secret_key(contents["secret_key"], keeps_own=keeps_secret_key, tell=tell)
    try:
        if is_empty:
            tell("Restoring the database")
            restore_database(database_address(), file.read_database(), last_statement=write_mark(contents))
        else:
            tell("All rows are there already")
        return head, _compare_restored(contents, tell=tell)
    except DatabaseCopyFailed as error:
        if free is None:
            raise
        size = bytes_when_restored(file.path, contents)
        told = explain_failure(str(error), settings.VAR_DIR, free=free, database_bytes=size)
        raise DatabaseCopyFailed(told) from error


def bytes_when_restored(file: Path, contents: Mapping[str, Any]) -> int:
    """Return how large the database of a backup will be, at least: before 1.1.0 backups did not say it."""
    size = contents.get("database_bytes")
    return size if isinstance(size, int) else file.stat().st_size


def _compare_restored(contents: Mapping[str, Any], *, tell: Callable[[str], object]) -> list[str]:
    """Compare all rows with *contents*, migrate, and return what is not as it was. Raises `DatabaseCopyFailed`."""
    with faults_after_the_rows():
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # without statistics the first questions would take long
        tell("Comparing it with what the backup says")
        # An earlier try that has begun to migrate had counted the rows before.
        if not was_migrated_since(contents) and (wrong := find_missing_rows(contents)):
            return wrong
        migrate()
        if not (wrong := find_damage(contents)):
            delete_mark()
        return wrong


@contextmanager
def faults_after_the_rows() -> Iterator[None]:
    """Say what a fault of the database means once all rows are there. Raises `DatabaseCopyFailed`."""
    try:
        yield
    except (DatabaseError, CommandError) as error:
        reason = str(error).partition("\n")[0]
        raise DatabaseCopyFailed(
            f"All rows were restored, but not compared with what the backup says: {reason}. When that is repaired, the "
            "same command goes on from there."
        ) from error


def _require_whole(contents: Mapping[str, Any]) -> None:
    """Raise `BackupUnreadable` if *contents* are not of the form that `describe_contents` gives them."""
    try:
        find_other_schema(contents)
        is_whole = all(isinstance(contents[name], kind) for name, kind in FORM_OF_CONTENTS.items())
    except (AttributeError, KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise BackupUnreadable("It is damaged: what it says of the database is not whole. Nothing of it was used.")


def add_vector_extension() -> None:
    """Add pgvector, which is not in the backup of an embedded database: that has it from its first day."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except DatabaseError as error:
        reason = str(error).partition("\n")[0]
        raise RestoreRefused(
            f"The database has to have pgvector before ({reason}). As a superuser in it: CREATE EXTENSION vector"
        ) from None


def _adopt_secret_key(key: str, *, keeps_own: bool, tell: Callable[[str], object]) -> None:
    """Make *key* the key of the site, and keep one that was there before beside it.

    Raises `RestoreRefused` where another one is set in the environment.
    """
    if key == settings.SECRET_KEY or keeps_own:
        return
    if kept_secret_key(settings.VAR_DIR) != settings.SECRET_KEY:
        raise RestoreRefused(
            "SECRET_KEY is another one than the backup's, so second factors and other sealed secrets could not be "
            "read. Leave it unset where the site is of this machine, or set it to the backup's key, which "
            "`restore --show-secret-key` prints; with --keep-secret-key go on without them. Nothing was changed."
        )
    before = keep_secret_key(settings.VAR_DIR, key)
    tell(f"The site's own key is kept as {before}; taking the backup's" if before else "Taking the backup's secret key")
    settings.SECRET_KEY = key


def database_address() -> dict[str, Any]:
    """Return where the database is, for programs of PostgreSQL."""
    return {name: value for name, value in connection.get_connection_params().items() if name in LIBPQ_PARAMETERS}


def add_passphrase_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="FILE",
        help="a file whose first line is the passphrase, in place of the setting BACKUP_PASSPHRASE",
    )


def read_passphrase(file: Path | None) -> str:
    """Return the passphrase of *file*, or of the settings; blank if there is none. Raises `CommandError`."""
    if file is None:
        return str(settings.BACKUP_PASSPHRASE)
    try:
        passphrase = file.read_text(encoding="utf-8-sig").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"The passphrase can't be read: {error}") from None
    if not passphrase:
        raise CommandError(f"{file} has no passphrase in its first line.")
    return passphrase

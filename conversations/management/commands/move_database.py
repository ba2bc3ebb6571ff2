"""`manage.py move_database`: move the site from the embedded database to a server of one's own, or back."""

from __future__ import annotations

import argparse
import json
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError

from chatsite.backups.database_copy import DatabaseCopyFailed
from chatsite.command_line import spell_command
from conversations.management.backups import RestoreRefused
from conversations.management.database_contents import database_bytes
from conversations.management.interruptible_command import InterruptibleCommand
from conversations.management.moves import IN_NEW_DATABASE, move_database, receive_copy, take_move_back
from conversations.management.new_databases import MoveRefused, NewDatabase, NewEmbeddedDatabase
from conversations.management.room import explain_failure, free_bytes

EXAMPLE = "postgres://user:password@host/name"


class Command(InterruptibleCommand):
    help = (
        "Copy the site's database into an empty one, compare them row by row, and leave a note in the old one "
        "that the site was moved. The site has to be stopped. A killed one goes on when run again."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        chosen = parser.add_mutually_exclusive_group(required=True)
        chosen.add_argument("--to", metavar="URL", help=f"an empty database with pgvector, such as {EXAMPLE}")
        chosen.add_argument(
            "--to-file", type=Path, metavar="FILE", help="a file with such a URL: others can't see the password then"
        )
        chosen.add_argument("--to-embedded", action="store_true", help="the embedded PostgreSQL, in VAR_DIR")
        chosen.add_argument(
            "--undo", action="store_true", help="let the site go on with the old database, as it was left"
        )
        chosen.add_argument(IN_NEW_DATABASE, action="store_true", help=argparse.SUPPRESS)

    def handle(self, *, undo: bool, in_new_database: bool, **options: Any) -> None:
        try:
            if in_new_database:
                self.stdout.write(json.dumps(receive_copy(sys.stdin.buffer)))
            elif undo:
                other = take_move_back()
                self.stdout.write(f"The site goes on with this database. What was written to {other} is not in it.")
            else:
                self._move(**options)
        except (MoveRefused, RestoreRefused, DatabaseCopyFailed) as error:
            raise CommandError(str(error)) from None
        except (DatabaseError, psycopg.Error) as error:
            reason = str(error).strip().partition("\n")[0]
            raise CommandError(f"{reason}. Nothing is lost: run the same command again.") from None

    def _move(self, *, to: str | None, to_file: Path | None, to_embedded: bool, **_: Any) -> None:
        if to_embedded and not settings.DATABASE_URL:
            raise CommandError("DATABASE_URL is not set: the site uses the embedded PostgreSQL already.")
        new: NewDatabase | NewEmbeddedDatabase
        if to_embedded:
            new, setting = NewEmbeddedDatabase(settings.VAR_DIR / "postgres", tell=self._tell), ""
        elif to_file:
            new, setting = NewDatabase(_read_url(to_file)), f"DATABASE_URL_FILE={to_file.absolute()}"
        else:
            new, setting = NewDatabase(to or ""), f"DATABASE_URL={to}"
        began = time.monotonic()
        free = free_bytes(settings.VAR_DIR)
        try:
            moved = move_database(new, tell=self._tell)
        except DatabaseCopyFailed as error:
            if not to_embedded:
                raise
            try:
                size = database_bytes()
            except DatabaseError:  # the old one is what has failed
                raise error from None
            told = explain_failure(str(error), settings.VAR_DIR, free=free, database_bytes=size)
            raise CommandError(told) from None
        self.stdout.write(
            f"{sum(moved.rows.values()):,} rows in {len(moved.rows)} tables were copied and compared, in "
            f"{time.monotonic() - began:.1f} s."
        )
        self._say_what_is_next(setting, old_place=moved.old_place)

    def _say_what_is_next(self, setting: str, *, old_place: str) -> None:
        where, start = f"{settings.SETTINGS_FILE}, or where the site has its settings", spell_command("serve")
        if setting:
            self.stdout.write(f"Now put this line in place of DATABASE_URL in {where}, then {start}:\n  {setting}")
        else:
            self.stdout.write(f"Now take DATABASE_URL out of {where}, then {start}.")
        self.stdout.write(
            f"Nothing was deleted: {old_place} has all that it had, and no site starts with it any more. Delete it "
            "when all is well."
        )

    def _tell(self, line: str) -> None:
        self.stdout.write(f"{line} …")


def _read_url(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"The address of the new database can't be read: {error}") from None

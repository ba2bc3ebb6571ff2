"""`manage.py upgrade_postgres`: take the embedded PostgreSQL's data to the major version of this Windowseat."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError

from chatsite.backups.database_copy import DatabaseCopyFailed
from chatsite.command_line import spell_command
from chatsite.postgres.embedded.version_upgrade import UpgradeRefused, upgrade_data
from conversations.management.interruptible_command import InterruptibleCommand
from conversations.management.postgres_upgrade import copy_database
from conversations.management.startup import database_sentence


class Command(InterruptibleCommand):
    help = (
        "Copy the embedded database, made by an earlier major version of PostgreSQL, into one of this version, compare "
        "them row by row, and keep the old folder. The site has to be stopped. A killed one is run again."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--programs",
            type=Path,
            metavar="FOLDER",
            help="where the programs of the earlier version are",
        )

    def handle(self, *, programs: Path | None, **options: Any) -> None:
        if settings.DATABASE_URL:
            raise CommandError("DATABASE_URL is set: that server is yours to upgrade. This is for the embedded one.")
        data, began = settings.DATABASES["default"]["EMBEDDED_DIR"].resolve(), time.monotonic()
        copy = partial(copy_database, tell=self._tell)
        try:
            kept = upgrade_data(data, copy=copy, programs=programs, tell=self._tell)
        except UpgradeRefused as error:
            raise CommandError(str(error)) from None
        except DatabaseCopyFailed as error:
            raise CommandError(f"{str(error).rstrip('.')}. The data are as they were.") from None
        except (DatabaseError, psycopg.Error) as error:
            raise CommandError(f"{database_sentence(error).rstrip('.')}. The data are as they were.") from None
        except OSError as error:
            raise CommandError(f"{error}. Run this again.") from None
        if kept is None:
            self.stdout.write(f"{data} is of this version: there is nothing to do.")
            return
        self.stdout.write(
            f"All rows were copied and compared, in {time.monotonic() - began:.1f} s. The old data are kept in "
            f"{kept}: delete that folder when all is well. Now {spell_command('serve')}."
        )

    def _tell(self, line: str) -> None:
        self.stdout.write(f"{line} …")

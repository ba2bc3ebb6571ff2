"""`manage.py backup FILE`: write all of the site's data into one file while the site runs."""

from __future__ import annotations

import argparse
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from chatsite.backups.backup_file import BackupNotWritten
from chatsite.backups.database_copy import DatabaseCopyFailed
from chatsite.backups.kept_backups import OLD_ONES_STAY, delete_old_backups
from chatsite.command_line import spell_command
from chatsite.parent_process import PARENT, end_when_parent_ends
from conversations.management.backups import (
    add_passphrase_argument,
    make_backup,
    place_of_backup,
    read_passphrase,
    site_of_backups,
)
from conversations.management.database_command import DatabaseCommand
from conversations.management.interruptible_command import InterruptibleCommand
from conversations.management.sealed_secrets import look_at_sealed_secrets


class Command(InterruptibleCommand, DatabaseCommand):
    help = (
        "Write the whole database and the secret key into one file, as they are at one moment, while the site runs. "
        "The file is whole or not there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            nargs="?",
            help="the file to make, or a folder, in which it is named by the time; else BACKUP_FOLDER is that folder",
        )
        parser.add_argument(
            "--scheduled",
            action="store_true",
            help="make it as the worker does: into BACKUP_FOLDER, where as many as BACKUPS_KEPT of these are kept",
        )
        parser.add_argument(PARENT, type=int, help=argparse.SUPPRESS)
        add_passphrase_argument(parser)

    def handle(
        self, *, file: Path | None, passphrase_file: Path | None, scheduled: bool, parent: int | None, **options: Any
    ) -> None:
        if parent is not None:
            end_when_parent_ends(parent)
        passphrase = read_passphrase(passphrase_file)
        began = time.monotonic()
        try:
            target = place_of_backup(None if scheduled else file)
            made = make_backup(target, passphrase=passphrase, is_scheduled=scheduled)
        except (BackupNotWritten, DatabaseCopyFailed) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{target}: {made.size_bytes / 2**20:,.1f} MB, {made.rows:,} rows in {made.tables} tables, "
            f"in {time.monotonic() - began:.1f} s."
        )
        if not passphrase:
            self.stdout.write("It is not encrypted, and holds all conversations and the secret key: keep it safe.")
        if (secrets := look_at_sealed_secrets()).have_another_key:
            self.stderr.write(
                "SECRET_KEY is another one than it was. This one is in the backup, and can't read the newest secrets: "
                f"{secrets.describe()}. {spell_command('doctor')} says what to do."
            )
        if scheduled:
            self._delete_old(target)
        named = ["--passphrase-file", str(passphrase_file)] if passphrase_file else []
        self.stdout.write(f"Try it now and then: {spell_command('verify_backup', str(target), *named)}")

    def _delete_old(self, newest: Path) -> None:
        try:
            deleted = delete_old_backups(
                newest.parent, site=site_of_backups(), keep=settings.BACKUPS_KEPT, newest=newest
            )
        except OSError as error:
            raise CommandError(f"{newest} was made; older ones stay: {error}", returncode=OLD_ONES_STAY) from None
        for path in deleted:
            self.stdout.write(f"Deleted {path}.")

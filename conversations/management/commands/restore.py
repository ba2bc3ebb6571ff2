"""`manage.py restore FILE`: fill the empty database of a new site from a backup, and check all of it."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from chatsite.backups.backup_file import BackupFile, BackupUnreadable
from chatsite.backups.database_copy import DatabaseCopyFailed
from conversations.management.backups import RestoreRefused, add_passphrase_argument, read_passphrase, restore_backup
from conversations.management.interruptible_command import InterruptibleCommand
from conversations.management.startup import require_connection


class Command(InterruptibleCommand):
    help = "Fill an empty database from a backup: all of it or nothing. It is compared with what the backup says."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        add_passphrase_argument(parser)
        parser.add_argument(
            "--keep-secret-key",
            action="store_true",
            help="go on with another SECRET_KEY: second factors and other sealed secrets can't be read then",
        )
        parser.add_argument("--show-secret-key", action="store_true", help="print the backup's SECRET_KEY, and no more")

    def handle(self, *, file: Path, passphrase_file: Path | None, **options: Any) -> None:
        backup = BackupFile(file, read_passphrase(passphrase_file))
        try:
            if options["show_secret_key"]:
                self.stdout.write(backup.check()["secret_key"])
                return
            require_connection()
            head, wrong = restore_backup(
                backup, keeps_secret_key=options["keep_secret_key"], tell=lambda line: self.stdout.write(f"{line} …")
            )
        except (BackupUnreadable, RestoreRefused, DatabaseCopyFailed) as error:
            raise CommandError(str(error)) from None
        for line in wrong:
            self.stderr.write(f"Not as it was: {line}.")
        if wrong:
            raise CommandError(f"The database was restored, and {len(wrong)} things are not as they were.")
        self.stdout.write(f"Restored: the site of {head.made_at:%Y-%m-%d %H:%M} UTC, by version {head.version}.")
        self.stdout.write("Counts, triggers, sums, secrets and windows are as they were.")

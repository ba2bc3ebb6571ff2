"""`manage.py verify_backup FILE`: restore a backup into a database of its own, check it, and throw that away."""

from __future__ import annotations

import subprocess
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from chatsite.backups.backup_file import BackupFile, BackupUnreadable
from chatsite.command_line import own_command
from chatsite.parent_process import bind_to_parent
from conversations.management.backups import add_passphrase_argument, bytes_when_restored, read_passphrase
from conversations.management.database_command import reason_of_refusal
from conversations.management.interruptible_command import InterruptibleCommand
from conversations.management.room import MAY_BE_FULL, explain_failure, free_bytes
from conversations.management.throw_away_site import throw_away_site


class Command(InterruptibleCommand):
    help = "Restore a backup into a throw-away embedded database and check it. The site's own data are not touched."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        add_passphrase_argument(parser)

    def handle(self, *, file: Path, passphrase_file: Path | None, **options: Any) -> None:
        passphrase = read_passphrase(passphrase_file)
        try:
            contents = BackupFile(file, passphrase).check()  # before a database is made for it
        except BackupUnreadable as error:
            raise CommandError(str(error)) from None
        folder = Path(tempfile.gettempdir())
        free, size = free_bytes(folder), bytes_when_restored(file, contents)
        with throw_away_site(BACKUP_PASSPHRASE=passphrase) as environment:
            restored = subprocess.run(  # noqa: S603
                [*own_command(), "restore", str(file.absolute())],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                preexec_fn=bind_to_parent(),
            )
        if restored.returncode:
            reason = reason_of_refusal(restored.stderr).partition(MAY_BE_FULL)[0].strip()
            raise CommandError(explain_failure(reason, f"TMPDIR, {folder},", free=free, database_bytes=size))
        self.stdout.write(f"{file} can be restored: counts, triggers, sums, secrets and windows are as they were.")

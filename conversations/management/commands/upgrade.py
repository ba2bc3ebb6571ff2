"""`manage.py upgrade`: back the database up and bring it up to date; with `--rehearse` try that on a copy."""

from __future__ import annotations

import argparse
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from chatsite.backups.backup_file import BackupNotWritten
from chatsite.backups.database_copy import DatabaseCopyFailed
from chatsite.command_line import spell_command
from chatsite.version import product_version
from conversations.management.backups import (
    add_passphrase_argument,
    make_backup,
    place_of_backup,
    read_passphrase,
)
from conversations.management.interruptible_command import InterruptibleCommand
from conversations.management.startup import require_database
from conversations.management.upgrades import (
    IN_COPY,
    RehearsalFailed,
    Upgrade,
    migration_history,
    rehearse_upgrade,
    upgrade_copy,
    upgrade_database,
)


class Command(InterruptibleCommand):
    help = (
        "Back the database up, then bring it up to date while the site runs. A killed one goes on when run again; "
        "with --rehearse do so with a copy of the database, and say how long it took."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rehearse", action="store_true", help="upgrade a copy in a throw-away database, and change nothing here"
        )
        parser.add_argument(
            "--without-backup", action="store_true", help="where there is one already, or a snapshot of the disk"
        )
        parser.add_argument(IN_COPY, action="store_true", help=argparse.SUPPRESS)
        add_passphrase_argument(parser)

    def handle(self, *, rehearse: bool, without_backup: bool, in_copy: bool, **options: Any) -> None:
        passphrase = read_passphrase(options["passphrase_file"])
        require_database(will_migrate=True)
        try:
            if in_copy:
                self.stdout.write(upgrade_copy(sys.stdin.buffer))
                return
            waiting = migration_history().waiting
            if not waiting:
                self.stdout.write(f"The database is as version {product_version()} needs it: there is nothing to do.")
            elif rehearse:
                self._rehearse(len(waiting))
            else:
                self._upgrade(without_backup=without_backup, passphrase=passphrase)
        except (BackupNotWritten, DatabaseCopyFailed, RehearsalFailed) as error:
            raise CommandError(f"{error}\nThe database is as it was." if rehearse else str(error)) from None

    def _upgrade(self, *, without_backup: bool, passphrase: str) -> None:
        began, version = time.monotonic(), migration_history().version
        if version and not without_backup:
            target = place_of_backup(None)
            made = make_backup(target, passphrase=passphrase, before_upgrade_of=version)
            self.stdout.write(f"Backup: {target} ({made.size_bytes / 2**20:,.1f} MB, {made.rows:,} rows)")
        self._write_seconds(upgrade_database())
        here = f"from version {version} to {product_version()}" if version else f"to version {product_version()}"
        self.stdout.write(f"The database was upgraded {here} in {time.monotonic() - began:.1f} s.")

    def _rehearse(self, count: int) -> None:
        wait = "1 migration waits" if count == 1 else f"{count} migrations wait"
        self.stdout.write(f"{wait}. Copying the database, and upgrading the copy …")
        began = time.monotonic()
        done: Upgrade = rehearse_upgrade()
        self._write_seconds(done.seconds)
        for line in done.other_counts:
            self.stdout.write(f"Other rows than before: {line}")
        for line in done.wrong_sums:
            self.stderr.write(f"A sum does not match the ledger: {line}")
        if done.lost_rows or done.wrong_sums:
            raise CommandError(
                f"The copy was upgraded. Tables with fewer rows: {len(done.lost_rows)}, wrong sums: "
                f"{len(done.wrong_sums)}. The database is as it was: keep the version that made it, and report this."
            )
        rows = "" if done.other_counts else ", and all tables have the rows they had"
        self.stdout.write(f"Sums match the ledger{rows}.")
        self.stdout.write(
            f"The copy was made and upgraded in {time.monotonic() - began:.1f} s, and thrown away. Nothing was changed "
            f"here. To do it: {spell_command('upgrade')}"
        )

    def _write_seconds(self, seconds: dict[str, float]) -> None:
        for name, taken in seconds.items():
            self.stdout.write(f"{name}: {taken:.1f} s")

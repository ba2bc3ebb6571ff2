"""`manage.py verify_backup FILE`: restore a backup into a database of its own, check it, and throw that away."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from conversations.management.backups import PASSPHRASE, add_passphrase_argument, read_passphrase

LOCAL = {"SITE_URL": "http://localhost:8000", "DATABASE_URL": "", "SECRET_KEY": ""}


class Command(BaseCommand):
    help = "Restore a backup into a throw-away embedded database and check it. The site's own data are not touched."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        add_passphrase_argument(parser)

    def handle(self, *, file: Path, passphrase_file: Path | None, **options: Any) -> None:
        passphrase = read_passphrase(passphrase_file)
        with tempfile.TemporaryDirectory(prefix="windowseat-verify-") as folder:
            Path(folder).chmod(0o755)  # the embedded server has an account of its own where root starts it
            restored = subprocess.run(  # noqa: S603
                [sys.executable, "manage.py", "restore", str(file.absolute())],
                cwd=settings.BASE_DIR,
                env=os.environ | LOCAL | {"VAR_DIR": f"{folder}/var", PASSPHRASE: passphrase},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        if restored.returncode:
            raise CommandError(restored.stderr.strip().removeprefix("CommandError: ") or "It could not be restored.")
        self.stdout.write(f"{file} can be restored: counts, triggers, sums, secrets and windows are as they were.")

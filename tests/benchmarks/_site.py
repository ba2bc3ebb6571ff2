"""A site of the benchmark's own: its database is an embedded PostgreSQL in a folder that goes with it."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
import psutil
from django.core.management import call_command
from django.db import connections


@contextmanager
def temporary_site(**environment: str) -> Iterator[psutil.Process]:
    """Set Django up on an empty, migrated database; yield PostgreSQL's main process, and remove all at the end.

    What the developer's `.env` says does not count. Child processes inherit the site through `os.environ`.
    """
    folder = Path(tempfile.mkdtemp(prefix="windowseat-"))
    folder.chmod(0o711)  # as root, the database runs under another account that has to pass through
    os.environ |= {"VAR_DIR": str(folder), "DATABASE_URL": "", "REDIS_URL": "", "ENV_FILE": os.devnull, **environment}
    os.environ["DJANGO_SETTINGS_MODULE"] = "chatsite.settings"
    django.setup()
    call_command("migrate", verbosity=0)
    postgres = psutil.Process(int((folder / "postgres" / "postmaster.pid").read_text().split()[0]))
    try:
        yield postgres
    finally:
        connections.close_all()
        postgres.send_signal(signal.SIGQUIT)  # at once: nothing of it is needed any more
        psutil.wait_procs([postgres])
        shutil.rmtree(folder)

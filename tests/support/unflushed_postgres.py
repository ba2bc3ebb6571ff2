"""The PostgreSQL of the tests does not wait for the disk: a killed process loses nothing by that, a power cut might."""

from __future__ import annotations

import os
import signal
from functools import cache

from django.conf import settings

from chatsite.postgres.embedded.server_files import ServerPaths
from tests.support.source import PROJECT

OWN_FOLDER = PROJECT / "var" / "test" / "postgres"  # may be deleted; a test's server elsewhere is as people have it
LINES = "fsync = off\nfull_page_writes = off\n"


def is_ours() -> bool:
    """Tell whether the server that all tests share is the one in the tests' own folder."""
    return bool(settings.DATABASES["default"].get("EMBEDDED_DIR") == OWN_FOLDER)


@cache
def skip_flushing() -> None:
    """Let the server that all tests share, which must run, flush nothing; but only one in the tests' own folder."""
    if not is_ours():
        return
    server = ServerPaths(OWN_FOLDER)
    configuration = OWN_FOLDER / "postgresql.auto.conf"
    if LINES not in configuration.read_text(encoding="utf-8"):
        with configuration.open("a", encoding="utf-8") as file:
            file.write(LINES)
    os.kill(int(server.postmaster_pid.read_text().splitlines()[0]), signal.SIGHUP)

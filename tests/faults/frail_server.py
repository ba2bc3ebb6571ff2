"""A PostgreSQL server of its own that a test may kill, for faults of the whole server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chatsite.postgres.embedded.data_folder import ROLE
from chatsite.postgres.embedded.server import DATABASE, EmbeddedServer
from chatsite.postgres.embedded.server_files import PORT
from tests.postgres.processes import SeenServer

from .databases import Database, prepare


@contextmanager
def standing_still(*process_ids: int) -> Iterator[None]:
    for process_id in process_ids:
        os.kill(process_id, signal.SIGSTOP)
    try:
        yield
    finally:
        for process_id in process_ids:
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGCONT)


class FrailServer:
    """A PostgreSQL of its own, which is not the site's to start again."""

    def __init__(self, var_dir: Path) -> None:
        self._server = EmbeddedServer(var_dir / "postgres")
        self._seen = SeenServer(var_dir)
        self.start()
        address = {"host": str(self._server.paths.socket_dir), "port": str(PORT), "user": ROLE}
        self.database = Database(DATABASE, address)

    def start(self) -> None:
        self._server.ensure_running()

    @property
    def process_id(self) -> int:
        return self._seen.process_id

    def kill(self) -> None:
        self._seen.kill()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let all of its processes stand still, as a machine does that is moved or has no memory left."""
        children = subprocess.run(["pgrep", "-P", str(self.process_id)], capture_output=True, text=True, check=True)
        with standing_still(self.process_id, *map(int, children.stdout.split())):
            yield


@contextmanager
def run_frail_server(parent: str | Path = "/tmp") -> Iterator[FrailServer]:
    """Run one with the site's tables in a folder of its own, within *parent*."""
    folder = Path(tempfile.mkdtemp(prefix="seat-", dir=parent))
    folder.chmod(0o711)  # PostgreSQL may run as another account
    server = FrailServer(folder / "var")
    try:
        prepare(server.database)
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder)

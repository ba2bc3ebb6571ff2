"""A PostgreSQL server of its own that a test may kill, for faults of the whole server."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chatsite.postgres.embedded.data_folder import ROLE
from chatsite.postgres.embedded.server import DATABASE, EmbeddedServer
from chatsite.postgres.embedded.server_files import PORT
from tests.postgres.processes import SeenServer

from .databases import Database, prepare


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
def run_frail_server() -> Iterator[FrailServer]:
    """Run one with the site's tables in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="seat-", dir="/tmp"))
    folder.chmod(0o711)  # PostgreSQL may run as another account
    server = FrailServer(folder / "var")
    try:
        prepare(server.database)
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder)

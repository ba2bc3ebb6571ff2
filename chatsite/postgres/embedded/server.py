"""The embedded PostgreSQL server: start it, wait until it is ready, say how Django connects to it.

The package's docstring explains the files and locks.
"""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import conninfo, errors, sql

from .data_folder import ROLE, SERVER_ENVIRONMENT, prepare_data_folder
from .errors import PostgresDidNotStart, did_not_start
from .server_files import PORT, ServerPaths, binaries, lock_shared, open_beside_data, try_lock_exclusive
from .system_account import SystemAccount

logger = logging.getLogger(__name__)
DATABASE = "windowseat"
START_TIMEOUT_SECONDS = 120.0  # after a crash the server first replays its log
QUIET_SECONDS = 2.0  # a process that waits for another one says so after these
OTHER_HAS_IT = "Another process starts or stops the embedded PostgreSQL, or upgrades its data."
OTHERS_SECONDS = 30.0  # for other processes that have just ended to leave
STOP_TIMEOUT_SECONDS = 300.0  # it writes what is in memory to the disk first
POLL_SECONDS = 0.01
KEEPER = Path(__file__).with_name("keeper.py")

OPTIONS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "300",  # a pool for each of several processes, and some more for tests with many connections
    "cluster_name": "windowseat",
    # The log is for the server's own errors. Failed statements are the site's to report, and hold what users wrote.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
}


class EmbeddedServer:
    """One process's access to the server whose data lies in a folder. Safe to use from several threads."""

    def __init__(
        self, data: Path, *, programs: Path | None = None, alias: Path | None = None, held_lock: int | None = None
    ) -> None:
        """Use the server in *data*.

        One of another version needs its *programs*, an *alias*, so that no other process finds it, and a descriptor
        with a lock that is held as long as it runs.
        """
        self.paths = ServerPaths(data, alias)
        self._programs = programs or binaries()
        self._held_locks = () if held_lock is None else (held_lock,)
        self._users_lock: int | None = None
        self._has_database = False

    def connection_settings(self) -> dict[str, Any]:
        """Return the settings of Django's `DATABASES` with which to connect, once the server takes connections."""
        return {"HOST": str(self.ensure_running()), "PORT": PORT, "USER": ROLE}

    def ensure_running(self) -> Path:
        """Return the folder of the server's socket, once it listens there and has the site's database.

        From the first call on the server runs for as long as this process. Raises `PostgresDidNotStart`.
        """
        try:
            self._lock_users_file()
            self._wait_until_ready()
        except OSError as error:
            raise PostgresDidNotStart(f"The embedded PostgreSQL can't be started: {error}") from error
        if not self._has_database:
            self._create_database()
        return self.paths.socket_dir

    def set_aside(self, data: Path) -> None:
        """Rename the data folder to *data*, once the server has stopped; this process is none of its users then.

        Raises `PostgresDidNotStart` where other processes go on using it.
        """
        self.leave()
        deadline = time.monotonic() + OTHERS_SECONDS
        while (lock := try_lock_exclusive(self.paths.lock)) is None:
            if time.monotonic() > deadline:
                raise PostgresDidNotStart(f"{self.paths.data} is used by other processes of the site. Stop them all.")
            time.sleep(POLL_SECONDS)
        try:
            self.paths.data.rename(data)
        finally:
            os.close(lock)

    def stop(self) -> None:
        """Leave the server, and return once it has stopped. Raises `TimeoutError` where others go on using it."""
        self.leave()
        wait_until_stopped(self.paths.alias or self.paths.data)

    def leave(self) -> None:
        """Stop being a user of the server, which stops once no process is one."""
        lock, self._users_lock, self._has_database = self._users_lock, None, False
        if lock is not None:
            os.close(lock)

    def is_ready(self) -> bool:
        """Return whether a server takes connections, by what it wrote into its postmaster.pid."""
        try:
            lines = self.paths.postmaster_pid.read_text().splitlines()
        except FileNotFoundError:
            return False
        is_ours = len(lines) >= 8 and lines[4].strip() == str(self.paths.socket_dir)
        return is_ours and lines[7].strip() == "ready" and is_alive(int(lines[0]))

    def _lock_users_file(self) -> None:
        """Become a user of the server: hold a shared lock until this process ends."""
        if self._users_lock is None:
            self.paths.data.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._users_lock = lock_shared(self.paths.users)

    def _wait_until_ready(self) -> None:
        began = time.monotonic()
        was_started = was_told = False
        while True:
            lock = try_lock_exclusive(self.paths.lock)
            if lock is not None:
                if was_started:
                    os.close(lock)
                    raise did_not_start("The embedded PostgreSQL did not start.", log=self.paths.log)
                self._start(lock)
                was_started = True
            elif self.is_ready():
                return
            elif time.monotonic() > began + START_TIMEOUT_SECONDS:
                reason = f"The embedded PostgreSQL did not get ready in {START_TIMEOUT_SECONDS:g} seconds."
                raise did_not_start(reason if was_started else f"{reason} {OTHER_HAS_IT}", log=self.paths.log)
            elif not (was_started or was_told) and time.monotonic() > began + QUIET_SECONDS:
                logger.warning("%s This one waits for it.", OTHER_HAS_IT, extra={"data": str(self.paths.data)})
                was_told = True
            time.sleep(POLL_SECONDS)

    def _start(self, lock: int) -> None:
        """Start the server and its keeper; both inherit *lock*."""
        self._has_database = False
        try:
            prepare_data_folder(self.paths, self._programs, lock)
            _make_private(self.paths.socket_dir, SystemAccount.owning(self.paths.data))
            # The process ids in them may belong to other processes by now, so PostgreSQL could refuse to remove them.
            for stale in self.paths.stale_files():
                stale.unlink(missing_ok=True)
            self._run_keeper(lock)
        finally:
            os.close(lock)

    def _run_keeper(self, lock: int) -> None:
        arguments = [str(self.paths.users), str(lock), str(self.paths.data), str(self.paths.socket_dir)]
        log = open_beside_data(self.paths.log, os.O_WRONLY | os.O_TRUNC | os.O_APPEND)
        try:
            subprocess.run(  # noqa: S603
                [sys.executable, "-I", "-S", str(KEEPER), *arguments, *self._server_command()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock, *self._held_locks],
                start_new_session=True,  # Ctrl-C in a terminal is for the site; the server goes after it
                env=SERVER_ENVIRONMENT,
                cwd="/",
                check=True,
            )
        except subprocess.CalledProcessError as error:
            raise did_not_start("PostgreSQL's keeper did not start.", log=self.paths.log) from error
        finally:
            os.close(log)

    def _server_command(self) -> list[str]:
        # PostgreSQL splits this setting at commas: quoted, any path is one entry.
        quoted_socket_dir = '"' + str(self.paths.socket_dir).replace('"', '""') + '"'
        options = {**OPTIONS, "unix_socket_directories": quoted_socket_dir}
        settings = [argument for name, value in options.items() for argument in ("-c", f"{name}={value}")]
        return [str(self._programs / "postgres"), "-D", str(self.paths.data), *settings]

    def _create_database(self) -> None:
        address = conninfo.make_conninfo(host=str(self.paths.socket_dir), port=PORT, user=ROLE, dbname="postgres")
        with psycopg.connect(address, autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if not found:
                # Another process may be doing the same.
                with suppress(errors.DuplicateDatabase, errors.UniqueViolation):
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
        self._has_database = True


@cache
def embedded_server(data: Path) -> EmbeddedServer:
    """Return this process's one access to the server in *data*."""
    return EmbeddedServer(data)


def is_stopped(data: Path) -> bool:
    """Tell whether no server of *data* runs, starts or stops; nothing is made where there never was one."""
    path = ServerPaths(data).lock
    lock = try_lock_exclusive(path) if path.exists() else None
    if lock is not None:
        os.close(lock)
    return lock is not None or not path.exists()


def wait_until_stopped(data: Path) -> None:
    """Return once no server of *data* runs; its last user has ended before. Raises `TimeoutError`."""
    deadline = time.monotonic() + STOP_TIMEOUT_SECONDS
    while not is_stopped(data):
        if time.monotonic() > deadline:
            raise TimeoutError(f"The embedded PostgreSQL in {data} did not stop in {STOP_TIMEOUT_SECONDS:g} seconds.")
        time.sleep(POLL_SECONDS)


def program(name: str) -> Path:
    """Return a program of PostgreSQL 18 that comes with the server, such as `psql` or `pg_dump`."""
    return binaries() / name


def _make_private(folder: Path, account: SystemAccount) -> None:
    """Make *folder* for *account* alone; raises `PostgresDidNotStart` if it exists with another owner or open mode."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        account.take_over(folder)
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != account.uid or info.st_mode & 0o077:
        raise PostgresDidNotStart(f"{folder} should be a folder of uid {account.uid} alone. Remove it.")


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

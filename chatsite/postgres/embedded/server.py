"""The embedded PostgreSQL as its users see it: ask for it and it runs. The package's docstring says how."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import psycopg
from psycopg import conninfo, errors, sql

from .account import Account
from .data_folder import ROLE, SERVER_ENVIRONMENT, prepare_data_folder
from .errors import PostgresDidNotStart, did_not_start
from .file_locks import hold_shared, open_beside_data, try_exclusive
from .paths import PORT, ServerPaths, binaries

DATABASE = "windowseat"
START_TIMEOUT_SECONDS = 120.0  # after a crash the server first replays its log
POLL_SECONDS = 0.01
KEEPER = Path(__file__).with_name("keeper.py")

OPTIONS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "300",  # a pool for each of several processes, and some more for tests of crowds
    "cluster_name": "windowseat",
    # The log is for the server's own troubles. Failed statements are the site's to report, and hold people's
    # text.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
}


class EmbeddedServer:
    """One process's access to the server whose data lies in a folder. Safe to use from several threads."""

    def __init__(self, data: Path) -> None:
        self.paths = ServerPaths(data)
        self._membership: int | None = None
        self._has_database = False

    def ensure_running(self) -> Path:
        """Return the folder of the server's socket, once it listens there and has the site's database.

        From the first call on the server runs for as long as this process. Raises `PostgresDidNotStart`.
        """
        try:
            self._join_users()
            self._wait_until_ready()
        except OSError as error:
            raise PostgresDidNotStart(f"The embedded PostgreSQL can't be started: {error}") from error
        if not self._has_database:
            self._create_database()
        return self.paths.socket_dir

    def is_ready(self) -> bool:
        """Say whether a server takes connections, by what it wrote into its postmaster.pid."""
        try:
            lines = self.paths.postmaster_pid.read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= 8 and lines[7].strip() == "ready" and _is_alive(int(lines[0]))

    def _join_users(self) -> None:
        if self._membership is None:
            self.paths.data.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._membership = hold_shared(self.paths.users)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        was_started = False
        while True:
            lock = try_exclusive(self.paths.lock)
            if lock is not None:
                if was_started:
                    os.close(lock)
                    raise did_not_start("The embedded PostgreSQL did not start.", log=self.paths.log)
                self._start(lock)
                was_started = True
            elif self.is_ready():
                return
            elif time.monotonic() > deadline:
                raise did_not_start("The embedded PostgreSQL did not get ready.", log=self.paths.log)
            time.sleep(POLL_SECONDS)

    def _start(self, lock: int) -> None:
        """Start the server and its keeper, who take over *lock*."""
        self._has_database = False
        try:
            prepare_data_folder(self.paths)
            _make_private(self.paths.socket_dir, Account.owning(self.paths.data))
            # Their process ids may belong to others by now, so PostgreSQL could refuse to remove them.
            for leftover in self.paths.left_by_a_killed_server():
                leftover.unlink(missing_ok=True)
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
                pass_fds=[lock],
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
        # A list setting of its own syntax: quoted, so that any path is one entry.
        quoted_socket_dir = '"' + str(self.paths.socket_dir).replace('"', '""') + '"'
        options = {**OPTIONS, "unix_socket_directories": quoted_socket_dir}
        settings = [argument for name, value in options.items() for argument in ("-c", f"{name}={value}")]
        return [str(binaries() / "postgres"), "-D", str(self.paths.data), *settings]

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


def _make_private(folder: Path, account: Account) -> None:
    """Make *folder* for *account* alone; raises `PostgresDidNotStart` if somebody else has made it before."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        account.give(folder)
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != account.uid or info.st_mode & 0o077:
        raise PostgresDidNotStart(f"{folder} should be a folder of uid {account.uid} alone. Remove it.")


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

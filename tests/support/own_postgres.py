"""A PostgreSQL server of an operator's own: of an earlier major version than the embedded one, with pgvector."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chatsite.postgres.embedded.server_files import binaries
from chatsite.postgres.embedded.system_account import choose_account, grant_read_access
from tests.faults.databases import Database

PROGRAMS = binaries().parents[1] / "pginstall" / "bin"  # PostgreSQL 16, from the same package
OPTIONS = "-c listen_addresses= -c fsync=off -c unix_socket_directories={folder}"


@contextmanager
def own_postgres() -> Iterator[Database]:
    """Yield an empty database there, which belongs to a role that is no superuser."""
    with tempfile.TemporaryDirectory(prefix="own-postgres-") as name:
        folder = Path(name)
        account = choose_account(folder)
        account.take_over(folder)
        grant_read_access(account, PROGRAMS.parent)

        def run(program: str, *arguments: str) -> None:
            command = [str(PROGRAMS / program), "-D", str(folder / "data"), *arguments]
            environment = {"LC_ALL": "C", "PATH": os.environ["PATH"]}
            options = account.subprocess_options()
            subprocess.run(command, check=True, env=environment, cwd="/", stdout=subprocess.DEVNULL, **options)

        run("initdb", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync", "--no-instructions")
        run("pg_ctl", "start", "--wait", "--silent", f"--log={folder}/log", "-o", OPTIONS.format(folder=folder))
        try:
            server = Database("postgres", {"host": str(folder), "user": "postgres"})
            server.rows("CREATE ROLE site LOGIN")
            server.rows("CREATE DATABASE chats OWNER site")
            Database("chats", server.address).rows("CREATE EXTENSION vector")  # which needs a superuser
            yield Database("chats", {"host": str(folder), "user": "site"})
        finally:
            run("pg_ctl", "stop", "--wait", "--silent", "--mode=immediate")

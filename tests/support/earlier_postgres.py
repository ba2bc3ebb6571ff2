"""The data folder of an embedded PostgreSQL of an earlier major version, as an earlier Windowseat would make it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from chatsite.backups.database_copy import dump_database, restore_database
from chatsite.postgres.embedded.data_folder import ROLE, SERVER_ENVIRONMENT, SUPERUSER
from chatsite.postgres.embedded.server import DATABASE
from chatsite.postgres.embedded.system_account import choose_account, grant_passage, grant_read_access
from tests.faults.databases import Database
from tests.support.own_postgres import PROGRAMS

VERSION = "16"
OPTIONS = "-c listen_addresses= -c fsync=off -c unix_socket_directories={folder}"


def make_earlier_data(data: Path, content: Database) -> None:
    """Make the folder *data*, with all that *content* has."""
    data.parent.mkdir(parents=True, exist_ok=True)
    data.parent.chmod(0o711)
    account = choose_account(data.parent)
    data.mkdir(mode=0o700)
    account.take_over(data)
    grant_passage(account, data)
    grant_read_access(account, PROGRAMS.parent)
    _run(account, "initdb", data, f"--username={SUPERUSER}", "--auth=trust", "--encoding=UTF8", "--no-sync")
    with earlier_server(data) as socket:
        with psycopg.connect(host=socket, user=SUPERUSER, dbname="template1", autocommit=True) as session:
            session.execute("CREATE EXTENSION vector")
            session.execute(f"CREATE ROLE {ROLE} LOGIN CREATEDB")
        with psycopg.connect(host=socket, user=SUPERUSER, dbname="postgres", autocommit=True) as session:
            session.execute(f"CREATE DATABASE {DATABASE} OWNER {ROLE}")
        source = {**content.address, "dbname": content.name}
        with psycopg.connect(**source) as there:
            there.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            [(snapshot,)] = there.execute("SELECT pg_export_snapshot()")
            parts = dump_database(source, snapshot=snapshot, part_bytes=2**20)
            restore_database({"host": socket, "user": ROLE, "dbname": DATABASE}, parts)


@contextmanager
def earlier_server(data: Path) -> Iterator[str]:
    """Run the server of *data*, and yield where its socket is."""
    account = choose_account(data.parent)
    options = OPTIONS.format(folder=data)
    _run(account, "pg_ctl", data, "start", "--wait", "--silent", f"--log={data}/log", "-o", options)
    try:
        yield str(data)
    finally:
        _run(account, "pg_ctl", data, "stop", "--wait", "--silent", "--mode=fast")


def _run(account, program: str, data: Path, *arguments: str) -> None:
    command = [str(PROGRAMS / program), "-D", str(data), *arguments]
    options = account.subprocess_options()
    subprocess.run(command, check=True, env=SERVER_ENVIRONMENT, cwd="/", stdout=subprocess.DEVNULL, **options)

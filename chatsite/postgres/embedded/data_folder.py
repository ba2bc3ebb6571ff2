"""The data folder of the embedded PostgreSQL: create it with initdb, and check its owner and version."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from chatsite.command_line import spell_command

from .errors import PostgresDidNotStart
from .server_files import ServerPaths, binaries
from .system_account import SystemAccount, choose_account, grant_passage, grant_read_access, require_usable_owner

VERSION = "18"
ROLE = "windowseat"
SUPERUSER = "postgres"
INITDB_BYTES = 64 * 2**20  # data of a server without a database take a bit less
# Nothing of the user's environment (PGPORT, PGOPTIONS, LC_ALL, ...) may reach the server.
SERVER_ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC"}

INITDB_OPTIONS = (
    f"--username={SUPERUSER}",
    "--auth-local=trust",  # only the account of the server gets to its socket
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--no-instructions",
)
FIRST_STATEMENTS = f"CREATE EXTENSION vector;\nCREATE ROLE {ROLE} LOGIN CREATEDB;\n"


def prepare_data_folder(paths: ServerPaths, programs: Path, lock: int) -> None:
    """Make the data folder if it is missing; let the server's account reach it and the *programs*.

    What is run for that holds *lock*, too: where this process is killed, others wait until it has ended. Raises
    `PostgresDidNotStart`.
    """
    if not paths.data.exists():
        if (upgraded := upgraded_folder(paths.data)).exists():
            upgraded.rename(paths.data)  # an upgrade was killed between its last two steps
        else:
            _make_data_folder(paths.data, lock)
    account = require_usable_owner(paths.data)
    grant_passage(account, paths.data)
    grant_read_access(account, programs.parent)
    version = data_version(paths.data)
    if version != VERSION and programs == binaries():
        raise PostgresDidNotStart(_say_other_version(paths.data, version))


def upgraded_folder(data: Path) -> Path:
    """Return where the data of a newer version are for the moment in which they take the place of *data*."""
    return data.with_name(data.name + ".upgraded")


def data_version(data: Path) -> str:
    """Return the major version of PostgreSQL that made *data*. Raises `OSError`."""
    return (data / "PG_VERSION").read_text().strip()


def _say_other_version(data: Path, version: str) -> str:
    """Return what to do with data of another major version, in one line. They are never changed by another one."""
    made = (
        f"{data} was made by PostgreSQL {version}, and this version of Windowseat has {VERSION}. Nothing was changed."
    )
    if version.isdecimal() and int(version) > int(VERSION):
        return f"{made} Start the version of Windowseat that made it, or a newer one."
    return f"{made} To take it over: {spell_command('upgrade_postgres')}"


def _make_data_folder(data: Path, lock: int) -> None:
    """Make it under another name and rename it when complete: a kill in between leaves no half-made one."""
    account = choose_account(data.parent)
    unfinished = data.with_name(data.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    account.take_over(unfinished)
    grant_passage(account, unfinished)
    grant_read_access(account, binaries().parent)
    try:
        _run(account, lock, "initdb", *INITDB_OPTIONS, "-D", str(unfinished))
        single_user = ("--single", "-c", "exit_on_error=on", "-D", str(unfinished), "template1")
        _run(account, lock, "postgres", *single_user, statements=FIRST_STATEMENTS)
    except PostgresDidNotStart as error:
        shutil.rmtree(unfinished, ignore_errors=True)  # it may be what has filled the disk
        if (free := shutil.disk_usage(data.parent).free) < INITDB_BYTES:
            reason = f"PostgreSQL's data can't be made: {data.parent} has only {free / 2**20:,.0f} MB free."
            raise PostgresDidNotStart(reason, output=error.output) from None
        raise
    unfinished.rename(data)


def _run(account: SystemAccount, lock: int, program: str, *arguments: str, statements: str = "") -> None:
    command = [str(binaries() / program), *arguments]
    done = subprocess.run(  # noqa: S603 -- our own programs, no shell
        command,
        input=statements,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env=SERVER_ENVIRONMENT,
        cwd="/",
        pass_fds=[lock],
        **account.subprocess_options(),
    )
    if done.returncode != 0:
        how = f"was ended by signal {-done.returncode}" if done.returncode < 0 else "failed"
        raise PostgresDidNotStart(f"PostgreSQL's data can't be made ({program} {how}).", output=done.stdout)

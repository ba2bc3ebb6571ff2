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


def prepare_data_folder(paths: ServerPaths) -> None:
    """Make the data folder if it is missing; let the server's account reach it and the programs.

    Raises `PostgresDidNotStart`.
    """
    if not paths.data.exists():
        _make_data_folder(paths.data)
    account = require_usable_owner(paths.data)
    grant_passage(account, paths.data)
    grant_read_access(account, binaries().parent)
    version = (paths.data / "PG_VERSION").read_text().strip()
    if version != VERSION:
        raise PostgresDidNotStart(_say_other_version(paths.data, version))


def _say_other_version(data: Path, version: str) -> str:
    """Return what to do with data of another major version, in one line. They are never changed by another one."""
    made = (
        f"{data} was made by PostgreSQL {version}, and this version of Windowseat has {VERSION}. Nothing was changed."
    )
    if version.isdecimal() and int(version) > int(VERSION):
        return f"{made} Start the version of Windowseat that made it, or a newer one."
    return (
        f"{made} With the version that made it: {spell_command('backup', 'chats.backup')}. Rename the folder to "
        f"{data.name}-{version}, and keep it. Then with this one: {spell_command('restore', 'chats.backup')} and "
        f"{spell_command('serve')}."
    )


def _make_data_folder(data: Path) -> None:
    """Make it under another name and rename it when complete: a kill in between leaves no half-made one."""
    account = choose_account(data.parent)
    unfinished = data.with_name(data.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    account.take_over(unfinished)
    grant_passage(account, unfinished)
    grant_read_access(account, binaries().parent)
    _run(account, "initdb", *INITDB_OPTIONS, "-D", str(unfinished))
    single_user = ("--single", "-c", "exit_on_error=on", "-D", str(unfinished), "template1")
    _run(account, "postgres", *single_user, statements=FIRST_STATEMENTS)
    unfinished.rename(data)


def _run(account: SystemAccount, program: str, *arguments: str, statements: str = "") -> None:
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
        **account.subprocess_options(),
    )
    if done.returncode != 0:
        raise PostgresDidNotStart(f"PostgreSQL's data can't be made ({program} failed).", output=done.stdout)

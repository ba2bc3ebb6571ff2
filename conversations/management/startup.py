"""Startup of `serve`: bind the socket, migrate the database, and compose the banner.

The socket is taken before anything else is done, with a sentence for the operator when it is taken already. Migrations
may be started by several processes at once.
"""

from __future__ import annotations

import errno
import re
import socket
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from psycopg import Error as PsycopgError

from chatsite.command_line import spell_command
from chatsite.health.database_probe import connect_briefly
from chatsite.schema.problems import schema_problem
from conversations.providers.catalog.language_models import demo_is_used, language_models

from .announcements import announce


def banner(*, first_admin_url: str | None, has_another_key: bool = False) -> str:
    """Return the lines: where the site is, who answers, and how a new site gets its admin.

    *has_another_key*: what the database has was sealed with another secret key.
    """
    lines = [
        f"{settings.SITE_NAME} is ready: {settings.SITE_URL}",
        f"Replies come from {_replying_models()}.",
        f"Data are in {settings.VAR_DIR}{_database()}. {_settings()}",
    ]
    if has_another_key:
        lines.append(f"SECRET_KEY is another one than it was. What to do: {spell_command('doctor', 'secrets')}")
    if first_admin_url:
        lines += ["This site has no admin yet. The first account made through this link becomes it, once:"]
        lines += [f"  {first_admin_url}"]
    return "\n".join(["", *lines, "Stop it with Ctrl+C.", ""])


def _replying_models() -> str:
    if demo_is_used():
        return "the built-in demo model, which only quotes; OPENAI_API_KEY or OPENAI_BASE_URL connects another"
    return ", ".join(language_models())


def _settings() -> str:
    if Path(settings.SETTINGS_FILE).is_file():
        return f"Settings: {settings.SETTINGS_FILE}, and the environment."
    return f"Settings: the environment; there is no file {settings.SETTINGS_FILE}."


def _database() -> str:
    return " and in the database of DATABASE_URL" if settings.DATABASE_URL else ""


BACKLOG = 2048
# Of the lines of a log those that name a cause. A server that finds no data folder says so without a level.
CAUSE = re.compile(r"FATAL|DETAIL|PANIC|ERROR|error:|could not")
EVERY_IPV6 = "::"


class CannotListen(Exception):
    """The message is one sentence, fit for the operator."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises `CannotListen`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=host == EVERY_IPV6)
    except OSError as error:
        raise CannotListen(_reason(host, port, error)) from error


def _reason(host: str, port: int, error: OSError) -> str:
    start = spell_command("serve")
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken. Stop what uses it, or choose another: PORT={port % 65535 + 1} {start}"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"Port {port} is for the system's own services. Choose one above 1023: PORT=8000 {start}"
    return f"HOST={host} is no address of this machine that the site can listen on."


def prepare_database() -> None:
    """Migrate the database if a start is to do so. Raises `CommandError` if this code can't work with it then."""
    if settings.MIGRATE_ON_START:
        if not connection.introspection.table_names():
            announce("Making the tables of the database: some seconds, this once.")
        migrate()
    require_database()


def migrate() -> None:
    """Migrate the database. A second process waits for the first, and then finds nothing to do."""
    call_command("migrate", interactive=False, verbosity=0)


def require_connection() -> None:
    """Raise `CommandError`, with one sentence, if the database can't be reached."""
    try:
        with connect_briefly():
            pass
    except (PsycopgError, DatabaseError) as error:
        raise CommandError(database_sentence(error)) from None


def require_database(*, will_migrate: bool = False, allows_moved: bool = False) -> None:
    """Raise `CommandError`, with one sentence, if this code can't work with the database.

    A command that *will_migrate* may find it empty, older or half upgraded. What moves a site *allows_moved*.
    """
    try:
        with connect_briefly() as session:
            problem = schema_problem(session, will_migrate=will_migrate, allows_moved=allows_moved)
    except (PsycopgError, DatabaseError) as error:
        raise CommandError(database_sentence(error)) from None
    if problem:
        raise CommandError(problem)


def database_sentence(error: DatabaseError | PsycopgError) -> str:
    """Return one sentence on why the database can't be used; of an embedded one's log only what ended it."""
    reason, *log = str(error).strip().splitlines()
    causes = [line.partition(":  ")[2] or line for line in log if CAUSE.search(line)]
    return " ".join([f"The database can't be used: {reason}", *causes])

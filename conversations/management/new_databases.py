"""The databases that a site can be moved into: one of a URL, or the embedded one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psycopg
from django.db import DatabaseError
from psycopg import Connection

from chatsite.postgres.embedded.server import DATABASE, EmbeddedServer
from chatsite.postgres.url import parse_database_url
from chatsite.schema.move_note import COMMAND
from conversations.management.startup import database_sentence

OWN_NAME = f"windowseat {COMMAND}"  # of all sessions of the command and its programs
CONNECT_SECONDS = 15


class MoveRefused(Exception):
    """The site stays where it is, and why; or where it was moved to before."""


class NewDatabase:
    """The database of a *url*, into which the site is moved. *place* says where it is, without a password."""

    def __init__(self, url: str) -> None:
        try:
            parsed = parse_database_url(url)
        except ValueError as error:
            raise MoveRefused(f"The address of the new database: {error}") from None
        self.place = f"the database {parsed['NAME']} at {parsed['HOST'] or 'this machine'}"
        self.url = url.strip()

    def connect(self) -> Connection:
        try:
            return psycopg.connect(self.url, connect_timeout=CONNECT_SECONDS, application_name=OWN_NAME)
        except psycopg.Error as error:
            raise MoveRefused(f"The new one can't be used. {database_sentence(error)}") from None

    def make_room(self, reason: str) -> None:
        """Raise `MoveRefused`: what is in a database of others is theirs to delete."""
        raise MoveRefused(
            f"{reason} Make it empty, for example by DROP DATABASE and CREATE DATABASE, and run the same command again."
        )


class NewEmbeddedDatabase:
    """The embedded database in the folder *data*, into which the site is moved."""

    url = ""

    def __init__(self, data: Path, *, tell: Callable[[str], object]) -> None:
        self._server, self._tell = EmbeddedServer(data.resolve()), tell
        self.place = f"the embedded PostgreSQL in {data}"

    def connect(self) -> Connection:
        try:
            address = self._server.connection_settings()
            return psycopg.connect(
                host=address["HOST"],
                port=address["PORT"],
                user=address["USER"],
                dbname=DATABASE,
                application_name=OWN_NAME,
            )
        except (DatabaseError, psycopg.Error) as error:
            raise MoveRefused(f"The embedded one can't be used. {database_sentence(error)}") from None

    def make_room(self, reason: str) -> None:
        """Rename the folder, so that the next connection makes an empty one, and say so."""
        data = self._server.paths.data
        aside = data.with_name(f"{data.name}-before-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}")
        try:
            self._server.set_aside(aside)
        except (OSError, DatabaseError) as error:
            raise MoveRefused(f"{reason} It could not be renamed: {error}") from None
        self._tell(f"{reason} It is kept as {aside}")

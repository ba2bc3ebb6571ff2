"""Django's PostgreSQL backend with reused cursors, on the embedded server if there is an `EMBEDDED_DIR`.

DATABASES["default"] = {
    "ENGINE": "chatsite.postgres",
    "NAME": "windowseat",
    "EMBEDDED_DIR": VAR_DIR / "postgres",
    "CONN_HEALTH_CHECKS": True,  # so that a pool drops the connections to a server that is gone
    "OPTIONS": {"pool": True},
}
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from django.db.backends.postgresql import base, client

from .connection import has_just_answered
from .embedded.server import EmbeddedServer, embedded_server, program
from .reused_cursors import ReusableCursor, ReusedCursorWrapper, take_kept_cursor


@cache
def _server_in(folder: Path) -> EmbeddedServer:
    """Return the server in *folder*. To follow its links each time was a tenth of what taking a connection costs."""
    return embedded_server(folder.resolve())


class DatabaseClient(client.DatabaseClient):
    """`manage.py dbshell`, with the embedded server's own psql."""

    connection: DatabaseWrapper

    @classmethod
    def settings_to_cmd_args_env(
        cls, settings_dict: dict[str, Any], parameters: Iterable[str]
    ) -> tuple[list[str], dict[str, str] | None]:
        arguments, environment = super().settings_to_cmd_args_env(settings_dict, parameters)
        if settings_dict.get("EMBEDDED_DIR"):
            arguments[0] = str(program("psql"))
        return arguments, environment

    def runshell(self, parameters: Iterable[str]) -> None:
        self.connection.start_server()
        super().runshell(parameters)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper, which reuses cursors, and starts the server in `EMBEDDED_DIR` before it connects."""

    client_class = DatabaseClient

    def start_server(self) -> None:
        """Start the embedded server, if it is to be used and isn't running, and note where it is.

        Of one that has just answered the files are not looked at: that was half of what taking a connection costs.
        """
        folder = self.settings_dict.get("EMBEDDED_DIR")
        if folder is None or (has_just_answered() and self.settings_dict.get("HOST")):
            return
        self.settings_dict.update(_server_in(folder).connection_settings())

    def _cursor(self, name: str | None = None) -> Any:
        """Return a cursor that is used again; Django's own if it has a *name*, or statements are logged."""
        if name is not None or self.queries_logged:
            return super()._cursor(name)  # type: ignore[misc]  # not in the stubs
        self.close_if_health_check_failed()
        self.ensure_connection()
        self.validate_thread_sharing()
        cursor = take_kept_cursor(self.connection, self.timezone)
        if cursor is None:
            with self.wrap_database_errors:
                cursor = self.create_cursor()
            if not isinstance(cursor, ReusableCursor):
                return self.make_cursor(cursor)
            cursor.timezone = self.timezone
        return ReusedCursorWrapper(cursor, self)

    def _set_autocommit(self, autocommit: bool) -> None:
        """Tell psycopg, unless it is so already, as of each connection that comes from the pool."""
        if self.connection.autocommit != autocommit:
            super()._set_autocommit(autocommit)  # type: ignore[misc]  # not in the stubs

    def get_connection_params(self) -> dict[str, Any]:
        """Django asks for these before every connection, also before it takes one from the pool."""
        self.start_server()
        parameters = super().get_connection_params()
        if parameters["cursor_factory"] is base.ServerBindingCursor:
            parameters["cursor_factory"] = ReusableCursor
        return parameters

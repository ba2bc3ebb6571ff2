"""Django's PostgreSQL backend on the embedded server.

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


@cache
def _server_in(folder: Path) -> EmbeddedServer:
    """Return the server in *folder*. To follow its links each time was a tenth of what taking a connection costs."""
    return embedded_server(folder.resolve())


class DatabaseClient(client.DatabaseClient):
    """`manage.py dbshell`, with the embedded server's own psql."""

    connection: DatabaseWrapper
    executable_name = str(program("psql"))

    def runshell(self, parameters: Iterable[str]) -> None:
        self.connection.start_server()
        super().runshell(parameters)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper, which starts the server in `EMBEDDED_DIR` before it connects."""

    client_class = DatabaseClient

    def start_server(self) -> None:
        """Start the embedded server if it isn't running, and note where it is.

        Of one that has just answered the files are not looked at: that was half of what taking a connection costs.
        """
        if has_just_answered() and self.settings_dict.get("HOST"):
            return
        server = _server_in(self.settings_dict["EMBEDDED_DIR"])
        self.settings_dict.update(server.connection_settings())

    def _set_autocommit(self, autocommit: bool) -> None:
        """Tell psycopg, unless it is so already, as of each connection that comes from the pool."""
        if self.connection.autocommit != autocommit:
            super()._set_autocommit(autocommit)  # type: ignore[misc]  # not in the stubs

    def get_connection_params(self) -> dict[str, Any]:
        """Django asks for these before every connection, also before it takes one from the pool."""
        self.start_server()
        return super().get_connection_params()

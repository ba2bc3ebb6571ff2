"""`manage.py worker_health`: whether a worker of this machine is alive, by its heartbeat, as exit code 0 or 1.

For the health check of a container that runs `run_worker`. While the database is away it is not known, and the exit
code is 0: a restart would not repair that, and would lose what the worker still holds of its replies.
"""

from __future__ import annotations

import socket
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.utils import Error
from psycopg import Error as PsycopgError

from chatsite.health.database_probe import connect_briefly
from conversations.models.worker_heartbeat import HEARTBEAT_VALID

NEWEST = """
SELECT extract(epoch FROM statement_timestamp() - max(seen_at))::float8
FROM conversations_workerheartbeat WHERE starts_with(name, %s)
"""


class Command(BaseCommand):
    help = "Tell whether a worker of this machine is alive: exit code 0 or 1."
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        try:
            with connect_briefly() as connection:
                [(seconds,)] = connection.execute(NEWEST, [f"{socket.gethostname()}:"])
        except (PsycopgError, Error):
            self.stdout.write("The database does not answer, so it is not known.")
            return
        if seconds is None:
            raise CommandError("No worker of this machine is alive.")
        if seconds > HEARTBEAT_VALID.total_seconds():
            raise CommandError(f"The last heartbeat of a worker of this machine is {seconds:.0f} seconds old.")
        self.stdout.write("A worker is alive.")

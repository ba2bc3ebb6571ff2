"""`manage.py migrate`: Django's command, for databases that are ours alone, and under traffic."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DatabaseError, connections
from psycopg.errors import InsufficientPrivilege

from chatsite.schema.executor import MigrationBlocked, one_process_migrates, recorded_migrations
from chatsite.schema.problems import ADD_EXTENSION
from conversations.management.startup import database_sentence, require_database


class Command(migrate.Command):
    help = "Bring the database up to date, while the site runs if need be. A killed one goes on when it is run again."

    def handle(self, *arguments: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        require_database(will_migrate=True)
        if options["plan"] or options["check_unapplied"]:
            super().handle(*arguments, **options)
            return
        try:
            with one_process_migrates(connection, tell=self.stderr.write):
                require_database(will_migrate=True)  # another process may have migrated it since
                with recorded_migrations(connection):
                    super().handle(*arguments, **options)
        except MigrationBlocked as error:
            raise CommandError(str(error)) from None
        except DatabaseError as error:
            if isinstance(error.__cause__, InsufficientPrivilege) and "extension" in str(error):
                raise CommandError(ADD_EXTENSION) from error
            raise CommandError(database_sentence(error)) from error

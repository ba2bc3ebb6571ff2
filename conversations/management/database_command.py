"""A command that works with the site's database, and is refused with one sentence where this code can't."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from chatsite.postgres.faults import is_database_away
from conversations.management.startup import database_sentence, require_database


class DatabaseCommand(BaseCommand):
    """`handle` is called once the database is known to be reached, ours, and of this version.

    That it is away, or its disk full, in the middle of it is one sentence, too.
    """

    def execute(self, *arguments: Any, **options: Any) -> str | None:
        require_database()
        try:
            return super().execute(*arguments, **options)
        except DatabaseError as error:
            if not is_database_away(error):
                raise
            raise CommandError(database_sentence(error)) from None


def reason_of_refusal(stderr: str) -> str:
    """Return what the command that restores said at its end, without the warnings of its log before that."""
    _, marked, reason = stderr.rpartition("CommandError: ")
    return (reason if marked else stderr).strip() or "It could not be done."

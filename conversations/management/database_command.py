"""A command that works with the site's database, and is refused with one sentence where this code can't."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from conversations.management.startup import require_database


class DatabaseCommand(BaseCommand):
    """`handle` is called once the database is known to be reached, ours, and of this version."""

    def execute(self, *arguments: Any, **options: Any) -> str | None:
        require_database()
        return super().execute(*arguments, **options)


def reason_of_refusal(stderr: str) -> str:
    """Return what the command that restores said at its end, without the warnings of its log before that."""
    _, marked, reason = stderr.rpartition("CommandError: ")
    return (reason if marked else stderr).strip() or "It could not be done."

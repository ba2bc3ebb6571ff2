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

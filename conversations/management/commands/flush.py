"""`manage.py flush`: Django's command that deletes all rows, for databases that are ours alone."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import flush

from conversations.management.startup import require_database


class Command(flush.Command):
    def handle(self, **options: Any) -> None:
        # Tests empty their databases by it, whatever they have done to them.
        if getattr(self, "_called_from_command_line", False):
            require_database()
        super().handle(**options)

"""`manage.py export_scenario SCENARIO [FILE]`: a scenario as JSON, without any history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from conversations.management.database_command import DatabaseCommand
from conversations.models import Scenario
from conversations.services.scenarios.scenario_file import write_document


class Command(DatabaseCommand):
    help = "Write a scenario, settings without history, as JSON to a file or to standard output."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scenario", type=int, help="The scenario's number, as in the address of its page.")
        parser.add_argument("file", nargs="?", type=Path, help="File to write; standard output if left out.")

    def handle(self, *, scenario: int, file: Path | None, **options: Any) -> None:
        if (found := Scenario.objects.filter(pk=scenario).first()) is None:
            raise CommandError(f"There is no scenario {scenario}.")
        document = write_document(found)
        if file is None:
            self.stdout.write(document, ending="")
            return
        try:
            file.write_text(document, encoding="utf-8")
        except OSError as error:
            raise CommandError(str(error)) from error

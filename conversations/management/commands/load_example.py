"""`manage.py load_example [--remove]`: the scenario "Conference guide", to see how documents are looked up.

It migrates the database as `serve` does, because it may be the first command on a new machine.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.example import NAME, QUESTIONS
from conversations.management.startup import prepare_database
from conversations.services.scenarios.example_scenario import ExampleIsDefault, load_example, remove_example


class Command(BaseCommand):
    help = f"Add the scenario “{NAME}”, which answers from the schedule of a made-up conference."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--remove", action="store_true", help="Remove it; its conversations are kept.")

    def handle(self, *, remove: bool, **options: Any) -> None:
        prepare_database()
        if remove:
            self._remove()
        else:
            self._load()

    def _load(self) -> None:
        schedule = load_example()
        read = "has been read" if schedule.is_ready else "is read as soon as the site runs, within seconds"
        self.stdout.write(f"The scenario “{NAME}” is there for everyone. Its schedule {read}.")
        self.stdout.write("Choose it for a new conversation, and ask one after the other:\n")
        for question in QUESTIONS:
            self.stdout.write(f"    {question}")

    def _remove(self) -> None:
        try:
            removed = remove_example()
        except ExampleIsDefault:
            raise CommandError(
                f"New conversations start with “{NAME}”. Make another scenario the default in the admin first."
            ) from None
        self.stdout.write(
            f"“{NAME}” has been removed. Its conversations are kept." if removed else f"There is no “{NAME}”."
        )

"""`manage.py import_scenario [FILE] [--owner EMAIL | --offered]`: store the scenario that a file describes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from chatsite.accounts.models import User
from conversations.management.database_command import DatabaseCommand
from conversations.services.scenarios.scenario_file import MOST_BYTES, problems_of, read_document


class Command(DatabaseCommand):
    help = (
        "Store the scenario of a file that export_scenario, or a person's page, has written. "
        "Its window policy may be any dotted path, also one that WINDOW_POLICIES does not offer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="File to read; standard input if left out.")
        who = parser.add_mutually_exclusive_group()
        who.add_argument("--owner", metavar="EMAIL", help="Owner of the scenario; the site if left out.")
        who.add_argument("--offered", action="store_true", help="Offer it to everyone.")

    def handle(self, *, file: Path | None, owner: str | None, offered: bool, **options: Any) -> None:
        try:
            scenario = read_document(_read(file), owner=_find(owner), any_policy=True)
        except ValidationError as error:
            raise CommandError("\n".join(problems_of(error))) from error
        scenario.offered = offered
        scenario.save()
        self.stdout.write(f"Scenario {scenario.pk}: {scenario}")


def _read(file: Path | None) -> bytes:
    """Return what the file holds, or just enough to see that it is too much."""
    if file is None:
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(str(error)) from error


def _find(email: str | None) -> User | None:
    if email is None:
        return None
    if (found := User.objects.filter(email__iexact=email).first()) is None:
        raise CommandError(f"No account has the address {email}.")
    return found

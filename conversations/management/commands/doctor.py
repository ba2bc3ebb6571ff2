"""`manage.py doctor`: try what this site is made of, and say of each part whether it is well and what to do."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser
from typing import Any
from urllib.parse import unquote, unquote_plus, urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chatsite.checkup import Line, hide_secrets, line_as_text, lines_as_json, worst_state
from conversations.management.doctor.checks import CHECKS, run_checks
from conversations.management.doctor.options import Options

LAST = {
    "ok": "All is well.",
    "look": "Nothing is broken; see whether the lines that say look are as you mean them.",
    "bad": "See the lines that say bad first.",
}


class Command(BaseCommand):
    help = (
        "Try settings, database, Redis, provider, mail and the rest of this site, and say what to do. Each line begins "
        "with ok, look or bad; the exit code is 1 if one is bad. Nothing is changed, and no secret is printed."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"try these alone: {', '.join(CHECKS)}")
        parser.add_argument("--json", action="store_true", dest="is_json", help="say it as JSON")
        parser.add_argument(
            "--completion", action="store_true", dest="completes", help="also ask for a few tokens, which cost money"
        )
        parser.add_argument("--mail", metavar="ADDRESS", default="", dest="mail_to", help="also send a mail there")
        parser.add_argument("--url", default="", help="ask the running site there, in place of SITE_URL")

    def handle(
        self, *, subjects: list[str], is_json: bool, completes: bool, mail_to: str, url: str, **options: Any
    ) -> None:
        if unknown := [each for each in subjects if each not in CHECKS]:
            raise CommandError(f"There is no subject {unknown[0]}. These are: {', '.join(CHECKS)}.")
        found: list[Line] = []
        secrets = all_secrets()
        chosen = subjects or list(CHECKS)
        for lines in run_checks(chosen, Options(completes=completes, mail_to=mail_to, url=url)):
            for line in hide_secrets(lines, secrets):
                found.append(line)
                if not is_json:
                    self._write(line)
        self.stdout.write(lines_as_json(found) if is_json else f"\n{LAST[worst_state(found)]}")
        if worst_state(found) == "bad":
            sys.exit(1)

    def _write(self, line: Line) -> None:
        columns = shutil.get_terminal_size().columns
        self.stdout.write(line_as_text(line, columns=columns, has_colours=self.stdout.isatty()))
        self.stdout.flush()


def all_secrets() -> set[str]:
    """Return what no line may have: the secrets of the settings, and the passwords inside of these and of addresses."""
    secrets = {*settings.ENV.secrets(), settings.SECRET_KEY}
    for text in (*secrets, settings.OPENAI_BASE_URL, settings.OPENAI_EMBEDDING_BASE_URL, settings.WEB_SEARCH_URL):
        secrets |= passwords_in(text)
    return secrets


def passwords_in(url: str) -> set[str]:
    """Return the passwords in *url*, before its host and as parameters, as they are written and as they are meant."""
    try:
        parts = urlsplit(url)
        parameters = [each.partition("=") for each in parts.query.split("&")]
        written = [parts.password or "", *(value for name, _, value in parameters if "password" in name)]
    except ValueError:
        return set()
    return {form for each in written for form in (each, unquote(each), unquote_plus(each))}

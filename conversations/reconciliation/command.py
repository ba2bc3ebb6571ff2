"""`manage.py reconcile FILE.csv`: the ledger beside a provider's usage export, by day and language model."""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentTypeError
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.providers.demo import DEMO_LANGUAGE_MODELS
from conversations.reconciliation.comparison import plain_name
from conversations.reconciliation.reconcile import ComparisonTerms, Reconciliation, reconcile
from conversations.reconciliation.terminal_table import estimate_lines, reconciliation_lines, verdict
from conversations.reconciliation.usage_exports.cells import EARLIEST, LATEST
from conversations.reconciliation.usage_exports.errors import UnreadableExport
from conversations.reconciliation.usage_exports.formats import FORMATS
from conversations.selectors.figures.estimate_errors import EstimateErrors, estimate_errors

DIFFERS, UNREADABLE = 1, 2  # exit codes
BILLED_BY_NOBODY = frozenset(plain_name(model.name) for model in DEMO_LANGUAGE_MODELS)


class Command(BaseCommand):
    help = (
        "Compare the ledger with a provider's usage or cost export, by day (UTC) and language model. Names of models "
        "are compared without vendor, date of the snapshot and letter case. Ends with 0 if both agree, with 1 if they "
        "differ by more than the tolerance, and with 2 if the file can't be compared."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", choices=[each.name for each in FORMATS], help="By default known by its header.")
        parser.add_argument("--from", dest="first", type=_day, metavar="DAY", help="By default the file's first day.")
        parser.add_argument("--to", dest="last", type=_day, metavar="DAY", help="By default the file's last day.")
        parser.add_argument("--tolerance", type=_share, default=Decimal(0), metavar="PERCENT", help="By default 0.")
        parser.add_argument(
            "--as",
            dest="same_as",
            type=_pair,
            action="append",
            default=[],
            metavar="THEIRS=OURS",
            help="Take the provider's name of a model for ours.",
        )
        parser.add_argument(
            "--without", type=plain_name, action="append", default=[], metavar="MODEL", help="Leave a model out."
        )

    def handle(self, *, file: Path, **options: Any) -> None:
        terms = ComparisonTerms(
            format_name=options["format"],
            first=options["first"],
            last=options["last"],
            tolerance=options["tolerance"],
            same_as=dict(options["same_as"]),
            without=BILLED_BY_NOBODY | frozenset(options["without"]),
        )
        result = _reconcile(file, terms)
        for line in reconciliation_lines(result):
            self.stdout.write(line)
        for line in estimate_lines(_errors(result, terms)):
            self.stdout.write(line)
        if not result.comparison.agrees:
            raise CommandError(verdict(result.comparison), returncode=DIFFERS)
        self.stdout.write(verdict(result.comparison))


def _reconcile(file: Path, terms: ComparisonTerms) -> Reconciliation:
    try:
        with file.open("rb") as opened:
            return reconcile(opened, terms)
    except OSError as error:
        raise CommandError(f"{file} can't be read: {error.strerror}.", returncode=UNREADABLE) from error
    except UnreadableExport as error:
        raise CommandError(str(error), returncode=UNREADABLE) from error


def _errors(result: Reconciliation, terms: ComparisonTerms) -> list[EstimateErrors]:
    """Return the errors of the days and models that are compared."""
    begin = dt.datetime.combine(result.first, dt.time(), dt.UTC)
    end = dt.datetime.combine(result.last, dt.time(), dt.UTC) + dt.timedelta(days=1)
    errors = estimate_errors(begin=begin, end=end)
    return [each for each in errors if plain_name(each.language_model, terms.same_as) not in terms.without]


def _day(text: str) -> dt.date:
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"“{text}” is not a day; write days as 2026-03-04.") from None
    if not EARLIEST <= day <= LATEST:
        raise ArgumentTypeError(f"“{text}” is a day of which there is no usage.")
    return day


def _share(text: str) -> Decimal:
    """Return percent as a share."""
    try:
        share = Decimal(text.removesuffix("%").strip()) / 100
        is_share = 0 <= share <= 1  # which can't be asked of NaN either
    except InvalidOperation:
        is_share = False
    if not is_share:
        raise ArgumentTypeError(f"“{text}” is not a share from 0 to 100 %.")
    return share


def _pair(text: str) -> tuple[str, str]:
    theirs, sign, ours = text.partition("=")
    if not (theirs.strip() and sign and ours.strip()):
        raise ArgumentTypeError(f"“{text}” does not say THEIRS=OURS.")
    return plain_name(theirs), plain_name(ours)

"""Error messages from their templates: clauses in the reader's language, moments by the reader's clock."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping

CLAUSES = frozenset({"reason"})  # params that are words themselves
Translate = Callable[[str], str]
TranslatePlural = Callable[[str, str, int], str]  # of one, of many, of how many
MOMENTS = frozenset({"opens_at", "again_at"})  # in ISO 8601
NAMES = frozenset({"language_model"})  # they may run from right to left


def gettext_noop(sentence: str) -> str:
    """Mark *sentence* for the catalogs, by the name that they look for; it is translated where it is shown."""
    return sentence


def in_utc(moment: dt.datetime) -> str:
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def in_english(one: str, many: str, number: int) -> str:
    return one if number == 1 else many


def number_in(value: object) -> int:
    """Return the number that *value* was written from, with thousands apart."""
    return int(str(value).replace(",", ""))


def fill_template(
    template: str,
    params: Mapping[str, object],
    *,
    translate: Translate = str,
    tell: Callable[[dt.datetime], str] = in_utc,
    isolate: Callable[[object], str] = str,
) -> str:
    """Return *template*, translated already, filled.

    *translate* is given the clauses, *tell* the moments, *isolate* the names.
    """
    said = {name: translate(str(value)) if name in CLAUSES else value for name, value in params.items()}
    said |= {name: tell(dt.datetime.fromisoformat(str(params[name]))) for name in MOMENTS & params.keys()}
    said |= {name: isolate(params[name]) for name in NAMES & params.keys()}
    return template % said

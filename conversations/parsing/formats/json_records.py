"""JSON into blocks: a list of records, each a passage of its own, or any other value, written out field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from conversations.core.documents.splitting import Block
from conversations.core.errors import DocumentTooCostly
from conversations.parsing.formats.headings import LONGEST_CHARACTERS
from conversations.parsing.parsed import ReportProgress

Json = Mapping[str, "Json"] | Sequence["Json"] | str | bool | None
TITLES = ("title", "name", "headline", "heading", "subject", "question", "label")
DEEPEST_PATH = 4


def load_json(text: str) -> Json:
    """Return the value of a JSON text, its numbers as they are written. Raises ValueError if it is none.

    Numbers are text here: one of a million digits would take minutes to be turned into a number and back.
    """
    try:
        value: Json = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError as error:
        raise DocumentTooCostly from error
    return value


def load_json_lines(text: str) -> list[Json]:
    """Return the values of a text with an object on each line. Raises ValueError if it is none."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or any(line.lstrip()[0] != "{" for line in lines):
        raise ValueError("not an object on each line")
    return [load_json(line) for line in lines]


def are_records(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(member, dict) for member in value)


def parse_records(records: Sequence[Mapping[str, Json]], report: ReportProgress) -> Iterator[Block]:
    for number, record in enumerate(records, start=1):
        yield from _record_blocks(record, ())
        report(number, len(records))


def _record_blocks(record: Mapping[str, Json], path: tuple[str, ...]) -> Iterator[Block]:
    """Yield the record under its title; a record that is nothing but its title is shown as such."""
    title_field = _title_field(record)
    title = " ".join(str(record[title_field]).split()) if title_field else ""
    fields = {name: value for name, value in record.items() if name != title_field}
    if text := _field_lines(fields) or title:
        yield Block(text, (*path, title) if title and text != title else path, lines=True, alone=True)


def _title_field(record: Mapping[str, Json]) -> str | None:
    by_name = {name.casefold(): name for name in record}
    for name in TITLES:
        value = record.get(by_name.get(name, ""))
        if isinstance(value, str) and value.strip() and len(value) <= LONGEST_CHARACTERS:
            return by_name[name]
    return None


def parse_json(value: Json, report: ReportProgress) -> Iterator[Block]:
    """Yield the fields of each object under the path of names that leads to it."""
    yield from _blocks(value, ())
    report(1, 1)


def _blocks(value: Json, path: tuple[str, ...]) -> Iterator[Block]:
    if are_records(value):
        for record in value:  # type: ignore[union-attr]
            yield from _record_blocks(record, path)  # type: ignore[arg-type]
    elif isinstance(value, dict) and len(path) < DEEPEST_PATH:
        plain = {name: member for name, member in value.items() if not _has_fields(member)}
        if text := _field_lines(plain):
            yield Block(text, path, lines=True)
        for name, member in value.items():
            if _has_fields(member):
                yield from _blocks(member, (*path, name[:LONGEST_CHARACTERS]))
    elif isinstance(value, list) and not isinstance(value, str):
        for member in value:
            if text := _as_text(member):
                yield Block(text, path, lines=True)
    elif text := _as_text(value):
        yield Block(text, path, lines=True)


def _has_fields(value: Json) -> bool:
    return isinstance(value, dict) or are_records(value)


def _field_lines(fields: Mapping[str, Json]) -> str:
    return "\n".join(f"{name}: {text}" for name, value in fields.items() if (text := _as_text(value)))


def _as_text(value: Json) -> str:
    """Return *value* as one text, without its empty parts."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {text}" for name, member in value.items() if (text := _as_text(member)))
    if isinstance(value, list):
        joint = "; " if any(isinstance(member, dict | list) for member in value) else ", "
        return joint.join(text for member in value if (text := _as_text(member)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.strip() if isinstance(value, str) else ""

"""A catalog as the code wants it, with the translations that are there already."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path

import allauth
import django
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po

from tests.support.source import PROJECT

from .extract import Said, sentences_in
from .sources import LANGUAGE, PLACES, Place

Wanted = dict[Said, set[str]]  # sentence → the files that say it


def stored(place: Place) -> Catalog:
    with place.po.open("rb") as file:
        return read_po(file, locale=LANGUAGE, domain="django")


def wanted(place: Place) -> Wanted:
    """Return what *place* has to translate: what its files say and no place before it."""
    said = _said_in(place)
    for earlier in PLACES[: PLACES.index(place)]:
        before = {sentence.key for sentence in _said_in(earlier)}
        said = {sentence: files for sentence, files in said.items() if sentence.key not in before}
    return said


@cache  # it reads all files
def _said_in(place: Place) -> Wanted:
    said: Wanted = {}
    for path in place.files():
        for sentence in sentences_in(path):
            said.setdefault(sentence, set()).add(path.relative_to(PROJECT).as_posix())
    known = _known_to_libraries()
    for sentence in _of_libraries(place):
        if sentence.key not in known:
            said.setdefault(sentence, set())
    return _without_doubles(said)


def _without_doubles(said: Wanted) -> Wanted:
    """Leave out what is also said with a plural: in a catalog both are one."""
    counted = {sentence.key for sentence in said if sentence.plural}
    return {sentence: files for sentence, files in said.items() if sentence.plural or sentence.key not in counted}


def _of_libraries(place: Place) -> Iterator[Said]:
    for path in place.library_files():
        yield from sentences_in(path)


def _known_to_libraries() -> set[tuple[str, str | None]]:
    """Return what the libraries' own catalogs translate."""
    known: set[tuple[str, str | None]] = set()
    for path in _catalogs_of_libraries():
        with path.open("rb") as file:
            known |= {_key(message) for message in read_mo(file) if message.string}
    return known


def _catalogs_of_libraries() -> Iterator[Path]:
    for package in (django, allauth):
        yield from Path(package.__file__).parent.rglob(f"locale/{LANGUAGE}/LC_MESSAGES/django.mo")


def _key(message: Message) -> tuple[str, str | None]:
    return message.id if isinstance(message.id, str) else message.id[0], message.context or None


def brought_up_to_date(place: Place) -> Catalog:
    """Return the catalog with all that is wanted and nothing else; what is not translated yet is empty."""
    old = stored(place)
    known = _translations()
    new = Catalog(LANGUAGE, domain="django", header_comment=old.header_comment, project="Windowseat", charset="utf-8")
    new.mime_headers = old.mime_headers
    for sentence, files in sorted(wanted(place).items(), key=_order):
        identity = (sentence.singular, sentence.plural) if sentence.plural else sentence.singular
        string = known.get(sentence.key, "")
        locations = [(name, 0) for name in sorted(files)]
        new.add(identity, _shaped(string, sentence), locations=locations, context=sentence.context)
    return new


def _translations() -> dict[tuple[str, str | None], str]:
    """Return what any of the catalogs says already: a sentence may move from one to another."""
    messages = [message for place in reversed(PLACES) for message in stored(place) if message.id]
    return {_key(message): _first(message.string) for message in messages if message.string}


def _first(string: str | tuple[str, ...]) -> str:
    return string if isinstance(string, str) else string[0]


def _shaped(string: str, sentence: Said) -> str | tuple[str]:
    """Chinese has one form for every number."""
    return (string,) if sentence.plural else string


def _order(entry: tuple[Said, set[str]]) -> tuple[str, str, str]:
    sentence, files = entry
    return min(files, default="~"), sentence.singular, sentence.context or ""


def write(place: Place, catalog: Catalog) -> None:
    """Write what people read, and what the machine does."""
    readable = BytesIO()
    write_po(readable, catalog, width=120, sort_output=False, include_lineno=False)
    place.po.write_bytes(readable.getvalue())
    place.po.with_suffix(".mo").write_bytes(compiled(catalog))


def compiled(catalog: Catalog) -> bytes:
    binary = BytesIO()
    write_mo(binary, catalog)
    return binary.getvalue()

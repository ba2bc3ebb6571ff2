"""The catalogs say all that the code says, and nothing else; what the machine reads is what people read."""

from __future__ import annotations

import ast
import io
import re
from functools import cache

import pytest
from babel.messages.mofile import read_mo

from conversations.core.errors import InvalidHistory
from tests.support.error_examples import CLASSES
from tests.support.source import PROJECT, python_files

from .catalog import compiled, stored, wanted
from .extract import KEYWORDS, Said
from .sources import ADMIN, PLACES, SITE

CHINESE = re.compile(r"[\u3400-\u9fff]")
PLACEHOLDER = re.compile(r"%(?:\((\w+)\))?[sdif]|\{(\w*)\}")
SPACE_WHERE_CHINESE_HAS_NONE = re.compile(r"[\u4e00-\u9fff] +[\u4e00-\u9fff，。：；？！]|[,;!?](?=[\u4e00-\u9fff])")

every_place = pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)


@cache
def messages_of(place):
    return [message for message in stored(place) if message.id]


def forms(message):
    """Yield (original, translation) for each form that the message has."""
    originals = [message.id] if isinstance(message.id, str) else list(message.id)
    strings = [message.string] if isinstance(message.string, str) else list(message.string)
    return [(original, string) for original in originals for string in strings]


def placeholders(text):
    return sorted(name or other for name, other in PLACEHOLDER.findall(text))


def said(message):
    singular, plural = (message.id, None) if isinstance(message.id, str) else message.id
    return Said(singular, plural, message.context or None)


@every_place
def test_it_holds_what_is_said_and_nothing_else(place):
    held, needed = {said(message) for message in messages_of(place)}, set(wanted(place))
    assert not needed - held, "run: make messages, and translate these"
    assert not held - needed, "run: make messages: nobody says these any more"


@every_place
def test_every_sentence_is_translated(place):
    empty = [message.id for message in messages_of(place) if message.fuzzy or not any(message.string)]
    assert not empty


@every_place
def test_apostrophes_are_of_one_kind(place):
    """Like the quotation marks of our sentences, they are curled. What libraries say has no location.

    What a model says of a field stands in released migrations too, which would each get another one.
    """
    straight = [message.id for message in messages_of(place) if has_straight_apostrophe(message)]
    assert not straight


def has_straight_apostrophe(message):
    files = [file for file, _ in message.locations if "/models/" not in file]
    originals = [message.id] if isinstance(message.id, str) else message.id
    return bool(files) and any("'" in original for original in originals)


@every_place
def test_every_translation_has_the_places_of_its_sentence(place):
    """A singular may leave its number out, so one of the forms must have the same."""
    for message in messages_of(place):
        for string in {string for _, string in forms(message)}:
            fitting = [original for original, _ in forms(message) if placeholders(original) == placeholders(string)]
            assert fitting, message.id


@every_place
def test_chinese_is_written_as_chinese(place):
    odd = [string for message in messages_of(place) for _, string in forms(message) if is_odd(string)]
    assert not odd


def is_odd(string):
    return SPACE_WHERE_CHINESE_HAS_NONE.search(string)


@every_place
def test_what_the_machine_reads_is_what_people_read(place):
    with place.po.with_suffix(".mo").open("rb") as committed:
        assert sentences_in(committed) == sentences_in(io.BytesIO(compiled(stored(place)))), "run: make messages"


def sentences_in(file):
    """Return what a compiled catalog holds, but for its header: that names the version of Babel."""
    return {str(message.id): message.string for message in read_mo(file) if message.id}


def test_no_sentence_is_in_both():
    assert not {said(message).key for message in messages_of(SITE)} & {
        said(message).key for message in messages_of(ADMIN)
    }


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_has_a_chinese_sentence(error):
    strings = {original: string for message in messages_of(SITE) for original, string in forms(message)}
    assert CHINESE.search(strings[error.template])
    assert strings[error.template].endswith("。")


def test_every_reason_that_history_is_refused_for_is_a_literal():
    assert all(isinstance(value, ast.Constant) for _, value in clauses())


def clauses():
    """Yield (place, reason) for every reason that our code gives to `InvalidHistory`."""
    for path in python_files("conversations"):
        for node in ast.walk(ast.parse((PROJECT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == InvalidHistory.__name__:
                yield from ((f"{path}:{node.lineno}", word.value) for word in node.keywords if word.arg == "reason")


def test_whatever_marks_a_sentence_is_known_to_mark_it():
    """A name of one's own for `gettext` would hide what it marks."""
    marking = {name for path in python_files("chatsite", "conversations") for name in names_for_gettext(path)}
    assert marking <= set(KEYWORDS)


def names_for_gettext(path):
    for node in ast.walk(ast.parse((PROJECT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
            yield from (alias.asname or alias.name for alias in node.names if "gettext" in alias.name)

"""A language of one letter, into which everything can be translated: what is still Latin on a page never was.

Unlike Chinese it needs no catalog, so it tells what is not marked for translation from what is not translated yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from django.utils import translation

from chatsite.compiled_templates import reader_key
from conversations.templatetags import meter_parts

LETTER = "〇"
# Places for values, markup and its entities stay as they are.
KEPT = re.compile(r"(%(?:\(\w+\))?[-+0-9.]*[A-Za-z%]|\{\w*\}|<[^>]+>|&\w+;)")


def in_one_letter(text: str) -> str:
    return "".join(part if KEPT.fullmatch(part) else re.sub(r"[A-Za-z]", LETTER, part) for part in KEPT.split(text))


@contextmanager
def one_letter_language() -> Iterator[None]:
    """Let every catalog answer in it."""
    said = {
        "gettext": in_one_letter,
        "pgettext": lambda context, text: in_one_letter(text),
        "ngettext": lambda one, many, number: in_one_letter(one if number == 1 else many),
        "npgettext": lambda context, one, many, number: in_one_letter(one if number == 1 else many),
    }
    before = {name: getattr(translation._trans, name) for name in said}
    try:
        vars(translation._trans).update(said)
        with ExitStack() as kept_apart:  # from what templates keep of other languages
            for module in (reader_key, meter_parts):
                kept_apart.enter_context(mock.patch.object(module, "get_language", return_value=LETTER))
            yield
    finally:
        vars(translation._trans).update(before)

"""The sentence of an error of which only its code and params are kept, as with a reply that failed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping

from .errors import ConversationError
from .filling import fill, in_utc


def sentence_for(
    code: str,
    params: Mapping[str, object] | None = None,
    *,
    translate: Callable[[str], str] = str,
    tell: Callable[[dt.datetime], str] = in_utc,
) -> str:
    """Return the sentence of the error with that *code*.

    *translate* is given the template, and those params that are words; *tell* those that are moments.
    """
    try:
        return fill(translate(_TEMPLATES[code]), params or {}, translate=translate, tell=tell)
    except (KeyError, TypeError, ValueError):  # stored by another version
        return translate(ConversationError.template)


def is_code_of(code: str, kind: type[ConversationError]) -> bool:
    """Tell whether *code* was stored for an error of that *kind*."""
    return any(error.code == code for error in _tree(kind))


def _tree(root: type[ConversationError]) -> Iterator[type[ConversationError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


_TEMPLATES = {error.code: error.template for error in _tree(ConversationError)}

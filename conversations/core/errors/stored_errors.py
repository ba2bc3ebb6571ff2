"""Stored errors: the sentence of one of which only the code and params are kept, as with a reply that failed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping

from . import ConversationError
from .error_messages import Translate, TranslatePlural, fill_template, in_english, in_utc


def sentence_for(
    code: str,
    params: Mapping[str, object] | None = None,
    *,
    translate: Translate = str,
    translate_plural: TranslatePlural = in_english,
    tell: Callable[[dt.datetime], str] = in_utc,
    isolate: Callable[[object], str] = str,
) -> str:
    """Return the sentence of the error with that *code*.

    *translate* is given the template, and those params that are words, *translate_plural* both templates of what
    counts something, *tell* those params that are moments, *isolate* those that are names.
    """
    try:
        params = params or {}
        template = _ERRORS[code].template_for(params, translate=translate, translate_plural=translate_plural)
        return fill_template(template, params, translate=translate, tell=tell, isolate=isolate)
    except (KeyError, TypeError, ValueError):  # stored by another version
        return translate(ConversationError.template)


def restore_error(code: str, params: Mapping[str, object] | None = None) -> ConversationError:
    """Return an error of which only code and params are kept; its own sentence is in English."""
    kind = _ERRORS.get(code, ConversationError)
    error = kind.__new__(kind)
    error.params = dict(params or {})
    error.args = (sentence_for(code, error.params),)
    return error


def is_code_of(code: str, kind: type[ConversationError]) -> bool:
    """Tell whether *code* was stored for an error of that *kind*."""
    return any(error.code == code for error in _tree(kind))


def _tree(root: type[ConversationError]) -> Iterator[type[ConversationError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


_ERRORS = {error.code: error for error in _tree(ConversationError)}

"""Arguments of a tool call: JSON text from a language model, parsed and checked before any tool gets it."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from conversations.core.errors import ArgumentsInvalid, ArgumentsNotJson

from .schema_checks import UnusableSchema, find_mistakes

LONGEST_ARGUMENTS = 200_000  # characters
DEEPEST_ARGUMENTS = 50  # objects and lists inside one another
LONGEST_DETAIL = 1_000


def check_arguments(arguments: str, schema: Any) -> dict[str, Any]:
    """Return *arguments* as an object that fits *schema*, which is not trusted. Raises as `parse_arguments` does.

    Patterns, and all else with which a hostile schema could take time, are not checked here but by the tool's server.
    """
    value = parse_arguments(arguments)
    try:
        mistakes = find_mistakes(value, schema)
    except UnusableSchema as error:
        raise ArgumentsInvalid(detail=f"They can't be checked: {error}.") from error
    if mistakes:
        raise ArgumentsInvalid(detail=" ".join(mistakes)[:LONGEST_DETAIL])
    return value


def parse_arguments(arguments: str) -> dict[str, Any]:
    """Return JSON text as an object. Raises `ArgumentsNotJson`, `ArgumentsInvalid`, whose detail says what to mend."""
    if len(arguments) > LONGEST_ARGUMENTS:
        raise ArgumentsInvalid(detail=f"They are longer than {LONGEST_ARGUMENTS} characters.")
    try:
        value = json.loads(
            arguments, object_pairs_hook=_refuse_duplicates, parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError as error:
        raise ArgumentsInvalid(detail=_TOO_DEEP) from error
    except ValueError as error:
        raise ArgumentsNotJson(detail=f"{error}."[:LONGEST_DETAIL]) from error
    if not isinstance(value, dict):
        raise ArgumentsInvalid(detail="They have to be one object: {…}.")
    _require_safe(value)
    return value


_TOO_DEEP = f"They are nested more than {DEEPEST_ARGUMENTS} deep."


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is given more than once")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number


def _require_safe(value: dict[str, Any]) -> None:
    """Refuse what would break the code that handles it: depth, and lone surrogates."""
    ahead: list[tuple[Any, int]] = [(value, 1)]
    while ahead:
        part, depth = ahead.pop()
        if depth > DEEPEST_ARGUMENTS + 1:
            raise ArgumentsInvalid(detail=_TOO_DEEP)
        if isinstance(part, str) and not _has_no_lone_surrogate(part):
            raise ArgumentsNotJson(detail="A text has half of a character (a lone surrogate) in it.")
        if isinstance(part, dict):
            ahead.extend((each, depth + 1) for pair in part.items() for each in pair)
        elif isinstance(part, list):
            ahead.extend((each, depth + 1) for each in part)


def _has_no_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

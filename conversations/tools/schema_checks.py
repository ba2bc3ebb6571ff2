"""Check a value against a JSON schema that is not trusted, with bounded work.

A schema can refer to itself for ever, double at every level, fetch other schemas, or hold a pattern that never ends. So
steps and time are counted, nothing is fetched, and the keywords whose own work can't be bounded are left out: what
passes here may still be refused by the server that the schema came from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError  # loaded with the first call of a tool: three megabytes

Keyword = Callable[[Any, Any, Any, Any], "Iterator[ValidationError] | None"]

MOST_STEPS = 100_000
MOST_SECONDS = 1.0
MOST_DEPTH = 150  # keywords within one another: Python's own limit is met in foreign code, too, which can't bear it
MOST_MISTAKES = 5
LONGEST_MISTAKE = 200
NOT_CHECKED: Final = frozenset(
    {
        "pattern",
        "patternProperties",
        "format",
        "uniqueItems",
        "unevaluatedItems",
        "unevaluatedProperties",
        "$dynamicRef",
        "$recursiveRef",
    }
)


class UnusableSchema(Exception):
    """No value can be checked against this schema; the message says why."""


class _WorkLimit:
    """Counts the work of one check and bounds it."""

    def __init__(self) -> None:
        self._steps = 0
        self._depth = 0
        self._until = time.monotonic() + MOST_SECONDS

    def spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS or time.monotonic() > self._until:
            raise UnusableSchema("the schema of this tool takes too much work")

    @contextmanager
    def one_deeper(self) -> Iterator[None]:
        if self._depth == MOST_DEPTH:
            raise UnusableSchema("the schema of this tool is too deep, or goes round in circles")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


_work: ContextVar[_WorkLimit] = ContextVar("work")


def find_mistakes(value: Any, schema: Any) -> list[str]:
    """Return what is wrong with *value*, a sentence each, none if it fits. Raises `UnusableSchema`."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry

    token = _work.set(_WorkLimit())
    try:
        draft = validator_for(schema, default=Draft202012Validator)
        validator = _counting(draft)(schema, registry=Registry())
        return list(map(_mistake_text, islice(validator.iter_errors(value), MOST_MISTAKES)))
    except UnusableSchema:
        raise
    except RecursionError as error:
        raise UnusableSchema("the schema of this tool goes round in circles") from error
    except Exception as error:  # a schema may be made of anything
        raise UnusableSchema("the schema of this tool can't be read") from error
    finally:
        _work.reset(token)


@cache
def _counting(draft: Any) -> Any:
    """Return a validator of *draft* whose keywords count their work, without those that can't be bounded."""
    from jsonschema.validators import extend

    checked = {name: _counted(keyword) for name, keyword in draft.VALIDATORS.items()}
    ignored = dict.fromkeys(NOT_CHECKED & checked.keys(), _ignore)
    return extend(draft, {**checked, **ignored, "additionalProperties": _counted(_additional_properties(draft))})


def _counted(keyword: Keyword) -> Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        work = _work.get()
        work.spend(1 + (len(value) if isinstance(value, list | dict) else 0))
        with work.one_deeper():
            yield from keyword(validator, value, instance, schema) or ()

    return check


def _ignore(validator: Any, value: Any, instance: Any, schema: Any) -> None:
    return None


def _additional_properties(draft: Any) -> Keyword:
    """Return the keyword for schemas without patterns, which it would try; with some anything may be additional."""
    original: Keyword = draft.VALIDATORS["additionalProperties"]

    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        return None if "patternProperties" in schema else original(validator, value, instance, schema)

    return check


def _mistake_text(error: ValidationError) -> str:
    """Return where the mistake is and what: of a long one the end, since the beginning only repeats the value."""
    message = error.message
    if len(message) > LONGEST_MISTAKE:
        message = f"…{message[-LONGEST_MISTAKE:]}"
    return f"{error.json_path}: {message}."

"""The JSON body of a request of the API, read strictly: what JSON does not know, or says twice, is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NoReturn

from conversations.core.errors import ParameterInvalid

MOST_LEVELS = 64
LONGEST_NAME = 60
BODY = "body"


def read_json_object(body: bytes) -> dict[str, Any]:
    """Return the object that *body* is. Raises `ParameterInvalid`.

    Refused are NaN and Infinity, numbers that no double holds, two fields of one name in an object, and more than
    `MOST_LEVELS` levels.
    """
    try:
        read = json.loads(body, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_number)
    except ParameterInvalid:
        raise
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # UnicodeDecodeError is one
        raise ParameterInvalid(BODY, "it is not JSON in UTF-8") from None
    if not isinstance(read, dict):
        raise ParameterInvalid(BODY, "it is not a JSON object")
    if _is_deeper(read, MOST_LEVELS):
        raise _too_deep()
    return read


def shown_name(name: object) -> str:
    """Return the name of a field as an error quotes it: shortened, and with nothing but what can be printed."""
    text = str(name)
    printable = "".join(each if each.isprintable() and not each.isspace() else "?" for each in text[:LONGEST_NAME])
    return printable + ("…" if len(text) > LONGEST_NAME else "")


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, value in pairs:
        if name in read:
            raise ParameterInvalid(shown_name(name), "it is there twice")
        read[name] = value
    return read


def _refuse_constant(name: str) -> NoReturn:
    raise ParameterInvalid(BODY, f"{name} is no JSON")


def _number(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ParameterInvalid(BODY, "a number is too large")
    return number


def _too_deep() -> ParameterInvalid:
    return ParameterInvalid(BODY, f"it has more than {MOST_LEVELS} levels")


def _is_deeper(read: dict[str, Any], most: int) -> bool:
    level: list[Any] = [read]
    for _ in range(most):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True

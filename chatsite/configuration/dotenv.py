"""Read the optional file `.env`: one NAME=value a line, `#` comments, quotes where a value needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

QUOTED = re.compile(r"""(?P<quote>["'])(?P<value>.*?)(?P=quote)\s*(#.*)?""")
COMMENT = re.compile(r"(^|\s+)#.*")


def read_dotenv(path: Path) -> dict[str, str]:
    """Return what the file sets; nothing if there is no such file."""
    if not path.is_file():
        return {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ImproperlyConfigured(f"{path.name} can't be read: {reason}.") from None
    return dict(_pairs(path.name, lines))


def _pairs(file_name: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    for number, raw_line in enumerate(lines, start=1):
        line = raw_line.strip().removeprefix("export ")
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not name.strip().isidentifier():
            raise ImproperlyConfigured(f"{file_name}, line {number}: expected NAME=value.")
        yield name.strip(), _value(value.strip())


def _value(raw: str) -> str:
    if quoted := QUOTED.fullmatch(raw):
        return quoted["value"]
    return COMMENT.sub("", raw)

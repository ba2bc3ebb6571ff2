"""Read files of settings: the optional `.env`, one NAME=value a line, and those that a NAME_FILE names."""

from __future__ import annotations

import errno
import os
import re
import select
from collections.abc import Iterator
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

QUOTED = re.compile(r"""(?P<quote>["'])(?P<value>.*?)(?P=quote)\s*(#.*)?""")
COMMENT = re.compile(r"(^|\s+)#.*")
LARGEST_DOTENV_BYTES = 1024 * 1024
PIPE_SECONDS = 5.0  # that a start waits for a pipe, which a shell's <(command) is too


def read_dotenv(path: Path) -> dict[str, str]:
    """Return what the file sets; nothing if there is no such file. Comments and quotes are as in a shell.

    Raises `ImproperlyConfigured` for what is there and can't be read, such as a folder of that name.
    """
    try:
        content = read_limited(path, LARGEST_DOTENV_BYTES)
        lines = content.decode("utf-8-sig").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ImproperlyConfigured(f"{path} can't be read: {reason}.{_rights_advice(error)}") from None
    if len(content) > LARGEST_DOTENV_BYTES:
        raise ImproperlyConfigured(f"{path.name} can't be read: it has more than {LARGEST_DOTENV_BYTES:,} bytes.")
    return dict(_pairs(path.name, lines))


def _rights_advice(error: Exception) -> str:
    return " Make it belong to the account that the site runs as." if isinstance(error, PermissionError) else ""


def read_limited(path: Path, most_bytes: int) -> bytes:
    """Return what is in the file, and of a larger one a byte more than *most_bytes*. Raises `OSError`.

    A pipe is read as far as its writers write, and not waited for where none does: a start would hang without a word.
    """
    content = b""
    with open(path, "rb", buffering=0, opener=_open_without_waiting) as file:
        readable = select.poll()
        readable.register(file, select.POLLIN)
        while len(content) <= most_bytes:
            if not readable.poll(PIPE_SECONDS * 1000):
                raise TimeoutError(errno.ETIMEDOUT, "it is a pipe, and nothing was written to it")
            part = file.read(most_bytes + 1 - len(content))
            if not part:
                break
            content += part
    return content


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


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

"""Settings from the environment and an optional `.env`: declared once, typed, with errors that name the setting.

Each setting is declared with its type, default and a sentence of help; docs/settings.md is made from the
declarations and a test compares the two. A value can also come from a file: `NAME_FILE=/run/secrets/name`.
"""

from __future__ import annotations

import ipaddress
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured

from chatsite.configuration.dotenv import read_dotenv

T = TypeVar("T")
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Setting:
    """A declared setting: what docs/settings.md shows of it."""

    name: str
    kind: str
    default: str
    help: str


@dataclass
class Environment:
    """Typed access to a mapping of strings; remembers what was declared. Relative paths start in *folder*."""

    values: Mapping[str, str]
    folder: Path = Path()
    declared: dict[str, Setting] = field(default_factory=dict)

    def text(self, name: str, *, default: str = "", help: str) -> str:  # noqa: A002
        return self._read(name, "text", str, default=default, help=help)

    def integer(
        self,
        name: str,
        *,
        default: int,
        minimum: int = 0,
        maximum: int | None = None,
        help: str,  # noqa: A002
    ) -> int:
        return self._read(name, "whole number", _integer(minimum, maximum), default=default, help=help)

    def number(self, name: str, *, default: float | None, help: str) -> float | None:  # noqa: A002
        parse: Callable[[str], float | None] = _positive_number
        return self._read(name, "number", parse, default=default, help=help)

    def switch(self, name: str, *, default: bool, help: str) -> bool:  # noqa: A002
        return self._read(name, "on/off", _switch, default=default, help=help)

    def words(self, name: str, *, default: tuple[str, ...] = (), help: str) -> list[str]:  # noqa: A002
        return list(self._read(name, "list, by commas", _words, default=default, help=help))

    def networks(self, name: str, *, help: str) -> list[str]:  # noqa: A002
        nothing: tuple[str, ...] = ()
        return list(self._read(name, "addresses and networks, by commas", _networks, default=nothing, help=help))

    def choice(self, name: str, choices: tuple[str, ...], *, default: str, help: str) -> str:  # noqa: A002
        return self._read(name, " or ".join(choices), _choice(choices), default=default, help=help)

    def path(self, name: str, *, default: Path, shown: str, help: str) -> Path:  # noqa: A002
        found = self._read(name, "folder", Path, default=default, help=help, shown=shown)
        return (self.folder / found.expanduser()).resolve()

    def _read(
        self,
        name: str,
        kind: str,
        parse: Callable[[str], T],
        *,
        default: T,
        help: str,  # noqa: A002
        shown: str | None = None,
    ) -> T:
        self.declared[name] = Setting(name, kind, _show(default) if shown is None else shown, help)
        raw = self._raw(name)
        if raw is None:
            return default
        try:
            return parse(raw)
        except ValueError as expected:
            # The value is not repeated: it may be a secret in the wrong place.
            raise ImproperlyConfigured(f"{name} must be {expected}. ({help})") from None

    def _raw(self, name: str) -> str | None:
        """Return the value, stripped; empty counts as unset, so that compose files may pass blanks on."""
        value = self.values.get(name, "").strip()
        secret_file = self.values.get(f"{name}_FILE", "").strip()
        if value and secret_file:
            raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; keep one of them.")
        if secret_file:
            value = _read_secret(f"{name}_FILE", self.folder / secret_file)
        return value or None


def load_environment(folder: Path, process: Mapping[str, str] = os.environ) -> Environment:
    """Return the environment: what *process* has, and for the rest *folder*'s `.env`, or the file ENV_FILE names."""
    dotenv = folder / process.get("ENV_FILE", ".env")
    return Environment({**read_dotenv(dotenv), **process}, folder)


def _read_secret(name: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ImproperlyConfigured(f"{name} can't be read: {reason}.") from None


# The parsers: each raises ValueError with the words that come after "must be".


def _integer(minimum: int, maximum: int | None) -> Callable[[str], int]:
    bounds = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"

    def parse(raw: str) -> int:
        value = int(raw) if re.fullmatch(r"[+-]?[0-9]+", raw) else None
        if value is None or value < minimum or (maximum is not None and value > maximum):
            raise ValueError(f"a whole number {bounds}")
        return value

    return parse


def _positive_number(raw: str) -> float:
    try:
        value = float(raw)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError("a number that is not below 0")
    return value


def _switch(raw: str) -> bool:
    if raw.lower() in TRUE_WORDS:
        return True
    if raw.lower() in FALSE_WORDS:
        return False
    raise ValueError("on or off")


def _words(raw: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in raw.split(",") if word.strip())


def _networks(raw: str) -> tuple[str, ...]:
    words = _words(raw)
    if not all(_is_network(word) for word in words):
        raise ValueError("addresses or networks, by commas, such as 192.0.2.1 or 192.0.2.0/24, and never everybody")
    return words


def _is_network(word: str) -> bool:
    try:
        return ipaddress.ip_network(word).prefixlen > 0
    except ValueError:
        return False


def _choice(choices: tuple[str, ...]) -> Callable[[str], str]:
    def parse(raw: str) -> str:
        if raw not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return raw

    return parse


def _show(default: object) -> str:
    """Write a default as docs/settings.md shows it."""
    if isinstance(default, bool):
        return "on" if default else "off"
    if default is None or default in ("", ()):
        return ""
    return ", ".join(default) if isinstance(default, tuple) else str(default)

"""Settings from the environment and an optional `.env`: read once, typed, loud when wrong.

Each setting is declared once, with its type, default and a sentence of help; README's table is made from the
declarations and a test compares the two. A value can also come from a file: `NAME_FILE=/run/secrets/name`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Setting:
    """A declared setting: what README's table shows of it."""

    name: str
    kind: str
    default: str
    help: str


@dataclass
class Environment:
    """Typed access to a mapping of strings; remembers what was declared."""

    values: Mapping[str, str]
    declared: dict[str, Setting] = field(default_factory=dict)

    def text(self, name: str, *, default: str = "", help: str) -> str:  # noqa: A002
        return self._read(name, "text", str, default=default, help=help)

    def integer(self, name: str, *, default: int, minimum: int = 0, help: str) -> int:  # noqa: A002
        return self._read(name, "whole number", _integer(minimum), default=default, help=help)

    def number(self, name: str, *, default: float | None, help: str) -> float | None:  # noqa: A002
        return self._read(name, "number", _positive_number, default=default, help=help)

    def switch(self, name: str, *, default: bool, help: str) -> bool:  # noqa: A002
        return self._read(name, "on/off", _switch, default=default, help=help)

    def words(self, name: str, *, default: tuple[str, ...] = (), help: str) -> list[str]:  # noqa: A002
        return list(self._read(name, "list, by commas", _words, default=default, help=help))

    def choice(self, name: str, choices: tuple[str, ...], *, default: str, help: str) -> str:  # noqa: A002
        return self._read(name, " or ".join(choices), _choice(choices), default=default, help=help)

    def path(self, name: str, *, default: Path, shown: str, help: str) -> Path:  # noqa: A002
        found = self._read(name, "folder", Path, default=default, help=help, shown=shown)
        return found.expanduser().resolve()

    def _read(
        self,
        name: str,
        kind: str,
        parse: Callable[[str], T],
        *,
        default: Any,
        help: str,  # noqa: A002
        shown: str | None = None,
    ) -> T:
        self.declared[name] = Setting(name, kind, _show(default) if shown is None else shown, help)
        raw = self._raw(name)
        if raw is None:
            return default
        try:
            return parse(raw)
        except ValueError as exc:
            # The value is not repeated: it may be a secret in the wrong place.
            raise ImproperlyConfigured(f"{name} must be a {kind}: {exc}. {help}") from None

    def _raw(self, name: str) -> str | None:
        """Return the value, stripped; empty counts as unset, so that compose files may pass blanks on."""
        value = self.values.get(name, "").strip()
        secret_file = self.values.get(f"{name}_FILE", "").strip()
        if value and secret_file:
            raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; keep one of them.")
        if secret_file:
            value = _read_secret(f"{name}_FILE", Path(secret_file))
        return value or None


def load_environment(dotenv: Path, process: Mapping[str, str] = os.environ) -> Environment:
    """Return the environment: what *process* has, and for the rest the file *dotenv* if it is there."""
    values = dict(_dotenv_pairs(dotenv)) if dotenv.is_file() else {}
    return Environment({**values, **process})


def _dotenv_pairs(dotenv: Path) -> Iterator[tuple[str, str]]:
    for number, raw_line in enumerate(dotenv.read_text(encoding="utf-8").splitlines(), start=1):
        line = raw_line.strip().removeprefix("export ")
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not name.strip().isidentifier():
            raise ImproperlyConfigured(f"{dotenv.name}, line {number}: expected NAME=value.")
        yield name.strip(), _unquote(value.strip())


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _read_secret(name: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as exc:
        raise ImproperlyConfigured(f"{name} can't be read: {exc.strerror}.") from None


def _integer(minimum: int) -> Callable[[str], int]:
    def parse(raw: str) -> int:
        value = int(raw)
        if value < minimum:
            raise ValueError(f"it must be at least {minimum}")
        return value

    return parse


def _positive_number(raw: str) -> float:
    value = float(raw)
    if not 0 <= value < float("inf"):
        raise ValueError("it must be finite and not below 0")
    return value


def _switch(raw: str) -> bool:
    if raw.lower() in TRUE_WORDS:
        return True
    if raw.lower() in FALSE_WORDS:
        return False
    raise ValueError("write on or off")


def _words(raw: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in raw.split(",") if word.strip())


def _choice(choices: tuple[str, ...]) -> Callable[[str], str]:
    def parse(raw: str) -> str:
        if raw not in choices:
            raise ValueError("write one of " + ", ".join(choices))
        return raw

    return parse


def _show(default: object) -> str:
    """Write a default as README's table shows it."""
    if isinstance(default, bool):
        return "on" if default else "off"
    if default is None or default in ("", ()):
        return ""
    return ", ".join(default) if isinstance(default, tuple) else str(default)

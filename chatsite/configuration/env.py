"""Settings from the environment and an optional `.env`: declared once, typed, with errors that name the setting.

Each setting is declared with its type, default and a sentence of help; docs/settings.md is made from the
declarations and a test compares the two. A value can also come from a file: `NAME_FILE=/run/secrets/name`. One that was
renamed is understood under its old name for one version, with a warning.
"""

from __future__ import annotations

import difflib
import ipaddress
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured

from chatsite.configuration.dotenv import read_dotenv, read_limited

T = TypeVar("T")
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
LARGEST_FILE_BYTES = 64 * 1024
# What compose.yaml, Django and the process itself read from the same file; and of OpenTelemetry all that begins so.
READ_BY_OTHERS = frozenset({"POSTGRES_PASSWORD", "REDIS_PASSWORD", "ENV_FILE", "DJANGO_SETTINGS_MODULE"})
TELEMETRY = "OTEL_"
HIDDEN = "secret"  # the kind of a setting that no page, log or command shows
SIMILAR = 0.85  # of two names, as `difflib` measures it: one or two letters too many, missing or exchanged


@dataclass(frozen=True, slots=True)
class Setting:
    """A declared setting: what docs/settings.md shows of it. *formerly* is its name in the version before."""

    name: str
    kind: str
    default: str
    help: str
    formerly: str = ""


@dataclass
class Environment:
    """Typed access to a mapping of strings; remembers what was declared. Relative paths start in *folder*.

    *written* are the names that stand in *file*, `.env`, where a name that no setting has is a mistake.
    """

    values: Mapping[str, str]
    folder: Path = Path()
    file: Path = Path(".env")
    written: Collection[str] = ()
    declared: dict[str, Setting] = field(default_factory=dict)

    def text(self, name: str, *, default: str = "", help: str) -> str:  # noqa: A002
        return self._read(name, "text", str, default=default, help=help)

    def secret(self, name: str, *, help: str) -> str:  # noqa: A002
        return self._read(name, HIDDEN, _one_line, default="", help=help)

    def integer(
        self,
        name: str,
        *,
        default: int,
        minimum: int = 0,
        maximum: int | None = None,
        formerly: str = "",
        help: str,  # noqa: A002
    ) -> int:
        parse = _integer(minimum, maximum)
        return self._read(name, "whole number", parse, default=default, help=help, formerly=formerly)

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
        formerly: str = "",
    ) -> T:
        self.declared[name] = Setting(name, kind, _show(default) if shown is None else shown, help, formerly)
        raw = self._raw(name, formerly)
        if raw is None:
            return default
        try:
            return parse(raw)
        except ValueError as expected:
            # The value is not repeated: it may be a secret in the wrong place.
            raise ImproperlyConfigured(f"{name} must be {expected}. ({help})") from None

    def secrets(self) -> set[str]:
        """Return the values of all secrets that are set, so that no output repeats one."""
        declared = (setting for setting in self.declared.values() if setting.kind == HIDDEN)
        return {value for setting in declared if (value := self._raw(setting.name, setting.formerly))}

    def name_warnings(self) -> Iterator[str]:
        """Yield a sentence for each old name that is set, and for each name in `.env` that looks like a setting's."""
        known = {name for setting in self.declared.values() for name in (setting.name, setting.formerly) if name}
        for setting in self.declared.values():
            if setting.formerly and self._value(setting.formerly) is not None:
                yield f"{setting.formerly} is called {setting.name} now. The next version will not know the old name."
        for name in self.written:
            bare = name.removesuffix("_FILE")
            if bare in known or bare in READ_BY_OTHERS or bare.startswith(TELEMETRY):
                continue
            for nearest in difflib.get_close_matches(bare, known, n=1, cutoff=SIMILAR):
                yield f"{name} is not a setting and has no effect. Is {nearest}{name[len(bare) :]} meant?"

    def _raw(self, name: str, formerly: str) -> str | None:
        """Return the value; that of the old name where the new one is not set."""
        value = self._value(name)
        old = self._value(formerly) if formerly else None
        if value is not None and old is not None and value != old:
            raise ImproperlyConfigured(
                f"{name} and {formerly}, its old name, are set to different values; keep {name}."
            )
        return old if value is None else value

    def _value(self, name: str) -> str | None:
        """Return the value, stripped; empty counts as unset, so that compose files may pass blanks on."""
        value = self.values.get(name, "").strip()
        file = self.values.get(f"{name}_FILE", "").strip()
        if value and file:
            raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; keep one of them.")
        if file:
            value = _read_value(f"{name}_FILE", self.folder / file)
        return value or None


def load_environment(folder: Path, process: Mapping[str, str] = os.environ) -> Environment:
    """Return the environment: what *process* has, and for the rest *folder*'s `.env`, or the file ENV_FILE names.

    A file that was named has to be there: without it, the site would start with another database, and seem empty.
    """
    named = process.get("ENV_FILE", "").strip()
    dotenv = folder / (named or ".env")
    if named and not dotenv.exists():
        raise ImproperlyConfigured("ENV_FILE names a file that is not there.")
    written = read_dotenv(dotenv)
    return Environment({**written, **process}, folder, file=dotenv, written=tuple(written))


def _read_value(name: str, path: Path) -> str:
    """Return what is in the file, stripped. Its path is not repeated: it may be a secret in the wrong place."""
    try:
        content = read_limited(path, LARGEST_FILE_BYTES)
        value = content.decode("utf-8-sig").strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{name} can't be read: {error.strerror}.") from None
    except ValueError:  # also a path with a null character
        raise ImproperlyConfigured(f"{name} can't be read: it is not UTF-8 text.") from None
    if not value:
        raise ImproperlyConfigured(f"{name} can't be read: the file is empty.")
    if len(content) > LARGEST_FILE_BYTES:
        raise ImproperlyConfigured(f"{name} can't be read: the file has more than {LARGEST_FILE_BYTES:,} bytes.")
    return value


# The parsers: each raises ValueError with the words that come after "must be".


def _integer(minimum: int, maximum: int | None) -> Callable[[str], int]:
    bounds = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"

    def parse(raw: str) -> int:
        value = int(raw) if re.fullmatch(r"[+-]?[0-9]+", raw) else None
        if value is None or value < minimum or (maximum is not None and value > maximum):
            raise ValueError(f"a whole number {bounds}")
        return value

    return parse


def _one_line(raw: str) -> str:
    if len(raw.splitlines()) > 1 or "\0" in raw:
        raise ValueError("one line of text")
    return raw


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

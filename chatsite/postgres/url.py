"""Parse `DATABASE_URL` into Django's database settings. No error repeats what may be a part of the password."""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from psycopg.pq import Conninfo

SCHEMES = ("postgres", "postgresql")
EXAMPLE = "postgres://user:password@host:5432/name?sslmode=require"
# Parameters that have a setting of their own; the rest goes to libpq as it is.
SETTING_NAMES = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD", "dbname": "NAME"}
LIBPQ_PARAMETERS = frozenset(option.keyword.decode() for option in Conninfo.get_defaults())


def parse_database_url(url: str) -> dict[str, Any]:
    """Return the Django database settings that *url* stands for.

    Understood is what libpq understands of one host: percent-encoded parts, IPv6 in brackets, a Unix
    socket's folder as encoded host or as `?host=/folder`, and libpq's parameters, such as `sslmode`. Raises
    `ValueError` for the rest.
    """
    parts = _split(url)
    database: dict[str, Any] = {"ENGINE": "chatsite.postgres", "OPTIONS": {}}
    database |= _address(parts.netloc) | {"NAME": unquote(parts.path.removeprefix("/"))}
    for name, value in _parameters(parts.query):
        _apply(database, name, value)
    if not database["NAME"]:
        raise ValueError(f"the name of the database is missing; write it like {EXAMPLE}")
    _require_port(database["PORT"])
    return database


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        raise ValueError(f"it is not a URL; write it like {EXAMPLE}") from None
    if parts.scheme not in SCHEMES or not url.strip().startswith(f"{parts.scheme}://"):
        raise ValueError(f"it must begin with postgres:// or postgresql://, like {EXAMPLE}")
    if parts.fragment or "@" in parts.path + parts.query:
        raise ValueError("write / ? # @ and : in user name or password percent-encoded, such as %2F for /")
    return parts


def _address(netloc: str) -> dict[str, str]:
    credentials, _, location = netloc.rpartition("@")
    user, _, password = credentials.partition(":")
    if location.startswith("["):
        host, _, port = location.removeprefix("[").partition("]")
        port = port.removeprefix(":")
    else:
        host, _, port = location.partition(":")
    return {"USER": unquote(user), "PASSWORD": unquote(password), "HOST": unquote(host), "PORT": port}


def _parameters(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise ValueError("its parameters must be name=value, joined by &") from None


def _apply(database: dict[str, Any], name: str, value: str) -> None:
    if name not in LIBPQ_PARAMETERS:
        raise ValueError(f"the parameter {name!r} is none of PostgreSQL's")
    settings = database if name in SETTING_NAMES else database["OPTIONS"]
    key = SETTING_NAMES.get(name, name)
    if settings.get(key):
        raise ValueError(f"{name} is given twice")
    settings[key] = value


def _require_port(port: str) -> None:
    if port and not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
        raise ValueError("the port must be a number from 1 to 65535 (and : in a password is written %3A)")

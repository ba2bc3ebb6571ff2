"""Copy a database out and in with PostgreSQL's own pg_dump and pg_restore, which come with the embedded server."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import IO, Any

from psycopg import conninfo
from psycopg.pq import Conninfo

from chatsite.postgres.embedded.server import program

COMPRESSION = "gzip:4"
LIBPQ_PARAMETERS = frozenset(option.keyword.decode() for option in Conninfo.get_defaults())


class DatabaseCopyFailed(Exception):
    """pg_dump or pg_restore could not do it: says what the program said."""


def dump_database(address: Mapping[str, Any], *, snapshot: str, part_bytes: int) -> Iterator[bytes]:
    """Yield the database at *address* as an exported *snapshot* has it, in parts of that size.

    *address* has the parameters of psycopg's `connect`. Raises `DatabaseCopyFailed`.
    """
    arguments = ["--format=custom", f"--compress={COMPRESSION}", "--no-owner", "--no-privileges"]
    with _Running("pg_dump", address, *arguments, f"--snapshot={snapshot}") as pipe:
        while part := pipe.read(part_bytes):
            yield part


def restore_database(address: Mapping[str, Any], parts: Iterable[bytes]) -> None:
    """Fill the empty database at *address* from what `dump_database` yielded, by one transaction: all of it or nothing.

    Raises `DatabaseCopyFailed`.
    """
    arguments = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-comments"]
    with _Running("pg_restore", address, *arguments, takes_input=True) as pipe, suppress(BrokenPipeError):
        for part in parts:
            pipe.write(part)  # once the program has ended, it says why


class _Running:
    """A program of PostgreSQL and the pipe to it, or from it. `DatabaseCopyFailed` unless it has ended well."""

    def __init__(self, name: str, address: Mapping[str, Any], *arguments: str, takes_input: bool = False) -> None:
        self._name, self._takes_input = name, takes_input
        self._command = [str(program(name)), *arguments, f"--dbname={_without_password(address)}"]
        self._environment = os.environ | {"PGPASSWORD": str(address.get("password") or "")}

    def __enter__(self) -> IO[bytes]:
        self._said = tempfile.TemporaryFile()
        self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603
            self._command,
            stdin=subprocess.PIPE if self._takes_input else subprocess.DEVNULL,
            stdout=None if self._takes_input else subprocess.PIPE,
            stderr=self._said,
            env=self._environment,
        )
        pipe = self._process.stdin if self._takes_input else self._process.stdout
        self._pipe: IO[bytes] = pipe  # type: ignore[assignment]  # asked for above
        return self._pipe

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._said:
            if kind is not None:
                self._process.kill()
            with suppress(BrokenPipeError):
                self._pipe.close()
            status = self._process.wait()
            if kind is None and status:
                raise DatabaseCopyFailed(self._describe(status))

    def _describe(self, status: int) -> str:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return f"{self._name} ended with {status}: " + (lines[0][:500] if lines else "it said nothing")


def _without_password(address: Mapping[str, Any]) -> str:
    """Return *address* as a connection string: arguments of programs are seen by all users of a machine."""
    named = {name: value for name, value in address.items() if name in LIBPQ_PARAMETERS and value not in (None, "")}
    named.pop("password", None)
    return conninfo.make_conninfo("", **named)

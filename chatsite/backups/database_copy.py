"""Copy a database out and in with PostgreSQL's pg_dump, pg_restore and psql, as they come with the embedded server."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import IO, Any

from psycopg import conninfo
from psycopg.pq import Conninfo

from chatsite.parent_process import bind_to_parent
from chatsite.postgres.embedded.server import program

COMPRESSION = "gzip:1"  # 4 takes two and a half times as long for a file that is 4 % smaller
COPY_BYTES = 2**20
MOST_SAID_BYTES = 64 * 1024
LIBPQ_PARAMETERS = frozenset(option.keyword.decode() for option in Conninfo.get_defaults())
NOT_BEFORE_17 = b"SET transaction_timeout = 0;\n"
LINES_OF_SETTINGS = 40  # more than pg_restore writes before the first object


class DatabaseCopyFailed(Exception):
    """A program of PostgreSQL could not do it: says what the program said."""


def dump_database(
    address: Mapping[str, Any], *, snapshot: str, part_bytes: int, without_extensions: Iterable[str] = ()
) -> Generator[bytes]:
    """Yield the database at *address* as an exported *snapshot* has it, in parts of that size.

    *address* has the parameters of psycopg's `connect`. Raises `DatabaseCopyFailed`.
    """
    arguments = ["--format=custom", f"--compress={COMPRESSION}", "--no-owner", "--no-privileges"]
    arguments += [f'--exclude-extension="{name}"' for name in without_extensions]
    with _Running("pg_dump", *arguments, f"--snapshot={snapshot}", address=address, gives_output=True) as running:
        while part := running.output.read(part_bytes):
            yield part


def restore_database(address: Mapping[str, Any], parts: Iterable[bytes], *, last_statement: str = "") -> None:
    """Fill the empty database at *address* from what `dump_database` yielded, by one transaction: all of it or nothing.

    *last_statement* is run behind the rows, in that transaction.

    psql gets what pg_restore writes as SQL. pg_restore could not do it alone: it sets a parameter that servers before
    PostgreSQL 17 do not have. Raises `DatabaseCopyFailed`.
    """
    arguments = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]
    with (
        _Running("psql", *arguments, address=address, takes_input=True) as psql,
        suppress(BrokenPipeError),  # it has ended, and says why
        psql.input as statements,
    ):
        statements.write(b"BEGIN;\n")
        _write_statements(parts, statements)
        if last_statement:
            statements.write(last_statement.encode() + b";\n")
        statements.write(b"COMMIT;\n")  # psql does nothing at the end of its input: what was cut off is rolled back


def _write_statements(parts: Iterable[bytes], statements: IO[bytes]) -> None:
    """Write the SQL that makes what is in *parts*. Raises `DatabaseCopyFailed`, and what *parts* raises."""
    arguments = ["--file=-", "--no-owner", "--no-privileges", "--no-comments"]
    with (
        ThreadPoolExecutor(1) as pool,
        _Running("pg_restore", *arguments, takes_input=True, gives_output=True) as running,
    ):
        feeding = pool.submit(_feed, running.input, parts)
        for line in islice(running.output, LINES_OF_SETTINGS):
            if line != NOT_BEFORE_17:
                statements.write(line)
        shutil.copyfileobj(running.output, statements, COPY_BYTES)
        feeding.result()


def _feed(pipe: IO[bytes], parts: Iterable[bytes]) -> None:
    with suppress(BrokenPipeError), pipe:  # once the program has ended, it says why
        for part in parts:
            pipe.write(part)


class _Running:
    """A program of PostgreSQL and the pipes to and from it. `DatabaseCopyFailed` unless it has ended well."""

    def __init__(
        self,
        name: str,
        *arguments: str,
        address: Mapping[str, Any] | None = None,
        takes_input: bool = False,
        gives_output: bool = False,
    ) -> None:
        self._name = name
        self._command = [str(program(name)), *arguments]
        self._environment = dict(os.environ)
        if address is not None:
            self._command.append(f"--dbname={_without_password(address)}")
            self._environment["PGPASSWORD"] = str(address.get("password") or "")
        self._stdin = subprocess.PIPE if takes_input else subprocess.DEVNULL
        self._stdout = subprocess.PIPE if gives_output else subprocess.DEVNULL
        self._said = b""

    def __enter__(self) -> _Running:
        try:
            self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603
                self._command,
                stdin=self._stdin,
                stdout=self._stdout,
                stderr=subprocess.PIPE,
                env=self._environment,
                preexec_fn=bind_to_parent(),  # it may wait for a lock, and holds the database's old rows
            )
        except OSError as error:
            raise DatabaseCopyFailed(f"{self._name} can't be started: {error.strerror or error}") from error
        # In memory: it may be a full disk that the program complains of.
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        return self

    @property
    def input(self) -> IO[bytes]:
        return self._process.stdin  # type: ignore[return-value]  # there where it was asked for

    @property
    def output(self) -> IO[bytes]:
        return self._process.stdout  # type: ignore[return-value]

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            self._process.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
        status = self._process.wait()
        self._listening.join()
        if kind is None and status:
            raise DatabaseCopyFailed(self._describe(status))

    def _listen(self) -> None:
        """Keep the beginning of what the program says, and read the rest, so that it never waits."""
        stderr: IO[bytes] = self._process.stderr  # type: ignore[assignment]
        with stderr:
            while piece := stderr.read1(4_096):  # type: ignore[attr-defined]
                if len(self._said) < MOST_SAID_BYTES:
                    self._said += piece

    def _describe(self, status: int) -> str:
        lines = self._said.decode(errors="replace").strip().splitlines()
        told = next((line for line in lines if "error" in line.lower() or "fatal" in line.lower()), "".join(lines[:1]))
        return f"{self._name} ended with {status}: {told[:500] or 'it said nothing'}"


def _without_password(address: Mapping[str, Any]) -> str:
    """Return *address* as a connection string: arguments of programs are seen by all users of a machine."""
    named = {name: value for name, value in address.items() if name in LIBPQ_PARAMETERS and value not in (None, "")}
    named.pop("password", None)
    return conninfo.make_conninfo("", **named)

"""The migrations that made a database: a table beside Django's, with the checksum of each and its version.

Django's own table knows names alone. Until version 1.0 the initial migrations were edited in place, so that databases
of the same names differ; and of a migration that is not one transaction it can't tell that it began. A row here is
written together with what the migration does: it has an end as soon as Django's table has the migration.
"""

from __future__ import annotations

import ast
import datetime as dt
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db.migrations.loader import MigrationLoader
from psycopg import Connection

from .released import RELEASED

TABLE = "windowseat_migrations"
CREATE_TABLE = f"""
CREATE TABLE IF NOT EXISTS {TABLE} (
    app text, name text, checksum text NOT NULL, version text NOT NULL,
    began_at timestamptz NOT NULL, ended_at timestamptz, progress jsonb NOT NULL DEFAULT '{{}}',
    PRIMARY KEY (app, name)
)
"""
THERE = "SELECT to_regclass('django_migrations') IS NOT NULL, to_regclass(%s) IS NOT NULL"
MADE = f"SELECT app, name, checksum, version, began_at, ended_at FROM {TABLE}"  # noqa: S608 -- a constant
LAYOUT = {"kind", "type_comment", "ctx"}  # of a part of the code, beside what it does
OUR_PACKAGES = ("chatsite", "conversations")
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class AppliedMigration:
    """A migration that began. *checksum* is empty for those of libraries."""

    checksum: str
    version: str
    began_at: str
    ended: bool


@dataclass(frozen=True, slots=True)
class MigrationHistory:
    """What a database says of itself. *made* is None where the table is missing."""

    applied: frozenset[Key]
    made: Mapping[Key, AppliedMigration] | None

    def as_json(self) -> dict[str, Any]:
        made = self.made or {}
        return {
            "migrations": sorted(self.applied),
            "history": [
                [app, name, each.checksum, each.version, each.began_at, each.ended]
                for (app, name), each in sorted(made.items())
            ],
        }

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> MigrationHistory:
        """Return what `as_json` gave; one without a history is of a database that had none."""
        rows = written.get("history")
        made = rows and {(app, name): AppliedMigration(*rest) for app, name, *rest in rows}
        return cls(frozenset((app, name) for app, name in written["migrations"]), made or None)

    @property
    def version(self) -> str:
        """The newest version that has applied some of it; empty if none has."""
        return max((each.version for each in (self.made or {}).values()), key=version_key, default="")

    @property
    def unknown(self) -> list[Key]:
        """The migrations of the site's own apps that this code doesn't have."""
        ours = own_apps()
        return sorted(key for key in {*self.applied, *(self.made or {})} - known_migrations() if key[0] in ours)

    @property
    def waiting(self) -> list[Key]:
        """The migrations of this code that are not applied."""
        return sorted(known_migrations() - self.applied)

    @property
    def unfinished(self) -> list[Key]:
        """Those of this code that began and did not end."""
        made = self.made or {}
        return sorted(key for key in self.waiting if key in made and not made[key].ended)

    @property
    def changed(self) -> list[Key]:
        """Those of the site's own apps that were applied as something else than this code has."""
        checksums, made = own_checksums(), self.made or {}
        return sorted(
            key for key in self.applied & checksums.keys() if key not in made or made[key].checksum != checksums[key]
        )


def read_migration_history(connection: Connection) -> MigrationHistory:
    """Return the history of the database behind *connection*; of an empty one, an empty history."""
    [(has_applied, has_made)] = connection.execute(THERE, [TABLE])
    applied = frozenset(connection.execute("SELECT app, name FROM django_migrations")) if has_applied else frozenset()
    if not has_made:
        return MigrationHistory(applied, None)
    rows = connection.execute(MADE)
    return MigrationHistory(applied, {(app, name): _as_applied(*rest) for app, name, *rest in rows})


def _as_applied(checksum: str, version: str, began_at: dt.datetime, ended_at: dt.datetime | None) -> AppliedMigration:
    return AppliedMigration(checksum, version, f"{began_at:%Y-%m-%d %H:%M}", ended_at is not None)


def version_key(version: str) -> tuple[int, ...]:
    """Return what orders versions: 1.10 is after 1.9."""
    return tuple(map(int, re.findall(r"\d+", version)))


@cache
def known_migrations() -> frozenset[Key]:
    """Return all migrations of this code and its libraries."""
    return frozenset(MigrationLoader(None).graph.nodes)


@cache
def own_apps() -> frozenset[str]:
    """Return the labels of the apps whose migrations are written here, not by a library."""
    return frozenset(app.label for app in apps.get_app_configs() if app.name.partition(".")[0] in OUR_PACKAGES)


@cache
def own_checksums() -> dict[Key, str]:
    """Return what a database notes of each migration that is written here. Of a released one it never changes."""
    ours = own_apps()
    migrations = MigrationLoader(None).disk_migrations.items()
    return {key: RELEASED.get(key) or checksum_of_module(each.__module__) for key, each in migrations if key[0] in ours}


def checksum_of_module(module: str) -> str:
    """Return the SHA-256 of a migration's code, and of what it takes by `from ... import` from our packages.

    So SQL that stands in a module beside it counts as its own. What Django writes as `import ...`, such as validators
    of a model, does not: it may change. Nor do comments, docstrings and the layout.
    """
    digest = hashlib.sha256()
    for code in _modules(module):
        digest.update(_describe(code).encode())
    return digest.hexdigest()


def _modules(module: str) -> Iterable[ast.Module]:
    code = _parse(module)
    yield code
    names = {node.module for node in ast.walk(code) if isinstance(node, ast.ImportFrom) and node.module}
    for name in sorted(names):
        if name.partition(".")[0] in OUR_PACKAGES and not name.startswith("chatsite.schema"):
            yield _parse(name)


def _parse(module: str) -> ast.Module:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ImportError(f"{module} has no source")
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


def _describe(part: object) -> str:
    """Return code without what does nothing. `ast.dump` gives another text in another version of Python."""
    if isinstance(part, list):
        return f"[{', '.join(_describe(each) for each in part if not _is_docstring(each))}]"
    if not isinstance(part, ast.AST):
        return ascii(part)
    fields = [(name, value) for name, value in ast.iter_fields(part) if name not in LAYOUT and value not in (None, [])]
    return f"{type(part).__name__}({', '.join(f'{name}={_describe(value)}' for name, value in fields)})"


def _is_docstring(statement: object) -> bool:
    """Tell whether it is text that stands alone."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False

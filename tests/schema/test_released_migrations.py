"""Migrations of releases do what they did: a database that was made by them could not be told from another."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from chatsite.schema.history import checksum_of_module, own_checksums
from chatsite.schema.released import RELEASED
from tests.faults.databases import new_database
from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT

PACKAGES = {"accounts": "chatsite.accounts", "conversations": "conversations"}
# What those come to whose text 1.0.0 took the checksum of.
OF_1_0_0 = {
    ("accounts", "0001_initial"): "e439c1aa517f7980521840339b7105eae82ce4f277d46d246c031634be3273bc",
    ("conversations", "0001_initial"): "80553ffe40142a232df66cab09ccb5ff6d808769935d3f1bb792683080ab430b",
}
ROW_OF_1_0_0 = (
    "INSERT INTO conversations_privacynotice (singleton, content, changed_at) VALUES (true, 'Ask Ada', now())"
)
NOTED = "SELECT app, name, checksum FROM windowseat_migrations WHERE app IN ('accounts', 'conversations')"
SQL = '''"""What keeps rows."""

KEEP = "CREATE TRIGGER"


def lock(table):
    """Return the statement."""
    return f"{KEEP} ON {table}"  # a reason
'''
SAME = '''"""Other words."""
KEEP = (
    "CREATE "
    'TRIGGER'
)
def lock(
    table,
):
    return f"{KEEP} ON {table}"
'''


@pytest.mark.parametrize("key", RELEASED)
def test_a_released_migration_does_what_it_did(key):
    name, found = ".".join(key), checksum_of_module(f"{PACKAGES[key[0]]}.migrations.{key[1]}")
    assert found == OF_1_0_0.get(key, RELEASED[key]), (
        f"{name} was released, and databases have been made by it: take the change of what it does, or of a module "
        "that it takes SQL from, back, and write a new migration (CONTRIBUTING.md, Migrations)."
    )
    assert own_checksums()[key] == RELEASED[key]


@pytest.fixture
def checksum(tmp_path, monkeypatch):
    """A function that returns the checksum of a migration, which takes SQL from *sql* and names a *model*."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("chatsite.schema.history.OUR_PACKAGES", ("zoo",))
    folder = tmp_path / "zoo"
    folder.mkdir()
    (folder / "__init__.py").touch()

    def find(sql=SQL, *, migration="import zoo.model\nfrom zoo.sql import KEEP\n", model="LONG = 9\n"):
        for name, text in {"migration": migration, "sql": sql, "model": model}.items():
            (folder / f"{name}.py").write_text(text)
        return checksum_of_module("zoo.migration")

    yield find
    sys.modules.pop("zoo", None)


def test_a_checksum_is_of_what_the_migration_does_and_of_the_sql_that_it_imports(checksum):
    changed = [
        checksum(),
        checksum(migration="import zoo.model\nfrom zoo.sql import KEEP, lock\n"),
        *(checksum(SQL.replace(*each)) for each in [("TRIGGER", "RULE"), ("ON {", "ON  {"), ("def lock", "def _lock")]),
        checksum(SQL.replace("return ", "")),
    ]
    assert len(set(changed)) == len(changed)


def test_comments_docstrings_layout_and_what_is_imported_whole_may_change(checksum):
    assert checksum() == checksum(SAME) == checksum(model="LONG = 10\n")
    assert checksum() == checksum(
        migration="# How it began.\nimport zoo.model\n\nfrom zoo.sql import (\n    KEEP,\n)\n"
    )


def test_a_database_of_1_0_0_is_brought_up_to_date(postgres):
    with new_database(postgres) as database:

        def migrate(*arguments):
            command = [sys.executable, "manage.py", "migrate", *arguments]
            environment = os.environ | {"DATABASE_URL": database.url}
            subprocess.run(command, cwd=PROJECT, env=environment, timeout=PATIENCE_SECONDS, check=True)

        migrate("conversations", "0001_initial")
        noted = {(row["app"], row["name"]): row["checksum"] for row in database.rows(NOTED)}
        assert noted == {key: RELEASED[key] for key in OF_1_0_0}
        database.rows(ROW_OF_1_0_0)
        migrate()
        [row] = database.rows("SELECT content, names_servers, provider_name FROM conversations_privacynotice")
        assert tuple(row.values()) == ("Ask Ada", True, "")

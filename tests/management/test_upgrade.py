"""`manage.py upgrade` and its rehearsal, as processes of a made-up next version of the product."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from django.core.management import call_command

from chatsite.version import product_version
from tests.faults.databases import new_database
from tests.support.next_version import ADD_RETIRED_COLUMN, MIGRATIONS, VERSION, make_next_version
from tests.support.patience import PATIENCE_SECONDS

COLUMNS = """
SELECT attname FROM pg_attribute
WHERE attrelid = 'conversations_message'::regclass AND attname IN ('shelf', 'old_note')
"""
HISTORY = """
SELECT name, version, checksum <> '' AS has_checksum, ended_at IS NOT NULL AS has_ended
FROM windowseat_migrations WHERE app = 'conversations' ORDER BY name
"""


@pytest.fixture(scope="module")
def next_version(tmp_path_factory):
    return make_next_version(tmp_path_factory.mktemp("next"))


@pytest.fixture
def database(postgres, template):
    with new_database(postgres, template=template.name) as database:
        database.rows(ADD_RETIRED_COLUMN)
        yield database


@pytest.fixture
def upgrade(next_version, database, tmp_path):
    """A function that runs `manage.py upgrade` with arguments, and returns the process and what it said."""
    environment = os.environ | {"DATABASE_URL": database.url, "VAR_DIR": str(tmp_path / "var"), "ENV_FILE": os.devnull}

    def run(*arguments):
        command = [sys.executable, "manage.py", "upgrade", *arguments]
        outcome = subprocess.run(
            command,
            cwd=next_version,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert not outcome.returncode, outcome.stderr
        return outcome.stdout

    return run


def columns(database):
    return {row["attname"] for row in database.rows(COLUMNS)}


def test_a_rehearsal_changes_nothing_and_an_upgrade_is_backed_up(database, upgrade, tmp_path):
    before = database.rows("SELECT * FROM django_migrations")
    said = upgrade("--rehearse")
    assert said.startswith("4 migrations wait.")
    assert re.findall(r"^conversations\.(\w+): \d+\.\d s$", said, re.MULTILINE) == list(MIGRATIONS)
    assert "Sums match the ledger, and all tables have the rows they had." in said
    assert columns(database) == {"old_note"}
    assert database.rows("SELECT * FROM django_migrations") == before

    said = upgrade()
    [backup] = (tmp_path / "var" / "backups").iterdir()
    assert said.startswith(f"Backup: {backup} (")
    assert f" to {VERSION} in " in said
    assert columns(database) == {"shelf"}
    history = [tuple(row.values()) for row in database.rows(HISTORY)]
    assert history[-4:] == [(name, VERSION, True, True) for name in MIGRATIONS]
    assert VERSION not in {version for _, version, *_ in history[:-4]}


@pytest.mark.django_db
def test_a_database_of_this_version_needs_no_upgrade(capsys):
    call_command("upgrade")
    assert capsys.readouterr().out == (
        f"The database is as version {product_version()} needs it: there is nothing to do.\n"
    )

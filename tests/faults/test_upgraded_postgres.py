"""The old embedded PostgreSQL is upgraded and the command killed: `postgres` is the one or the other, whole."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import pytest

from chatsite.postgres.embedded.server import DATABASE, EmbeddedServer
from tests.faults.databases import Database, new_database
from tests.support.earlier_postgres import make_earlier_data
from tests.support.site_commands import fill_site, rows_by_table, run_site_command, start_command

STEPS = ("The programs of", "Copying", "Comparing")  # what it says when it begins them
SECONDS_OF_A_STEP = 2.0  # of a small database
FOLDERS = ("postgres", "postgres.newer", "postgres.newer.unfinished", "postgres.upgraded", "postgres-16")


@pytest.fixture(scope="module")
def content(postgres, template, tmp_path_factory):
    with new_database(postgres, template=template.name) as database:
        fill_site(DATABASE_URL=database.url, VAR_DIR=tmp_path_factory.mktemp("var"))
        yield database


@pytest.fixture
def var_dir(content):
    folder = Path(tempfile.mkdtemp(prefix="earlier-", dir="/tmp"))
    make_earlier_data(folder / "postgres", content)
    yield folder
    shutil.rmtree(folder)


def test_killed_in_each_step_it_begins_again(content, var_dir, chance):
    settings = {"VAR_DIR": var_dir, "DATABASE_URL": "", "PYTHONUNBUFFERED": 1}
    for step in STEPS:
        process = start_command("upgrade_postgres", **settings)
        for line in process.stdout:
            if line.startswith(step):
                break
        time.sleep(chance.random() * SECONDS_OF_A_STEP)  # the moment is what is tried
        process.kill()
        process.communicate()
        print("\nkilled in", step, "with", [name for name in FOLDERS if (var_dir / name).exists()])
    run_site_command("upgrade_postgres", **settings)
    expect_upgraded(content, var_dir)


def test_killed_between_its_last_two_renames_the_next_start_does_the_last(content, var_dir):
    run_site_command("upgrade_postgres", VAR_DIR=var_dir, DATABASE_URL="")
    (var_dir / "postgres").rename(var_dir / "postgres.upgraded")
    expect_upgraded(content, var_dir)


def test_what_a_killed_one_has_made_is_not_taken_where_the_site_of_before_may_have_written(content, var_dir):
    """It was killed before the first of its last two renames."""
    (var_dir / "postgres.upgraded").mkdir()
    (var_dir / "postgres.newer").mkdir()
    run_site_command("upgrade_postgres", VAR_DIR=var_dir, DATABASE_URL="")
    expect_upgraded(content, var_dir)


def expect_upgraded(content, var_dir) -> None:
    server = EmbeddedServer(var_dir / "postgres")
    address = server.connection_settings()
    upgraded = Database(DATABASE, {"host": str(address["HOST"]), "user": address["USER"]})
    assert rows_by_table(upgraded.rows) == rows_by_table(content.rows)
    assert upgraded.value("SHOW server_version_num") > "180000"
    server.stop()
    assert [name for name in FOLDERS if (var_dir / name).exists()] == ["postgres", "postgres-16"]

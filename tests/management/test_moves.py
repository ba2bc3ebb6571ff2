"""`manage.py move_database` as real processes: from the tests' server, which is an embedded one, to one of an earlier
major version, and into a new embedded one. What is killed in between is in `tests/faults/test_moved_databases.py`.
"""

from __future__ import annotations

import io

import psycopg
import pytest

from chatsite.backups.database_copy import DatabaseCopyFailed
from chatsite.backups.table_digests import digest_tables, find_other_rows
from chatsite.postgres.embedded.server import DATABASE, EmbeddedServer
from chatsite.schema.move_note import read_move_note, spell_note
from conversations.management.moves import read_parts
from tests.faults.databases import Database, new_database
from tests.support.own_postgres import own_postgres
from tests.support.ports import free_port
from tests.support.site_commands import TABLES, fill_site, rows_by_table, run_site_command

NOTES = "SELECT 1 FROM pg_class WHERE relname = 'windowseat_move'"
PASSWORD = "not-to-be-shown"


RUN_EACH = """
import io
import sys
from django.core.management import CommandError, call_command
for arguments in {commands!r}:
    try:
        call_command("move_database", *arguments, stdout=io.StringIO())
        print("done", file=sys.stderr)
    except CommandError as error:
        print(str(error).replace("\\n", " "), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def own():
    with own_postgres() as database:
        yield database


@pytest.fixture(scope="module")
def source(postgres, template):
    with new_database(postgres, template=template.name) as database:
        yield database


@pytest.fixture(scope="module")
def var_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("var")


@pytest.fixture(scope="module")
def moved(source, own, var_dir):
    """What the command said that moved the site of *source* to *own*."""
    fill_site(DATABASE_URL=source.url, VAR_DIR=var_dir)
    address = var_dir / "address"
    address.write_text(f"{own.url}&password={PASSWORD}\n")
    return run_site_command("move_database", "--to-file", address, DATABASE_URL=source.url, VAR_DIR=var_dir)


def test_it_has_each_row_and_says_what_is_next(source, own, var_dir, moved):
    assert rows_by_table(own.rows) == rows_by_table(source.rows)
    assert not own.rows(NOTES)
    assert f"\n  DATABASE_URL_FILE={var_dir / 'address'}\n" in moved
    assert "rows in" in moved
    assert PASSWORD not in moved


def test_no_site_goes_on_where_it_was_before(source, var_dir, moved):
    said = run_site_command("run_worker", DATABASE_URL=source.url, VAR_DIR=var_dir, refused=True)
    assert "was moved from this database to the database chats at /" in said


def test_it_moves_into_the_embedded_one_and_goes_on_where_it_is_told_to(source, own, var_dir, moved):
    said = run_site_command("move_database", "--to-embedded", DATABASE_URL=own.url, VAR_DIR=var_dir)
    assert "Now take DATABASE_URL out of" in said
    server = EmbeddedServer(var_dir / "postgres")
    address = server.connection_settings()
    embedded = Database(DATABASE, {"host": address["HOST"], "user": address["USER"]})
    assert rows_by_table(embedded.rows) == rows_by_table(own.rows)
    script = RUN_EACH.format(commands=[("--to-embedded",), ("--undo",), ("--to-embedded",)])
    said = run_site_command("shell", "--verbosity", "0", "-c", script, DATABASE_URL=own.url, VAR_DIR=var_dir)
    moved_already, taken_back, has_tables = (line for line in said.splitlines() if not line.endswith("…"))
    assert "was moved from this database to the embedded PostgreSQL" in moved_already
    assert taken_back == "done"
    assert "are tables already" in has_tables
    assert not own.rows(NOTES)


def test_what_could_lose_something_is_refused_and_changes_nothing(postgres, template, tmp_path):
    other_encoding = {"template": "template0", "encoding": "SQL_ASCII"}
    with new_database(postgres, template=template.name) as site, new_database(postgres, **other_encoding) as other:
        before = rows_by_table(site.rows)
        refused = {
            ("--to", "mysql://x"): "must begin with postgres://",
            ("--to", f"postgres://127.0.0.1:{free_port()}/x"): "can't be used: connection failed",
            ("--to", site.url): "are tables already, such as ",
            ("--to", other.url): "is SQL_ASCII. It has to be UTF8.",
            ("--undo",): "was not moved from here",
        }
        script = RUN_EACH.format(commands=list(refused))
        settings = {"DATABASE_URL": site.url, "VAR_DIR": tmp_path}
        said = run_site_command("shell", "--verbosity", "0", "-c", script, **settings).splitlines()
        assert [(reason, line) for reason, line in zip(refused.values(), said, strict=True) if reason not in line] == []
        with psycopg.connect(dbname=site.name, application_name="a page", **site.address):
            said = run_site_command("move_database", "--to", other.url, **settings, refused=True)
        assert "is used by other sessions, 1 in number, such as this one: role windowseat, process " in said
        assert "a page. What they write could be lost." in said
        assert rows_by_table(site.rows) == before
        assert not other.rows(TABLES)


def test_a_row_that_was_changed_is_found(postgres):
    with new_database(postgres) as database, psycopg.connect(dbname=database.name, **database.address) as session:
        session.execute("CREATE TABLE said AS SELECT n, 'word ' || n AS word FROM generate_series(1, 9) AS n")
        session.execute("CREATE TABLE unchanged AS TABLE said")
        before = digest_tables(session, ["said", "unchanged"])
        session.execute("UPDATE said SET word = 'sword' WHERE n = 5")
        after = digest_tables(session, ["said", "unchanged"])
        assert find_other_rows(before, after) == ["said has other rows"]
        session.execute("UPDATE said SET word = 'word 5' WHERE n = 5")
        assert find_other_rows(before, digest_tables(session, ["said", "unchanged"])) == []


@pytest.mark.parametrize("length", [0, 5, 12, 21])
def test_a_copy_that_was_cut_off_is_none(length):
    whole = (4).to_bytes(8) + b"rows" + bytes(8)
    with pytest.raises(DatabaseCopyFailed, match="cut off"):
        list(read_parts(io.BytesIO(whole[:length] if length < len(whole) else whole[: len(whole) - 1])))
    assert list(read_parts(io.BytesIO(whole))) == [b"rows"]


def test_a_note_is_read_whichever_schemas_a_session_looks_in(postgres):
    with new_database(postgres) as database:
        for statement in spell_note(is_new=False, token="t", other="elsewhere").split(";"):
            database.rows(statement)
        with psycopg.connect(dbname=database.name, options="-c search_path=chats", **database.address) as session:
            assert read_move_note(session).other == "elsewhere"

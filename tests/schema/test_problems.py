"""What is said of a database that this code can't work with: by a start, a command and `/readyz`."""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import subprocess
import sys
from contextlib import contextmanager
from importlib import import_module

import psycopg
import pytest

from chatsite.schema.history import CREATE_TABLE, MigrationHistory, own_checksums, read_migration_history
from chatsite.schema.problems import history_problem, pgvector_problem, schema_problem, server_problem
from conversations.management import commands
from conversations.management.database_command import DatabaseCommand
from tests.faults.databases import new_database
from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT

# What looks at the database in its own way, or at none.
OTHER_COMMANDS = {
    "move_database",
    "upgrade_postgres",
    "flush",
    *("run", "serve", "run_worker", "worker_health", "doctor", "migrate", "upgrade"),
    *("load_example", "restore", "verify_backup"),
}
FOREIGN = "The database {name} has tables that are not Windowseat's, such as customers. Set DATABASE_URL to a database"
UNRELEASED = "The database was made by an unreleased state of Windowseat, which no release can upgrade. Begin with an"
LATER = """
INSERT INTO windowseat_migrations VALUES ('conversations', '9001_a', '', '1.9.0', now(), now()),
                                         ('conversations', '9002_b', '', '1.10.0', now(), NULL);
"""
OURS = sum(app == "conversations" for app, _ in own_checksums())
TAKE_BACK = "DELETE FROM django_migrations WHERE app = 'conversations'"
BROKEN = {
    "newer": (LATER, "The database was made by version 1.10.0 of Windowseat, and this is "),
    "older": (
        f"{TAKE_BACK}; DELETE FROM windowseat_migrations WHERE app = 'conversations'",
        f"The database is older than this version of Windowseat: {OURS} migrations are not applied. Run manage.py upgr",
    ),
    "half upgraded": (
        f"{TAKE_BACK}; UPDATE windowseat_migrations SET ended_at = NULL WHERE app = 'conversations'",
        "The database is half upgraded: conversations.0001_initial began at 20",
    ),
    "of no release": ("DROP TABLE windowseat_migrations", UNRELEASED),
    "of an edited migration": ("UPDATE windowseat_migrations SET checksum = 'x' WHERE app = 'accounts'", UNRELEASED),
    "of a migration that was not noted": ("DELETE FROM windowseat_migrations WHERE app = 'accounts'", UNRELEASED),
    "changed by hand": (
        "ALTER TABLE accounts_user DROP COLUMN role CASCADE",
        "The database is not as its migrations have made it: accounts_user has no column role. It was changed by hand",
    ),
}
MADE_UP_BY_MIGRATING = {"older", "half upgraded"}


@contextmanager
def session_in(database):
    with psycopg.connect(dbname=database.name, **database.address, autocommit=True) as session:
        yield session


@pytest.fixture
def session(postgres, template):
    with new_database(postgres, template=template.name) as database, session_in(database) as opened:
        yield opened


@pytest.fixture
def empty(postgres):
    with new_database(postgres) as database:
        yield database


def test_a_database_of_this_code_has_no_problem(session):
    assert schema_problem(session) == schema_problem(session, will_migrate=True) == ""
    history = read_migration_history(session)
    assert not history.waiting + history.unknown + history.changed + history.unfinished
    assert MigrationHistory.from_json(history.as_json()) == history


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_database_is_told_in_a_sentence(session, how):
    change, said = BROKEN[how]
    session.execute(change)
    problem = schema_problem(session)
    assert problem.startswith(said)
    assert len(problem) < 300
    assert (schema_problem(session, will_migrate=True) == "") == (how in MADE_UP_BY_MIGRATING)


def test_a_process_that_runs_while_a_newer_version_migrates_goes_on(session):
    session.execute(LATER)
    assert schema_problem(session, allows_newer=True) == ""
    session.execute("ALTER TABLE accounts_user DROP COLUMN role CASCADE")
    assert "accounts_user has no column role" in schema_problem(session, allows_newer=True)


def test_an_empty_database_is_for_those_who_migrate(empty):
    with session_in(empty) as session:
        assert schema_problem(session, will_migrate=True) == ""
        assert re.match(r"The database is empty: \d+ migrations are not applied\. Run ", schema_problem(session))


@pytest.mark.parametrize(
    "of_another_django", ["", "CREATE TABLE django_migrations AS SELECT 'accounts' AS app, '0001_initial' AS name"]
)
def test_the_database_of_another_project_is_left_alone(empty, of_another_django):
    empty.rows("CREATE TABLE customers (id bigint)")
    if of_another_django:
        empty.rows(of_another_django)
    before = tables(empty)
    with session_in(empty) as session:
        assert schema_problem(session, will_migrate=True).startswith(FOREIGN.format(name=empty.name))
    if not of_another_django:
        assert refusal("serve", empty).startswith("CommandError: " + FOREIGN.format(name=empty.name))
    assert tables(empty) == before


def test_tables_of_the_same_names_are_not_ours_unless_migrations_made_them(empty):
    for name in ("accounts_user", "conversations_conversation", "conversations_message"):
        empty.rows(f"CREATE TABLE {name} (id bigint)")
    with session_in(empty) as session:
        said = schema_problem(session, will_migrate=True)
        session.execute(CREATE_TABLE)  # as an earlier version left it there, which began to migrate
        assert said == schema_problem(session, will_migrate=True)
    assert said.startswith(FOREIGN.format(name=empty.name).replace("customers", "accounts_user"))


def test_django_s_command_that_deletes_all_rows_deletes_none_of_another_project(empty):
    empty.rows("CREATE TABLE accounts_user AS SELECT 7 AS id")
    assert "tables that are not Windowseat's" in refusal("flush", empty)
    assert empty.rows("SELECT id FROM accounts_user") == [{"id": 7}]


def test_tables_of_other_schemas_are_not_looked_at(empty):
    empty.rows("CREATE SCHEMA storage")
    empty.rows("CREATE TABLE storage.objects ()")
    with session_in(empty) as session:
        assert schema_problem(session, will_migrate=True) == ""


def tables(database):
    return database.rows("SELECT relname, relfilenode FROM pg_class WHERE relkind = 'r' ORDER BY 1")


def refusal(command, database, **settings):
    environment = os.environ | {"DATABASE_URL": database.url, "PORT": "8399", **settings}
    outcome = subprocess.run(
        [sys.executable, "manage.py", command, *(["--noinput"] if command == "flush" else [])],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert outcome.returncode == 1
    [line] = outcome.stderr.strip().splitlines()
    return line


def test_a_start_that_does_not_migrate_refuses_an_older_database(empty):
    said = refusal("serve", empty, MIGRATE_ON_START="off")
    assert said.startswith("CommandError: The database is empty: ")
    assert not tables(empty) or "django_migrations" not in {row["relname"] for row in tables(empty)}


def test_a_role_that_may_not_add_pgvector_is_told_what_to_do(postgres):
    with new_database(postgres, template="template0") as database:
        said = refusal("migrate", database)
        assert "django_migrations" not in {row["relname"] for row in tables(database)}
        with session_in(database) as session:
            assert schema_problem(session) == schema_problem(session, will_migrate=True) == said.partition(" ")[2]
    assert said.startswith("CommandError: The database has no extension pgvector, and its role may not add it. As a su")


def test_every_command_that_works_with_the_database_asks_first():
    names = {module.name for module in pkgutil.iter_modules(commands.__path__)}
    assert names - OTHER_COMMANDS
    for name in names - OTHER_COMMANDS:
        command = import_module(f"{commands.__name__}.{name}").Command
        assert inspect.isclass(command)
        assert issubclass(command, DatabaseCommand), name


def test_postgresql_15_is_new_enough_and_14_is_not():
    assert server_problem(15) == ""
    assert server_problem(14).startswith("The database server is PostgreSQL 14, and Windowseat needs 15 or later: ")


@pytest.mark.parametrize(
    ("installed", "is_available", "is_made", "said"),
    [
        ("0.7.0", True, True, ""),
        ("0.10.1", True, True, ""),
        (None, True, False, ""),
        (None, False, False, "The database server has no pgvector. Install it there (the package postgresql-16-"),
        ("0.6.2", True, True, "The database has pgvector 0.6.2, and Windowseat needs 0.7 or later. Install it"),
    ],
)
def test_pgvector_has_to_be_there_and_new_enough(installed, is_available, is_made, said):
    problem = pgvector_problem(installed, is_available=is_available, is_made=is_made, server=16)
    assert problem.startswith(said)
    assert bool(problem) == bool(said)


def test_a_backup_without_a_history_is_of_no_release():
    applied = sorted(own_checksums())
    said = history_problem(MigrationHistory.from_json({"migrations": applied}), what="The backup's database")
    assert said.startswith("The backup's database was made by an unreleased state of Windowseat")

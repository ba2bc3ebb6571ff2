"""Migrations under traffic: waits for locks that end, batches that go on, indexes that are made again."""

from __future__ import annotations

import threading

import psycopg
import pytest
from django.db import DatabaseError, connection, connections, migrations, models
from django.db.migrations.state import ProjectState

from chatsite.schema import executor
from chatsite.schema.executor import (
    MigrationBlocked,
    RecordedMigrationExecutor,
    one_process_migrates,
    recorded_migrations,
)
from chatsite.schema.operations import (
    AddIndexConcurrently,
    AddUniqueConcurrently,
    BackfillInBatches,
    DropRetired,
    RetireField,
)
from tests.support.patience import PATIENCE_SECONDS, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
CAT = migrations.CreateModel(
    "Cat",
    fields=[("id", models.BigAutoField(primary_key=True)), ("name", models.CharField(max_length=10, default=""))],
)
ADD_AGE = migrations.AddField("cat", "age", models.IntegerField(null=True))
ADD_INDEX = AddIndexConcurrently("cat", models.Index(fields=["name"], name="cats_by_name"))
UPDATE = "UPDATE zoo_cat SET age = coalesce(age, 0) + 1 + 0 / (700 - id) WHERE id BETWEEN %(first)s AND %(last)s"


def rows(statement, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def zoo():
    """A function that applies operations as a migration to a database with the table of cats."""
    state = ProjectState()
    numbers = iter(range(1, 100))

    def apply(*operations, name=None, **options):
        nonlocal state
        name = name or f"{next(numbers):04}"
        migration = type("Migration", (migrations.Migration,), {"operations": list(operations), **options})(name, "zoo")
        with recorded_migrations(connection):
            state = RecordedMigrationExecutor(connection).apply_migration(state, migration)

    apply(CAT)
    yield apply
    rows("DROP TABLE zoo_cat")
    rows("DELETE FROM windowseat_migrations WHERE app = 'zoo'")
    rows("DELETE FROM django_migrations WHERE app = 'zoo'")


@pytest.fixture
def reader():
    """Another session, in a transaction that has read the cats."""
    parameters = connection.get_connection_params()
    address = {name: parameters[name] for name in ("dbname", "user", "host", "port") if name in parameters}
    sessions = []

    def read():
        sessions.append(psycopg.connect(**address))
        sessions[-1].execute("SET statement_timeout = '20s'")
        sessions[-1].execute("SELECT count(*) FROM zoo_cat")
        return sessions[-1]

    yield read
    for session in sessions:
        session.close()


def test_readers_get_through_while_a_migration_waits_for_an_old_transaction(zoo, reader, monkeypatch):
    monkeypatch.setattr(executor, "LOCK_SECONDS", 0.2)
    monkeypatch.setattr(executor, "PAUSE_SECONDS", 0.1)
    old = reader()
    said = []

    def migrate():
        try:
            zoo(ADD_AGE)
        finally:
            connections.close_all()
        said.append("done")

    thread = threading.Thread(target=migrate)
    thread.start()
    wait_for(lambda: rows("SELECT 1 FROM pg_locks WHERE relation = 'zoo_cat'::regclass AND NOT granted"), "it waits")
    reader().rollback()
    assert not said
    old.rollback()
    thread.join(PATIENCE_SECONDS)
    assert said == ["done"]
    assert rows("SELECT age FROM zoo_cat") == []


def test_a_migration_that_never_gets_its_lock_gives_up_and_changes_nothing(zoo, reader, monkeypatch):
    monkeypatch.setattr(executor, "LOCK_SECONDS", 0.05)
    monkeypatch.setattr(executor, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(executor, "TRIES", 2)
    reader()
    with pytest.raises(MigrationBlocked, match=r"The migration zoo\.0002 waited 2 times for a lock"):
        zoo(ADD_AGE)
    assert rows("SELECT name FROM windowseat_migrations WHERE app = 'zoo'") == [("0001",)]
    assert rows("SHOW lock_timeout") == [("0",)]


def test_a_failed_migration_is_noted_nowhere(zoo):
    with pytest.raises(DatabaseError):
        zoo(ADD_AGE, migrations.RunSQL("SELECT 1 / 0"))
    assert rows("SELECT name FROM windowseat_migrations WHERE app = 'zoo'") == [("0001",)]
    assert rows("SELECT name FROM django_migrations WHERE app = 'zoo'") == [("0001",)]


def test_deferred_statements_are_of_the_same_transaction(zoo):
    """Django makes the index of a new column in the end; its own executor notes the migration after that."""
    name = connection.schema_editor()._create_index_name("zoo_cat", ["age"])
    rows(f"CREATE INDEX {name} ON zoo_cat (name)")
    add_age = migrations.AddField("cat", "age", models.IntegerField(null=True, db_index=True))
    with pytest.raises(DatabaseError, match=f'"{name}" already exists'):
        zoo(add_age, name="0002")
    assert rows("SELECT count(*) FROM pg_attribute WHERE attrelid = 'zoo_cat'::regclass AND attnum > 0") == [(2,)]
    rows(f"DROP INDEX {name}")
    zoo(add_age, name="0002")
    assert rows("SELECT ended_at >= began_at FROM windowseat_migrations WHERE app = 'zoo'") == [(True,), (True,)]


def test_a_backfill_that_ended_goes_on_and_changes_each_row_once(zoo):
    zoo(ADD_AGE)
    rows("INSERT INTO zoo_cat (name) SELECT 'x' FROM generate_series(1, 1000)")
    fill = BackfillInBatches("ages", table="zoo_cat", update=UPDATE, batch_rows=100)
    with pytest.raises(DatabaseError, match="division by zero"):
        zoo(fill, name="0009", atomic=False)
    assert rows("SELECT count(age) FROM zoo_cat") == [(600,)]
    assert rows("SELECT progress, ended_at FROM windowseat_migrations WHERE name = '0009'") == [('{"ages": 600}', None)]
    rows("DELETE FROM zoo_cat WHERE id = 700")
    zoo(fill, name="0009", atomic=False)
    assert rows("SELECT count(*), min(age), max(age) FROM zoo_cat") == [(999, 1, 1)]
    assert rows("SELECT count(*) FROM django_migrations WHERE app = 'zoo' AND name = '0009'") == [(1,)]


def test_an_index_that_was_left_invalid_is_made_again(zoo, reader):
    rows("INSERT INTO zoo_cat (name) VALUES ('x'), ('x')")
    with pytest.raises(DatabaseError):
        rows("CREATE UNIQUE INDEX CONCURRENTLY cats_by_name ON zoo_cat (name)")
    valid = "SELECT indisvalid, indisunique FROM pg_index WHERE indexrelid = 'cats_by_name'::regclass"
    assert rows(valid) == [(False, True)]
    zoo(ADD_INDEX, atomic=False)
    assert rows(valid) == [(True, False)]
    rows("DELETE FROM django_migrations WHERE app = 'zoo' AND name = '0002'")


def test_an_index_that_is_there_is_left_as_it_is(zoo):
    rows("CREATE INDEX cats_by_name ON zoo_cat (name)")
    before = rows("SELECT 'cats_by_name'::regclass::oid")
    zoo(ADD_INDEX, atomic=False)
    assert rows("SELECT 'cats_by_name'::regclass::oid") == before


def test_an_index_is_made_while_another_process_waits_for_its_turn_to_migrate(zoo):
    """PostgreSQL makes it once all older statements have ended, so the other must not wait within one."""
    done = threading.Event()

    def wait_for_turn():
        try:
            with one_process_migrates(connection):
                done.set()
        finally:
            connections.close_all()

    asking = (
        "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_try_advisory_lock%' AND pid <> pg_backend_pid()"
    )
    with one_process_migrates(connection):
        other = threading.Thread(target=wait_for_turn)
        other.start()
        wait_for(lambda: rows(f"{asking} AND datname = current_database()"), "the other asks for its turn")
        zoo(ADD_INDEX, atomic=False)
        assert not done.is_set()
    other.join(PATIENCE_SECONDS)
    assert done.is_set()


def test_a_retired_column_takes_rows_of_both_versions_and_is_dropped_in_the_next(zoo):
    zoo(RetireField("cat", "name"))
    rows("INSERT INTO zoo_cat DEFAULT VALUES")
    rows("INSERT INTO zoo_cat (name) VALUES ('x')")
    zoo(DropRetired("zoo_cat", "name", retired_in="1.0.0"))
    assert rows("SELECT * FROM zoo_cat") == [(1,), (2,)]


UNIQUE = {
    "as a constraint": ({"fields": ["name"]}, "UNIQUE (name)"),
    "checked at the end": (
        {"fields": ["name"], "deferrable": models.Deferrable.DEFERRED},
        "UNIQUE (name) DEFERRABLE INITIALLY DEFERRED",
    ),
    "nulls alike": ({"fields": ["name"], "nulls_distinct": False}, "UNIQUE NULLS NOT DISTINCT (name)"),
    "of some rows": ({"fields": ["name"], "condition": models.Q(id__gt=3)}, None),
    "of an expression": ({"expressions": ()}, None),
}


@pytest.mark.parametrize("kind", UNIQUE)
def test_a_unique_constraint_is_added_once(zoo, kind):
    options, definition = UNIQUE[kind]
    expressions = () if "fields" in options else (models.functions.Lower("name"),)
    options = {key: value for key, value in options.items() if key != "expressions"}
    add = AddUniqueConcurrently("cat", models.UniqueConstraint(*expressions, name="one_cat", **options))
    rows("INSERT INTO zoo_cat (id, name) VALUES (10, 'x'), (11, 'y')")
    for _ in range(2):  # as after a kill behind its last statement
        with connection.schema_editor(atomic=False) as editor:
            state = ProjectState()
            CAT.state_forwards("zoo", state)
            before = state.clone()
            add.state_forwards("zoo", state)
            add.database_forwards("zoo", editor, before, state)
    found = rows("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'one_cat'")
    assert found == ([(definition,)] if definition else [])
    with pytest.raises(DatabaseError, match="one_cat"):
        rows("INSERT INTO zoo_cat (id, name) VALUES (12, 'x')")
    zoo(add, atomic=False)
    assert rows("SELECT indisvalid FROM pg_index WHERE indexrelid = 'one_cat'::regclass") == [(True,)]


def test_rows_that_are_alike_are_named_and_leave_no_index(zoo):
    rows("INSERT INTO zoo_cat (name) VALUES ('x'), ('x')")
    add = AddUniqueConcurrently("cat", models.UniqueConstraint(fields=["name"], name="one_cat"))
    with pytest.raises(DatabaseError, match=r"\(name\)=\(x\) is duplicated"):
        zoo(add, name="0009", atomic=False)
    rows("INSERT INTO zoo_cat (name) VALUES ('x')")
    rows("DELETE FROM zoo_cat WHERE id > (SELECT min(id) FROM zoo_cat)")
    zoo(add, name="0009", atomic=False)
    with pytest.raises(DatabaseError, match="one_cat"):
        rows("INSERT INTO zoo_cat (name) VALUES ('x')")

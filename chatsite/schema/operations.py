"""What migrations after the initial ones are made of, so that the version before goes on beside them, under traffic.

    AddIndexConcurrently, RemoveIndexConcurrently   an index without a lock that writers wait for; after a kill again
    AddUniqueConcurrently                           a unique constraint without one, where no two rows are alike
    BackfillInBatches                               values for rows that are there, in transactions of their own
    RetireField, DropRetired                        a column that no code reads any more; in the next version it goes

Those of the first two lines stand in migrations with `atomic = False`, and each can be repeated: what was killed is
begun again. `tests/schema/test_migration_rules.py` reads every migration; CONTRIBUTING.md has the recipes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.postgres import operations as postgres
from django.db import DatabaseError, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import AddConstraint, RemoveField
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from .history import TABLE

BATCH_ROWS = 5000
IS_VALID = """
SELECT indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE relname = %s AND pg_table_is_visible(pg_class.oid)
"""
IS_CONSTRAINT = """
SELECT EXISTS (SELECT FROM pg_constraint JOIN pg_class ON pg_class.oid = conindid
               WHERE conname = %s AND pg_table_is_visible(pg_class.oid))
"""
PROGRESS = f"SELECT (progress->>%s)::bigint FROM {TABLE} WHERE app = %s AND ended_at IS NULL AND progress ? %s"  # noqa: S608
NOTE_PROGRESS = f"""
UPDATE {TABLE} SET progress = progress || jsonb_build_object(%s::text, %s::bigint) WHERE app = %s AND ended_at IS NULL
"""  # noqa: S608
END_OF_BATCH = "SELECT max(id) FROM (SELECT id FROM {} WHERE id > %s ORDER BY id LIMIT %s) AS batch"


class AddIndexConcurrently(postgres.AddIndexConcurrently):
    """Create an index while rows are written. One that a kill has left invalid is dropped, and made again."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        with _without_lock_timeout(schema_editor):
            is_valid = _find(schema_editor, IS_VALID, self.index.name)
            if is_valid is False:
                _drop_index(schema_editor, self.index.name)
            if not is_valid:
                super().database_forwards(app_label, schema_editor, from_state, to_state)


class RemoveIndexConcurrently(postgres.RemoveIndexConcurrently):
    """Drop an index while rows are written, if it is there."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        with _without_lock_timeout(schema_editor):
            if _find(schema_editor, IS_VALID, self.name) is not None:
                super().database_forwards(app_label, schema_editor, from_state, to_state)


class AddUniqueConcurrently(AddConstraint):
    """Add a unique constraint while rows are written: its index first, without a lock, which then becomes it.

    From then on it refuses rows of the version before, too. Where two rows are alike already, the migration fails with
    PostgreSQL's sentence on which, and leaves no index that would go on to refuse.
    """

    atomic = False

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        name = self.constraint.name
        with _without_lock_timeout(schema_editor):
            is_valid = _find(schema_editor, IS_VALID, name)
            if is_valid is False:
                _drop_index(schema_editor, name)
            if not is_valid:
                self._create_index(model, schema_editor)
        if _is_part_of_table(self.constraint) and not _find(schema_editor, IS_CONSTRAINT, name):
            self._take_index(model, schema_editor)

    def describe(self) -> str:
        return f"Add the unique constraint {self.constraint.name} to {self.model_name} concurrently"

    def _create_index(self, model: Any, editor: Any) -> None:
        plain, index = editor.sql_create_unique, editor.sql_create_unique_index
        concurrent = index.replace("UNIQUE INDEX", "UNIQUE INDEX CONCURRENTLY", 1)
        editor.sql_create_unique = editor.sql_create_unique_index = concurrent
        try:
            editor.execute(self.constraint.create_sql(model, editor))
        except DatabaseError:
            _drop_index(editor, self.constraint.name)
            raise
        finally:
            editor.sql_create_unique, editor.sql_create_unique_index = plain, index

    def _take_index(self, model: Any, editor: Any) -> None:
        constraint: Any = self.constraint
        table, name = editor.quote_name(model._meta.db_table), editor.quote_name(constraint.name)
        when = editor._deferrable_constraint_sql(constraint.deferrable)
        editor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} UNIQUE USING INDEX {name}{when}")


class BackfillInBatches(Operation):
    """Change the rows of *table* by the statement *update*, a batch after the other, each in its own transaction.

    *update* changes the rows whose `id` is BETWEEN %(first)s AND %(last)s. How far it has come is stored with each
    batch: a row is changed once, whatever is killed. Rows that are added meanwhile are taken along until none is left.
    """

    reduces_to_sql = False
    reversible = True
    atomic = False

    def __init__(self, name: str, *, table: str, update: str, batch_rows: int = BATCH_ROWS) -> None:
        self.name, self.table, self.update, self.batch_rows = name, table, update, batch_rows

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change rows alone."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        done = _find(schema_editor, PROGRESS, self.name, app_label, self.name) or 0
        while done is not None:
            with transaction.atomic(using=schema_editor.connection.alias):
                done = self._change_batch(app_label, schema_editor, after=done)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Leave the rows as they are: the column goes."""

    def describe(self) -> str:
        return f"Change the rows of {self.table}: {self.name}"

    def _change_batch(self, app_label: str, editor: BaseDatabaseSchemaEditor, *, after: int) -> int | None:
        """Change the rows that follow, and return the id of the last; None if there is none."""
        last: int | None = _find(editor, END_OF_BATCH.format(editor.quote_name(self.table)), after, self.batch_rows)
        if last is not None:
            with editor.connection.cursor() as cursor:
                cursor.execute(self.update, {"first": after + 1, "last": last})
                cursor.execute(NOTE_PROGRESS, [self.name, last, app_label])
        return last


class RetireField(RemoveField):
    """Take a field out of the model and leave its column: the version before still reads and writes it."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        field: Any = model._meta.get_field(self.name)
        if not field.null:  # this version stores rows without it
            table, column = map(schema_editor.quote_name, (model._meta.db_table, field.column))
            schema_editor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL")

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Leave the column as it is."""

    def describe(self) -> str:
        return f"Retire the field {self.name} of {self.model_name}"


class DropRetired(Operation):
    """Drop a column of *table* that the version *retired_in* has retired; without *column* the table of a model."""

    reversible = False

    def __init__(self, table: str, column: str = "", *, retired_in: str) -> None:
        self.table, self.column, self.retired_in = table, column, retired_in

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """The models have not had it for a version."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        table = schema_editor.quote_name(self.table)
        if self.column:
            schema_editor.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS {schema_editor.quote_name(self.column)}")
        else:
            schema_editor.execute(f"DROP TABLE IF EXISTS {table}")

    def describe(self) -> str:
        return f"Drop {self.table}{'.' if self.column else ''}{self.column}, retired in {self.retired_in}"


def _is_part_of_table(constraint: Any) -> bool:
    """Tell whether PostgreSQL has it as a constraint: on some rows, or on expressions, it is an index alone."""
    return not (constraint.condition or constraint.include or constraint.opclasses or constraint.expressions)


def _drop_index(editor: BaseDatabaseSchemaEditor, name: str) -> None:
    editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {editor.quote_name(name)}")


@contextmanager
def _without_lock_timeout(editor: BaseDatabaseSchemaEditor) -> Iterator[None]:
    """Wait for transactions that are older, however long: meanwhile others wait for nothing."""
    before = _find(editor, "SELECT current_setting('lock_timeout')")
    editor.execute("SET lock_timeout = 0")
    try:
        yield
    finally:
        editor.execute("SELECT set_config('lock_timeout', %s, false)", [before])


def _find(editor: BaseDatabaseSchemaEditor, statement: str, *parameters: str | int) -> Any:
    """Return the first value of the first row; None if there is none."""
    with editor.connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        row = cursor.fetchone()
        return row and row[0]

"""Rules for migrations after the initial ones: a linter that reads their operations, and says how to do it right.

Only what is known to be safe under traffic, beside the code of the version before, is let through.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import connection, migrations
from django.db.migrations import Migration
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import CharField, CheckConstraint, Field, Q
from django.db.models.expressions import Value

from chatsite.schema.operations import (
    AddIndexConcurrently,
    AddUniqueConcurrently,
    BackfillInBatches,
    DropRetired,
    RemoveIndexConcurrently,
    RetireField,
)

NOT_IN_A_TRANSACTION = (AddIndexConcurrently, AddUniqueConcurrently, RemoveIndexConcurrently, BackfillInBatches)
REPEATABLE = (*NOT_IN_A_TRANSACTION, ValidateConstraint)
OF_THE_STATE = (migrations.AlterModelOptions, migrations.AlterModelManagers)
DATA = (BackfillInBatches, migrations.RunPython)
INSTEAD = {
    migrations.AddIndex: "readers go on and writers wait: use AddIndexConcurrently of chatsite.schema.operations",
    migrations.RemoveIndex: "use RemoveIndexConcurrently of chatsite.schema.operations",
    migrations.RemoveField: "the version before still uses the column: use RetireField of chatsite.schema.operations, "
    "and DropRetired in the next version",
    migrations.RenameField: "the version before knows it by its old name: add a field, fill it with BackfillInBatches, "
    "and use RetireField for the old one",
    migrations.DeleteModel: "the version before still uses the table: put DeleteModel into the state_operations of "
    "SeparateDatabaseAndState, and use DropRetired in the next version",
    migrations.RenameModel: "the version before knows the table by its old name: keep db_table",
    migrations.AlterModelTable: "the version before knows the table by its old name: keep db_table",
    migrations.AlterUniqueTogether: "it locks the table while the index is made: use a UniqueConstraint, and "
    "AddUniqueConcurrently",
    migrations.AddConstraint: "it locks the table while all rows are checked: use AddConstraintNotValid, and "
    "ValidateConstraint in the next migration; for a unique one use AddUniqueConcurrently",
}
# Statement in RunSQL → what to do.
STATEMENTS = {
    r"\bCREATE\s+(UNIQUE\s+)?INDEX\s+(?!CONCURRENTLY)": "use AddIndexConcurrently",
    r"\bDROP\s+INDEX\s+(?!CONCURRENTLY)": "use RemoveIndexConcurrently",
    r"\bADD\s+CONSTRAINT\b(?!.*\bNOT\s+VALID\b)": "end it with NOT VALID; ValidateConstraint in the next migration",
    r"\bSET\s+NOT\s+NULL\b": "use AddConstraintNotValid, ValidateConstraint and then AlterField",
    r"\bALTER\s+COLUMN\s+\S+\s+(SET\s+DATA\s+)?TYPE\b": "add a column, fill it in batches, retire the old one",
    r"\bDROP\s+COLUMN\b": "use RetireField, and DropRetired in the next version",
    r"\bDROP\s+TABLE\b": "use DropRetired in the version after the one that has no model for it",
    r"\bRENAME\b": "the version before knows the old name: add, fill and retire",
    r"^\s*(WITH\b.*\b)?(UPDATE|DELETE|INSERT|MERGE)\b": "use BackfillInBatches",
    r"^\s*DO\b": "what stands in it is not read here: write its statements without it",
    r"\b(TRUNCATE|CLUSTER|VACUUM\s+FULL|LOCK\s+TABLE|REINDEX)\b": "it locks the table for long: there is another way",
    r"\block_timeout\b": "the executor sets it for all",
}
WRITES = re.compile(r"\.(update|save|create|delete|bulk_create|bulk_update|get_or_create|update_or_create)\(")


def find_faults(migration: Migration, state: ProjectState, *, version: str, earlier: list[Migration]) -> list[str]:
    """Return a sentence for each rule that *migration* breaks: its file, the operation and the way to do it right.

    *state* is what the migrations before have made, *earlier* are those of its app, *version* the product's.
    """
    if migration.initial and not earlier:
        return []
    return [
        f"{migration.app_label}/{migration.name}.py: {fault}" for fault in _faults(migration, state, version, earlier)
    ]


def _faults(migration: Migration, state: ProjectState, version: str, earlier: list[Migration]) -> Iterator[str]:
    state, new_tables, locked = state.clone(), set[str](), set[str]()
    yield from _faults_of_the_whole(migration)
    for number, operation in enumerate(migration.operations):
        what = f"operation {number + 1}, {type(operation).__name__}"
        if isinstance(operation, migrations.CreateModel):
            new_tables.add(operation.name_lower)
        elif getattr(operation, "model_name", "").lower() not in new_tables:
            locked |= {_table(operation)} - {""}
            for fault in _faults_of(operation, migration, state, version, earlier):
                yield f"{what}: {fault}"
        operation.state_forwards(migration.app_label, state)
    if migration.atomic and len(locked) > 1:
        yield f"it locks {' and '.join(sorted(locked))} until its end: one table for each migration"


def _faults_of_the_whole(migration: Migration) -> Iterator[str]:
    if migration.initial:
        yield "only the first migration of an app is initial: take `initial = True` out"
    data = [each for each in migration.operations if isinstance(each, DATA)]
    if data and len(data) < len(migration.operations):
        yield "it changes rows beside tables, which stay locked meanwhile: put the rows into a migration of their own"
    names = [each.name for each in data if isinstance(each, BackfillInBatches)]
    if len(names) != len(set(names)):
        yield "two BackfillInBatches have one name: progress is kept by name"
    if not migration.atomic:
        for each in migration.operations:
            if not isinstance(each, REPEATABLE):
                yield (
                    f"atomic = False, and {type(each).__name__} can't be repeated after a kill: "
                    "put it into a migration that is one transaction"
                )


def _faults_of(
    operation: Operation, migration: Migration, state: ProjectState, version: str, earlier: list[Migration]
) -> Iterator[str]:
    if isinstance(operation, NOT_IN_A_TRANSACTION):
        if migration.atomic:
            yield "it can't be in a transaction: say atomic = False in the migration"
        if isinstance(operation, BackfillInBatches) and not {"%(first)s", "%(last)s"} <= set(
            re.findall(r"%\(\w+\)s", operation.update)
        ):
            yield "its update must say id BETWEEN %(first)s AND %(last)s, or each batch changes all rows"
    elif isinstance(operation, ValidateConstraint):
        if any(isinstance(each, AddConstraintNotValid) for each in migration.operations):
            yield "the lock of AddConstraintNotValid stays until the rows are checked: put it into the next migration"
    elif isinstance(operation, DropRetired):
        yield from _faults_of_drop(operation, version)
    elif isinstance(operation, migrations.AddField):
        yield from _faults_of_new_field(operation.field)
    elif isinstance(operation, migrations.AlterField):
        yield from _faults_of_altered_field(operation, migration.app_label, state, earlier)
    elif isinstance(operation, migrations.RunSQL):
        yield from _faults_of_sql(operation)
    elif isinstance(operation, migrations.RunPython):
        yield from _faults_of_python(operation, migration)
    elif isinstance(operation, migrations.SeparateDatabaseAndState):
        if operation.database_operations:
            yield "put what it does to the database beside it, where it is read"
    elif not isinstance(operation, (*OF_THE_STATE, AddConstraintNotValid, RetireField, migrations.RemoveConstraint)):
        yield INSTEAD.get(
            type(operation), "it is not known to be safe: add it to tests/support/migration_rules.py, if it is"
        )


def _faults_of_drop(operation: DropRetired, version: str) -> Iterator[str]:
    if _release(operation.retired_in) >= _release(version):
        yield (
            f"version {operation.retired_in} has retired it, and may still run beside this one ({version}): "
            "drop it in the next minor version"
        )


def _faults_of_new_field(field: Field[Any, Any]) -> Iterator[str]:
    default = field.db_default if field.has_db_default() else None
    if not field.null and default is None:
        yield "the version before stores rows without it: say null=True, or db_default with a constant"
    if default is not None and hasattr(default, "resolve_expression") and not isinstance(default, Value):
        yield "a db_default that is computed rewrites the table under a lock: use a constant, or BackfillInBatches"
    if field.unique or field.db_index:
        yield "its index is made under a lock: say db_index=False and unique=False, and use AddIndexConcurrently"


def _faults_of_altered_field(
    operation: migrations.AlterField, app_label: str, state: ProjectState, earlier: list[Migration]
) -> Iterator[str]:
    model = state.models[app_label, operation.model_name_lower]
    old, new = state.apps.get_model(app_label, operation.model_name)._meta.get_field(operation.name), operation.field
    new = new.clone()
    new.set_attributes_from_name(operation.name)
    with connection.schema_editor(collect_sql=True, atomic=False) as editor:
        if not editor._field_should_be_altered(old, new):
            return
    if (new.unique or new.db_index) and not (old.unique or old.db_index):
        yield "its index is made under a lock: use AddIndexConcurrently"
    if old.null and not new.null and not _is_checked(model, operation.name, earlier):
        yield (
            f"all rows are read under a lock: in earlier migrations, AddConstraintNotValid of a CheckConstraint with "
            f"Q({operation.name}__isnull=False), and ValidateConstraint"
        )
    if _column_type(old) != _column_type(new) and not _is_widened(old, new):
        yield "another type rewrites the table under a lock: add a field, BackfillInBatches, RetireField"


def _is_checked(model: Any, name: str, earlier: list[Migration]) -> bool:
    """Tell whether a valid constraint says that the column is not null: then PostgreSQL reads no row."""
    wanted = Q(**{f"{name}__isnull": False})
    named = {
        each.name
        for each in model.options.get("constraints", ())
        if isinstance(each, CheckConstraint) and each.condition == wanted
    }
    validated = {
        each.name for migration in earlier for each in migration.operations if isinstance(each, ValidateConstraint)
    }
    return bool(named & validated)


def _column_type(field: Any) -> str | None:
    return field.db_type(connection)


def _is_widened(old: Any, new: Any) -> bool:
    if not isinstance(old, CharField) or not isinstance(new, CharField):
        return False
    return new.max_length is None or (old.max_length is not None and new.max_length >= old.max_length)


def _faults_of_sql(operation: migrations.RunSQL) -> Iterator[str]:
    if operation.reverse_sql is None:
        yield "it has no reverse_sql: write it, or RunSQL.noop where nothing has to be taken back"
    for statement in _statements(operation.sql):
        for pattern, advice in STATEMENTS.items():
            if re.search(pattern, statement, re.IGNORECASE | re.DOTALL):
                yield f"{' '.join(statement.split())[:60]}: {advice}"


def _statements(sql: Any) -> Iterator[str]:
    if isinstance(sql, str):
        outside = re.sub(r"\$(\w*)\$.*?\$\1\$", "", sql, flags=re.DOTALL)  # not what functions do when they are called
        outside = re.sub(r"/\*.*?\*/|^\s*--[^\n]*", " ", outside, flags=re.DOTALL | re.MULTILINE)
        yield from (part for part in outside.split(";") if part.strip())
    else:
        for each in sql:
            yield from _statements(each if isinstance(each, str) else each[0])


def _faults_of_python(operation: migrations.RunPython, migration: Migration) -> Iterator[str]:
    if operation.reverse_code is None and not getattr(migration, "why_irreversible", ""):
        yield 'it can\'t be reversed: give reverse_code, or say why_irreversible = "..." in the migration'
    if WRITES.search(inspect.getsource(operation.code)) and not getattr(migration, "why_few_rows", ""):
        yield (
            'it changes rows in one transaction: use BackfillInBatches, or say why_few_rows = "..." in the migration'
        )


def _table(operation: Operation) -> str:
    """Return the table, or the model, that *operation* locks."""
    if isinstance(operation, (*REPEATABLE, *OF_THE_STATE)):
        return ""
    return str(getattr(operation, "model_name", "") or getattr(operation, "table", "")).lower()


def _release(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))

"""The linter of migrations: what it says of bad and good examples, and that it finds no fault with ours."""

from __future__ import annotations

import sys
from importlib import import_module, invalidate_caches

import pytest
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from chatsite.schema.history import own_apps
from chatsite.version import product_version
from tests.support.migration_rules import find_faults

HEAD = """
from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now
from chatsite.schema.operations import *


class Migration(migrations.Migration):
"""
INITIAL = """
    initial = True
    operations = [
        migrations.CreateModel("Cat", fields=[("id", models.BigAutoField(primary_key=True)),
                                              ("name", models.CharField(max_length=10, null=True))]),
        migrations.CreateModel("Dog", fields=[("id", models.BigAutoField(primary_key=True))]),
    ]
"""
CHECK = "models.CheckConstraint(condition=Q(name__isnull=False), name='named')"
UNIQUE = "models.UniqueConstraint(fields=['name'], name='one')"
UPDATE = "UPDATE zoo_cat SET name = 1 WHERE id BETWEEN %(first)s AND %(last)s"
BACKFILL = f"BackfillInBatches('names', table='zoo_cat', update='{UPDATE}')"
LATER = "\n    atomic = False"
# Operations of the migration, separated by lines; what is said of them.
BAD = {
    "migrations.AddIndex('cat', models.Index(fields=['name'], name='cats'))": "AddIndex: readers go on and writers wai",
    "AddIndexConcurrently('cat', models.Index(fields=['name'], name='cats'))": "say atomic = False in the migration",
    f"AddUniqueConcurrently('cat', {UNIQUE})": "say atomic = False in the migration",
    f"migrations.AddConstraint('cat', {UNIQUE})": "for a unique one use AddUniqueConcurrently",
    "migrations.AddConstraint('cat', " + CHECK + ")": "AddConstraint: it locks the table while all rows are checked: u",
    f"AddConstraintNotValid('cat', {CHECK}), ValidateConstraint('cat', 'named')": "put it into the next migration",
    "migrations.AlterField('cat', 'name', models.CharField(max_length=10))": "AddConstraintNotValid of a CheckConstrai",
    "migrations.AlterField('cat', 'name', models.CharField(max_length=5, null=True))": "another type rewrites the tabl",
    "migrations.AlterField('cat', 'name', models.IntegerField(null=True))": "another type rewrites the table",
    "migrations.AlterField('cat', 'name', models.CharField(max_length=10, null=True, unique=True))": "its index is mad",
    "migrations.AddField('cat', 'age', models.IntegerField(default=0))": "the version before stores rows without it",
    "migrations.AddField('cat', 'age', models.IntegerField(null=True, db_index=True))": "its index is made under a loc",
    "migrations.AddField('cat', 'dog', models.OneToOneField('dog', models.CASCADE, null=True))": "its index is made un",
    "migrations.AddField('cat', 'at', models.DateTimeField(db_default=Now()))": "a db_default that is computed rewrite",
    "migrations.RemoveField('cat', 'name')": "use RetireField",
    "migrations.RenameField('cat', 'name', 'title')": "the version before knows it by its old name",
    "migrations.DeleteModel('Cat')": "DropRetired in the next version",
    "migrations.RenameModel('Cat', 'Lion')": "keep db_table",
    "DropRetired('zoo_cat', 'name', retired_in='1.1.0')": "version 1.1.0 has retired it, and may still run beside this",
    "migrations.RunSQL('UPDATE zoo_cat SET name = 1', reverse_sql=migrations.RunSQL.noop)": "use BackfillInBatches",
    "migrations.RunSQL('-- all\\nUPDATE zoo_cat SET name = 1', reverse_sql='')": "use BackfillInBatches",
    "migrations.RunSQL('/* all */ MERGE INTO zoo_cat USING zoo_dog ON true', reverse_sql='')": "use BackfillInBatches",
    "migrations.RunSQL('WITH a AS (SELECT 1) DELETE FROM zoo_cat', reverse_sql='')": "use BackfillInBatches",
    "migrations.RunSQL('DO $$ BEGIN UPDATE zoo_cat SET name = 1; END $$', reverse_sql='')": "write its statements",
    "RetireField('cat', 'name')]\n    initial = True\n    more = [": "only the first migration of an app is initial",
    "migrations.RunSQL('CREATE INDEX cats ON zoo_cat (name)', reverse_sql='')": "use AddIndexConcurrently",
    "migrations.RunSQL('ALTER TABLE zoo_cat ADD CONSTRAINT x CHECK (id > 0)', reverse_sql='')": "end it with NOT VALID",
    "migrations.RunSQL('SELECT 1')": "it has no reverse_sql",
    "migrations.RunSQL('SET lock_timeout = 0', reverse_sql='')": "the executor sets it for all",
    "migrations.RunPython(lambda apps, editor: None)": "it can't be reversed: give reverse_code, or say why_irreversib",
    "migrations.RunPython(lambda apps, editor: apps.get_model('zoo', 'cat').objects.update(name=1), "
    "migrations.RunPython.noop)": "it changes rows in one transaction: use BackfillInBatches",
    f"{BACKFILL}, migrations.AddField('cat', 'age', models.IntegerField(null=True))": "put the rows into a migration o",
    f"{BACKFILL}": "say atomic = False in the migration",
    "RetireField('cat', 'name'), migrations.AddField('dog', 'age', models.IntegerField(null=True))": "it locks cat and",
    "migrations.AddField('cat', 'age', models.IntegerField(null=True))" + LATER: "AddField can't be repeated after a k",
    "BackfillInBatches('all', table='zoo_cat', update='UPDATE zoo_cat SET name = 1')" + LATER: "BETWEEN %(first)s AND",
    f"{BACKFILL}, {BACKFILL}{LATER}": "two BackfillInBatches have one name",
}  # fmt: skip
GOOD = (
    "migrations.AddField('cat', 'age', models.IntegerField(db_default=0))",
    "migrations.AddField('cat', 'dog', models.ForeignKey('dog', models.CASCADE, null=True, db_index=False))",
    "migrations.AlterField('cat', 'name', models.CharField(max_length=20, null=True, help_text='of the cat'))",
    "migrations.CreateModel('Owl', [('id', models.BigAutoField(primary_key=True))]), "
    "migrations.AddIndex('owl', models.Index(fields=['id'], name='owls'))",
    "AddIndexConcurrently('cat', models.Index(fields=['name'], name='cats'))" + LATER,
    f"AddUniqueConcurrently('cat', {UNIQUE}){LATER}",
    BACKFILL + LATER,
    f"AddConstraintNotValid('cat', {CHECK})",
    "ValidateConstraint('cat', 'named')" + LATER,
    "RetireField('cat', 'name')",
    "DropRetired('zoo_cat', 'name', retired_in='1.0.4')",
    "migrations.RunSQL('CREATE FUNCTION f() RETURNS int AS $$ UPDATE x SET y $$', reverse_sql='DROP FUNCTION f')",
    "migrations.RunPython(lambda apps, editor: None)]\n    why_irreversible = 'it is gone'\n    more = [",
)


def body(operations):
    """Return the body of a migration; LATER stands behind its operations."""
    return f"    operations = [{operations.replace(LATER, '')}]{LATER * (LATER in operations)}\n"


@pytest.fixture
def lint(tmp_path, monkeypatch):
    """A function that writes migrations of an app `zoo` into a folder, and returns what is said of the last."""
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / f"zoo_{tmp_path.name}"
    folder.mkdir()
    (folder / "__init__.py").touch()

    def load(number, text):
        name = f"{number:04}_example"
        (folder / f"{name}.py").write_text(HEAD + text)
        invalidate_caches()
        return import_module(f"{folder.name}.{name}").Migration(name, "zoo")

    def find(*later):
        state, earlier, faults = ProjectState(), [], []
        texts = [
            INITIAL,
            *(
                f"    operations = [\n        {each.replace(LATER, '')}\n    ]{LATER * (LATER in each)}\n"
                for each in later
            ),
        ]
        for number, text in enumerate(texts):
            migration = load(number + 1, text)
            faults = find_faults(migration, state, version="1.1.3", earlier=earlier)
            migration.mutate_state(state, preserve=False)
            earlier.append(migration)
        return faults

    yield find
    for name in [name for name in sys.modules if name.startswith(folder.name)]:
        del sys.modules[name]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_bad_migration_is_told_how_it_is_done_right(lint, number):
    operations, said = list(BAD.items())[number]
    faults = lint(operations)
    assert any(said in fault for fault in faults), faults
    assert all(fault.startswith("zoo/0002_example.py: ") for fault in faults)


@pytest.mark.parametrize("number", range(len(GOOD)))
def test_a_good_migration_is_let_through(lint, number):
    assert lint(GOOD[number]) == []


@pytest.mark.parametrize("is_validated", [True, False])
def test_a_column_becomes_not_null_in_three_migrations(lint, is_validated):
    add, validate = f"AddConstraintNotValid('cat', {CHECK})", "ValidateConstraint('cat', 'named')" + LATER
    alter = "migrations.AlterField('cat', 'name', models.CharField(max_length=10))"
    assert bool(lint(*([add, validate] if is_validated else [add]), alter)) != is_validated


def test_no_migration_of_ours_has_a_fault():
    loader, faults, earlier = MigrationLoader(None), [], {}
    for key, migration in sorted(loader.disk_migrations.items()):
        if key[0] in own_apps():
            state, before = loader.project_state(nodes=key, at_end=False), earlier.get(key[0], [])
            faults += find_faults(migration, state, version=product_version(), earlier=before)
            earlier.setdefault(key[0], []).append(migration)
    assert earlier
    assert not faults, "\n".join(faults)

"""`compiled_rows` and `linked_insert` copy internals of Django: another Django fails here first, and says why.

With a new Django: compare `ModelIterable` and `ValuesListIterable` with `compiled_rows`, `In.as_sql` with what
`compiled_queryset` makes of it, and `Model._save_table` and
`SQLInsertCompiler.as_sql` with `insert_linked_rows`; then change `READ_AGAINST` and the bound in pyproject.toml.
"""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path

import django
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import expressions, query
from psycopg import _queries

from conversations.models import Message

READ_AGAINST = (5, 2)
PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def test_this_is_the_django_whose_internals_were_read():
    assert django.VERSION[:2] == READ_AGAINST, f"{__doc__}"


def test_the_upper_bound_lets_no_other_django_in():
    dependencies = tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    [bound] = [name.partition("<")[2] for name in dependencies if name.startswith("django[")]
    assert bound == f"{READ_AGAINST[0]}.{READ_AGAINST[1] + 1}"


def test_rows_become_instances_by_the_names_that_a_compiled_query_uses():
    compiler = Message.objects.select_related("parent").query.get_compiler(DEFAULT_DB_ALIAS)
    compiler.as_sql()
    assert {"model", "select_fields", "related_klass_infos"} <= compiler.klass_info.keys()
    assert compiler.annotation_col_map == {}
    assert list(inspect.signature(query.get_related_populators).parameters)[:3] == ["klass_info", "select", "db"]
    assert list(inspect.signature(query.RelatedPopulator.populate).parameters) == ["self", "row", "from_obj"]
    assert list(inspect.signature(compiler.get_converters).parameters) == ["expressions"]
    assert [field.target.attname for field, *_ in compiler.select[:1]] == ["id"]


def test_values_are_the_first_columns_of_a_row_and_lists_are_written_as_a_compiled_queryset_expects():
    contents = Message.objects.filter(pk__in=[7]).values_list("content").order_by("position").distinct()
    assert contents._iterable_class is query.ValuesListIterable
    assert contents.values_list("content", flat=True)._iterable_class is query.FlatValuesListIterable
    assert Message.objects.all()._iterable_class is query.ModelIterable
    assert contents._prefetch_related_lookups == ()
    compiler = contents.query.get_compiler(DEFAULT_DB_ALIAS)
    sql, parameters = compiler.as_sql()
    assert (compiler.col_count, parameters) == (1, (7,))
    assert "IN (%s)" in sql


def test_new_rows_are_written_by_the_names_that_a_linked_insert_uses():
    assert Message._meta.db_returning_fields[0].primary_key
    assert issubclass(expressions.DatabaseDefault, expressions.Expression)
    assert {"adding", "db"} <= set(vars(Message()._state)) | set(vars(type(Message()._state)))


def test_psycopg_remembers_the_places_of_values_in_long_statements(db):
    """`connection` raises the length to which it does: a joined row with all of its columns is longer than 4,096."""
    statement = f"SELECT {', '.join(['%s::int'] * 60)} -- {'x' * 5_000}"
    with connection.cursor() as cursor:
        cursor.execute(statement, [1] * 60)
        before = _queries._query2pg.cache_info()
        cursor.execute(statement, [1] * 60)
    after = _queries._query2pg.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 0)

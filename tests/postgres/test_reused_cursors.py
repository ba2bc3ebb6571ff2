"""Cursors that are used again; `chatsite.postgres.reused_cursors` uses internals of psycopg, which this guards, too."""

from __future__ import annotations

import datetime as dt
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import psycopg
import pytest
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    connection,
    connections,
    transaction,
)
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from psycopg.types.json import Jsonb

from chatsite.postgres.reused_cursors import MOST_KEPT, ReusableCursor, ReusedCursorWrapper
from conversations.models import Message
from tests.postgres.allocator import bytes_in_use

LARGE = 8 * 1024 * 1024
VALUES = (
    [1, "one", None],
    [2**40, "", Decimal("1.5")],
    [-1, "\N{SNOWMAN}", [1, 2**20]],
    [[], ["a", None], dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC)],
    [b"\0\1", True, dt.date(2026, 1, 2)],
)

pytestmark = pytest.mark.django_db


def execute(sql, *arguments):
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        return cursor.fetchall()


def create(table):
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {table} ON COMMIT DROP")


def cursor_that_is_used():
    with connection.cursor() as cursor:
        return cursor.cursor


def test_the_next_statement_of_a_connection_has_the_cursor_of_the_last():
    execute("SELECT 1")
    first = cursor_that_is_used()
    assert isinstance(first, ReusableCursor)
    execute("SELECT 2")
    assert cursor_that_is_used() is first


@pytest.mark.parametrize("first", range(len(VALUES)))
def test_values_are_written_and_read_as_by_a_new_cursor(first):
    """Also where the same text has other types than before: psycopg remembers how it wrote the last ones."""
    for values in VALUES[first:] + VALUES[:first]:
        expected = connection.connection.execute("SELECT %s, %s, %s", values).fetchall()
        assert execute("SELECT %s, %s, %s", *values) == expected


def test_text_that_is_json_is_read_as_django_reads_it():
    assert execute("SELECT %s::jsonb", Jsonb({"a": 1})) == [('{"a": 1}',)]
    assert execute("SELECT now()")[0][0].tzinfo == connection.timezone


def test_statements_without_values_may_have_percent_signs_and_be_several():
    with connection.cursor() as cursor:
        assert cursor.execute("SELECT '50%'").fetchall() == [("50%",)]
        cursor.execute("SELECT 1; SELECT 2")
        assert cursor.fetchall() == [(1,)]
        assert cursor.nextset()
        assert cursor.fetchall() == [(2,)]
    assert execute("SELECT %s", 3) == [(3,)]


def test_rows_are_read_one_by_one_some_or_all():
    with connection.cursor() as cursor:
        cursor.execute("SELECT generate_series(1, 7)")
        assert (cursor.rowcount, cursor.description[0].name) == (7, "generate_series")
        assert cursor.fetchone() == (1,)
        assert cursor.fetchmany() == [(2,)]
        assert cursor.fetchmany(2) == [(3,), (4,)]
        assert next(iter(cursor)) == (5,)
        assert list(cursor) == [(6,), (7,)]
        assert cursor.fetchone() is None


def test_statements_nest_while_rows_are_read():
    with connection.cursor() as outer:
        outer.execute("SELECT generate_series(1, 3)")
        found = [(row, execute("SELECT %s * 10", row), execute("SELECT 'x'")) for (row,) in outer]
    assert found == [(row, [(row * 10,)], [("x",)]) for row in (1, 2, 3)]


def test_a_connection_keeps_few_cursors():
    cursors = [connection.cursor() for _ in range(MOST_KEPT + 3)]
    for cursor in cursors:
        cursor.execute("SELECT 1")
    for cursor in cursors:
        cursor.close()
    assert len(connection.connection._kept_cursors) == MOST_KEPT


def test_a_cursor_that_is_closed_reads_nothing_of_the_next_statement():
    cursor = connection.cursor()
    cursor.execute("SELECT generate_series(1, 3)")
    rows = iter(cursor)
    next(rows)
    cursor.close()
    cursor.close()
    with connection.cursor() as other:
        other.execute("SELECT 'secret' FROM generate_series(1, 3)")
        for read in (cursor.fetchone, cursor.fetchmany, cursor.fetchall, lambda: next(rows)):
            with pytest.raises(InterfaceError, match="closed"):
                read()
        with pytest.raises(InterfaceError, match="closed"):
            cursor.execute("SELECT 2")
        assert len(other.fetchall()) == 3
    assert (cursor.rowcount, cursor.description, cursor.closed) == (-1, None, True)


@pytest.mark.parametrize(("sql", "error"), [
    ("SELECT 1/0", DataError),
    ("INSERT INTO conversations_webhook (id) VALUES (NULL)", IntegrityError),
    ("SELECT * FROM nowhere", ProgrammingError),
])  # fmt: skip
def test_errors_are_djangos_and_the_cursor_that_met_one_is_not_used_again(sql, error):
    execute("SELECT 1")
    used = cursor_that_is_used()
    with pytest.raises(error) as raised, transaction.atomic():
        execute(sql)
    assert isinstance(raised.value.__cause__, psycopg.Error)
    assert used.closed
    assert execute("SELECT %s", 1) == [(1,)]


def test_a_row_that_is_not_there_to_be_read_is_an_error_of_django():
    with connection.cursor() as cursor:
        with pytest.raises(ProgrammingError):
            cursor.fetchall()
        cursor.execute("SET LOCAL lock_timeout = 1000")
        with pytest.raises(ProgrammingError):
            cursor.fetchone()


def test_a_transaction_that_is_broken_executes_nothing_more():
    with transaction.atomic():
        with pytest.raises(IntegrityError), transaction.atomic(savepoint=False):
            execute("INSERT INTO conversations_webhook (id) VALUES (NULL)")
        with pytest.raises(TransactionManagementError):
            execute("SELECT 1")


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_closed_is_an_error_and_the_next_one_has_cursors_of_its_own():
    execute("SELECT 1")
    first, cursor = connection.connection, cursor_that_is_used()
    first.close()
    with pytest.raises(OperationalError):
        execute("SELECT 1")
    assert connection.errors_occurred
    connection.close()
    assert execute("SELECT 1") == [(1,)]
    assert connection.connection is not first
    assert cursor_that_is_used() is not cursor


@pytest.mark.django_db(transaction=True)
def test_a_cursor_goes_to_the_pool_with_its_connection_and_a_late_one_takes_nothing_along():
    late = connection.cursor()
    late.execute("SELECT generate_series(1, 3)")
    first = connection.connection
    with ThreadPoolExecutor(1) as thread:
        connection.close()
        late.close()

        def use_until_first():
            """Threads of other tests may keep some of the pool, so not all can be taken."""
            taken = []
            try:
                while first not in taken:
                    taken.append(connection.pool.getconn())
            finally:
                for each in taken:
                    connection.pool.putconn(each)

        thread.submit(use_until_first).result()
        assert thread.submit(lambda: (execute("SELECT 5"), connections.close_all())).result()[0] == [(5,)]
    assert execute("SELECT 6") == [(6,)]


def test_another_thread_may_not_use_the_connection():
    execute("SELECT 1")
    wrapper = connections["default"]
    with ThreadPoolExecutor(1) as thread, pytest.raises(DatabaseError, match="same thread"):
        thread.submit(wrapper.cursor).result()


def test_no_result_and_no_value_stays_in_memory():
    rows, before = "SELECT repeat('x', 1000), %s FROM generate_series(1, %s)", bytes_in_use()
    with connection.cursor() as cursor:
        used = cursor.cursor
        cursor.execute(rows, ["y", LARGE // 1000])
        assert bytes_in_use() - before > LARGE
    assert bytes_in_use() - before < LARGE // 8
    assert used is cursor_that_is_used()
    assert (used.pgresult, used._tx.pgresult, used._query, used._results) == (None, None, None, [])


def test_copied_rows_leave_nothing_behind():
    create("copied (a int, b text)")
    with connection.cursor() as cursor, cursor.copy("COPY copied FROM STDIN") as copy:
        copy.set_types(["int4", "text"])
        copy.write_row([1, "one"])
    assert execute("SELECT a, b, %s FROM copied", dt.date(2026, 1, 2)) == [(1, "one", dt.date(2026, 1, 2))]


def test_many_statements_at_once_leave_nothing_behind():
    create("written (a int)")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO written VALUES (%s)", [[1], [2]])
        assert cursor.rowcount == 2
    assert execute("SELECT sum(a), %s FROM written", "x") == [(3, "x")]


def test_statements_that_are_logged_are_djangos():
    with CaptureQueriesContext(connection) as captured:
        execute("SELECT %s", "logged")
        with connection.cursor() as cursor:
            assert not isinstance(cursor, ReusedCursorWrapper)
    assert [query["sql"] for query in captured] == ["SELECT 'logged'"]


def test_wrappers_of_statements_are_called():
    seen = []

    def wrapper(execute, sql, params, many, context):
        seen.append((sql, params, many))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(wrapper):
        assert execute("SELECT %s", 1) == [(1,)]
    execute("SELECT 2")
    assert seen == [("SELECT %s", (1,), False)]


def test_timestamps_are_read_in_the_zone_of_django(settings):
    moment = dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC)
    assert execute("SELECT %s", moment) == [(moment,)]
    used = cursor_that_is_used()
    used.timezone = dt.timezone(dt.timedelta(hours=1))  # as if Django's had changed since
    used.keep()
    assert cursor_that_is_used() is not used
    assert execute("SELECT %s", moment)[0][0].tzinfo == connection.timezone


@pytest.mark.django_db(transaction=True)
def test_djangos_own_queries_use_them_also_while_rows_come_in_pieces():
    assert list(Message.objects.values_list("pk").iterator(chunk_size=1)) == []
    assert not Message.objects.filter(pk=1).exists()
    first = cursor_that_is_used()
    assert Message.objects.count() == 0
    assert cursor_that_is_used() is first


def test_a_connection_that_is_dropped_takes_its_cursors_along():
    made = psycopg.connect(**connection.get_connection_params() | {"dbname": "postgres"})
    cursor = made.cursor()
    cursor.execute("SELECT 1")
    cursor.keep()
    made.close()
    seen = weakref.ref(cursor)
    del made, cursor
    gc.collect()
    assert seen() is None

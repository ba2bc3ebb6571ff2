import threading
from contextlib import closing

import psycopg
import pytest
from django.db import connection as django_connection
from psycopg_pool import ConnectionPool

from chatsite.postgres import connection as limits
from chatsite.postgres import faults
from chatsite.postgres.connection import LimitedConnection, end_waits, has_just_answered, long_work
from chatsite.postgres.faults import DatabaseClosed, is_passing_fault, seconds_since_fault
from chatsite.postgres.pool import LARGE_VALUE_BYTES, give_newest_first, replace_after_large_value
from tests.postgres.allocator import bytes_in_use
from tests.support.patience import wait_for

SLEEP = "SELECT pg_sleep(600)"
KEPT_BYTES = 512 * 1024  # most of a connection's buffers


@pytest.fixture(autouse=True)
def serving(monkeypatch):
    """Let the process serve for one test, with what is noted of the database forgotten afterwards."""
    monkeypatch.setattr(limits._State, "is_serving", True)
    monkeypatch.setattr(limits._State, "is_ending", False)
    monkeypatch.setattr(limits._State, "drained_at", -float("inf"))
    monkeypatch.setattr(faults._LastFault, "met_at", -float("inf"))


def connect_parameters():
    return django_connection.get_connection_params() | {"dbname": "postgres", "autocommit": True}


@pytest.fixture
def connect(django_db_setup):
    """A function that makes a connection as the pool does."""
    open_connections = []

    def make(**options):
        open_connections.append(LimitedConnection.connect(**connect_parameters() | options))
        return open_connections[-1]

    yield make
    for each in open_connections:
        each.close()


def test_a_wait_ends_when_it_is_too_long_and_closes_the_connection(connect, monkeypatch):
    monkeypatch.setattr(limits, "ANSWER_SECONDS", 0.2)
    connection = connect()
    with pytest.raises(psycopg.OperationalError, match="did not answer within") as raised:
        connection.execute(SLEEP)
    assert connection.closed
    assert is_passing_fault(raised.value)
    assert seconds_since_fault() < float("inf")


def test_only_a_server_that_has_just_answered_this_process_is_taken_to_be_there(connect, monkeypatch):
    monkeypatch.setattr(limits._State, "answered_at", -float("inf"))
    assert not has_just_answered()
    monkeypatch.setattr(limits, "TRUSTED_SECONDS", 600)
    connect().execute("SELECT 1")
    assert has_just_answered()
    monkeypatch.setattr(limits._State, "is_serving", False)
    assert not has_just_answered()
    monkeypatch.setattr(limits._State, "is_serving", True)
    monkeypatch.setattr(limits, "TRUSTED_SECONDS", -1)
    assert not has_just_answered()


def test_the_server_breaks_off_what_is_not_waited_for(connect, monkeypatch):
    monkeypatch.setattr(limits, "ANSWER_SECONDS", 0.5)
    connection, other = connect(), connect()
    pid = connection.info.backend_pid
    with pytest.raises(psycopg.OperationalError):
        connection.execute(SLEEP)
    there = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
    wait_for(lambda: other.execute(there, [pid]).fetchone() == (0,), "its process at the server has ended")


def test_long_work_may_wait_as_long_as_the_statement_may_take(connect, monkeypatch, settings):
    monkeypatch.setattr(limits, "ANSWER_SECONDS", 0.01)
    settings.DATABASE_STATEMENT_SECONDS = 600
    connection = connect()
    with long_work():
        assert connection.execute("SELECT pg_sleep(0.3), 1").fetchone()[1] == 1


@pytest.mark.parametrize(("limit", "value"), [
    ("statement_timeout", "1min"), ("lock_timeout", "5s"), ("idle_in_transaction_session_timeout", "10s")
])  # fmt: skip
def test_the_servers_limits_go_along_with_the_connection(connect, limit, value):
    assert connect().execute(f"SHOW {limit}").fetchone() == (value,)


def test_a_connection_that_is_dead_is_given_up_by_the_network(connect):
    told = connect().info.get_parameters()
    assert {name: told.get(name) for name in limits.NETWORK_LIMITS} == {
        name: str(value) for name, value in limits.NETWORK_LIMITS.items()
    }
    assert {"connect_timeout", "keepalives_idle", "tcp_user_timeout"} <= limits.NETWORK_LIMITS.keys()


def test_options_of_the_url_take_precedence(connect):
    connection = connect(options="-c statement_timeout=3000")
    assert connection.execute("SHOW statement_timeout").fetchone() == ("3s",)


def test_commands_and_poolers_have_no_limits_of_the_server(connect, monkeypatch, settings):
    settings.DATABASE_STATEMENT_SECONDS = 0
    assert connect().execute("SHOW statement_timeout").fetchone() == ("0",)
    settings.DATABASE_STATEMENT_SECONDS = 60
    monkeypatch.setattr(limits._State, "is_serving", False)
    assert connect().execute("SHOW lock_timeout").fetchone() == ("0",)
    assert limits.answer_seconds() is None


def test_all_connections_of_the_pool_are_replaced_after_one_was_found_read_only(django_db_setup):
    parameters = connect_parameters() | {"options": "-c default_transaction_read_only=on"}
    with ConnectionPool(
        kwargs=parameters, connection_class=LimitedConnection, min_size=4, max_size=4, open=True
    ) as pool:
        pool.wait()
        older = [pool.getconn() for _ in range(4)]
        for each in older[1:]:
            pool.putconn(each)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            older[0].execute("CREATE TABLE never (id int)")
        pool.putconn(older[0])
        assert seconds_since_fault() < float("inf")
        assert all(each.closed for each in older)
        newer = [pool.getconn() for _ in range(4)]
        assert not any(each.closed for each in newer)
        for each in newer:
            pool.putconn(each)


def test_the_connection_that_came_back_last_is_given_out_first(django_db_setup):
    parameters = connect_parameters()
    with closing(ConnectionPool(connection_class=LimitedConnection, kwargs=parameters, min_size=3, open=False)) as pool:
        give_newest_first(pool)
        pool.open(wait=True)
        taken = [pool.getconn() for _ in range(3)]
        for each in taken:
            pool.putconn(each)
            wait_for(lambda each=each: each in pool._pool, "it is idle")
        again = [pool.getconn() for _ in range(3)]
        assert again == taken[::-1]
        for each in again:
            pool.putconn(each)


def test_a_process_that_serves_gives_the_newest_out_first(django_db_setup, monkeypatch):
    monkeypatch.setitem(django_connection.settings_dict["OPTIONS"], "pool", {"min_size": 1})
    limits.begin_serving()
    idle = django_connection.pool._pool  # of a pool that nothing has opened
    idle.append("older")
    idle.append("newer")
    assert idle.popleft() == "newer"
    django_connection.close_pool()


def test_a_connection_that_is_read_only_is_not_taken_again(connect, monkeypatch):
    connection = connect(options="-c default_transaction_read_only=on")
    connection.execute("")  # as the pool asks whether it lives; quite new, so another would be no better
    monkeypatch.setattr(limits, "DRAIN_SECONDS", 0.0)
    with pytest.raises(psycopg.OperationalError):
        connection.execute("")
    assert connection.closed


def test_the_end_of_the_process_ends_all_waits(connect):
    connection = connect()
    raised = []

    def wait():
        try:
            connection.execute(SLEEP)
        except psycopg.Error as error:
            raised.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    wait_for(lambda: connection in limits._State.waiting, "the statement is sent")
    end_waits()
    waiting.join()
    assert raised
    with pytest.raises(DatabaseClosed):
        connect()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("size_bytes", "is_replaced"), [(LARGE_VALUE_BYTES, True), (LARGE_VALUE_BYTES - 1, False)])
def test_a_connection_that_carried_a_large_value_is_replaced(size_bytes, is_replaced):
    """Or libpq's buffers, as large as the value, would stay for as long as the connection lives."""
    with django_connection.cursor() as cursor:
        pid = cursor.execute("SELECT pg_backend_pid()").fetchone()[0]
    replace_after_large_value(size_bytes)
    django_connection.close()
    there = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
    with psycopg.connect(**connect_parameters()) as other:
        if is_replaced:
            wait_for(lambda: other.execute(there, [pid]).fetchone()[0] == 0, "it is closed")
        else:
            assert other.execute(there, [pid]).fetchone()[0] == 1


def test_a_connection_that_is_not_replaced_keeps_little(connect):
    """Pools of web processes grew by 17 MB while people sent and looked at pictures of less than 1 MB."""
    value, connections = bytes(LARGE_VALUE_BYTES - 1), [connect() for _ in range(8)]
    before = bytes_in_use()
    for connection in connections:
        connection.execute("SELECT %s::bytea", [value]).fetchall()
    assert bytes_in_use() - before < KEPT_BYTES * len(connections)

"""The embedded PostgreSQL with real processes: who starts it, who shares it, when it ends and how it returns."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from chatsite.postgres.embedded.system_account import SystemAccount
from tests.postgres.processes import START_TIME
from tests.support.patience import wait_for


@pytest.fixture
def var_dir(made_var_dir: Path) -> Path:
    """The same data for all tests here; each starts and ends without a server."""
    return made_var_dir


def test_the_first_connection_starts_it(start_user):
    version, database, vectors = start_user().sql(
        "SELECT current_setting('server_version_num')::int / 10000, current_database(), '[1,2]'::vector <-> '[1,3]'"
    )[0]
    assert (version, database, vectors) == (18, "windowseat", 1.0)


def test_it_listens_on_a_private_unix_socket_only(start_user, server):
    assert start_user().sql("SHOW listen_addresses") == [[""]]
    assert stat.S_IMODE(server.paths.socket_dir.stat().st_mode) == 0o700


def test_the_site_is_no_superuser(start_user):
    assert start_user().sql("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == [[False]]
    assert "permission denied" in start_user().error("sql COPY (SELECT 1) TO PROGRAM 'true'")


def test_writes_are_durable(start_user):
    durable = "SELECT current_setting('fsync'), current_setting('synchronous_commit')"
    assert start_user().sql(durable) == [["on", "on"]]


def test_two_processes_share_one_server(start_user):
    assert start_user().sql(START_TIME) == start_user().sql(START_TIME)


def test_processes_that_start_at_once_start_one_server(start_user):
    users = [start_user() for _ in range(5)]
    for user in users:
        user.send(f"sql {START_TIME}")
    assert len({str(user.reply()["rows"]) for user in users}) == 1


def test_it_stops_with_its_last_user(start_user, server):
    first, last = start_user(), start_user()
    started_at = first.sql(START_TIME)
    last.sql("SELECT 1")
    first.end()
    assert last.sql(START_TIME) == started_at
    last.end()
    wait_for(server.is_gone)
    assert "database system is shut down" in server.log


def test_killed_users_neither_stop_it_nor_keep_it(start_user, server):
    first, last = start_user(), start_user()
    started_at = first.sql(START_TIME)
    last.sql("SELECT 1")
    first.kill()
    assert last.sql(START_TIME) == started_at
    last.kill()
    wait_for(server.is_gone)
    assert "database system is shut down" in server.log


def test_a_forked_child_is_a_user_of_its_own(start_user, server):
    user = start_user()
    started_at = user.sql(START_TIME)
    user.send("fork")
    user.wait()
    assert user.reply()["rows"] != server.keeper_id
    assert user.sql(START_TIME) == started_at
    user.end()
    wait_for(server.is_gone)


def test_a_newcomer_during_the_stop_gets_a_new_server(start_user):
    leaving = start_user()
    for _ in range(3):
        leaving.sql("SELECT 1")
        newcomer = start_user()
        leaving.end()
        assert newcomer.sql("SELECT 1") == [[1]]
        leaving = newcomer


def test_it_comes_back_with_its_data_after_everything_was_killed(start_user, server):
    user = start_user()
    user.sql("CREATE TABLE survivor AS SELECT 42 AS answer")
    keeper = psutil.Process(server.keeper_id)
    keeper.suspend()  # so that it can't stop the server when the user is gone
    wait_for(lambda: keeper.status() == psutil.STATUS_STOPPED)
    user.kill()
    server.kill()
    assert server.paths.postmaster_pid.exists()
    assert start_user().sql("SELECT answer FROM survivor") == [[42]]
    assert "was not properly shut down" in server.log


@pytest.fixture
def stranger_id(made_var_dir: Path) -> Iterator[int]:
    """The id of a process that has nothing to do with the server and belongs to the same account."""
    account = SystemAccount.owning(made_var_dir / "postgres")
    with subprocess.Popen(["sleep", "600"], cwd="/", **account.subprocess_options()) as stranger:
        yield stranger.pid
        stranger.kill()


def test_it_comes_back_when_another_process_has_the_killed_servers_id(start_user, server, stranger_id):
    start_user().sql("CREATE TABLE kept AS SELECT 42 AS answer")
    server.kill()
    lines = server.paths.postmaster_pid.read_text().splitlines(keepends=True)
    server.paths.postmaster_pid.write_text("".join([f"{stranger_id}\n", *lines[1:]]))
    assert start_user().sql("SELECT answer FROM kept") == [[42]]


@pytest.mark.parametrize("pool", [False, True], ids=["without a pool", "with a pool"])
def test_a_dead_server_is_started_by_the_next_connection(start_user, server, pool):
    user = start_user(pool=pool)
    started_at = user.sql(START_TIME)
    server.kill()
    assert user.sql(START_TIME) > started_at


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_it_ends_with_its_keeper_and_comes_back(start_user, server):
    user = start_user()
    started_at = user.sql(START_TIME)
    os.kill(server.keeper_id, signal.SIGKILL)
    wait_for(server.is_gone)
    assert user.sql(START_TIME) > started_at


def test_django_makes_and_drops_test_databases_in_several_processes(start_user):
    users = {"test_one": start_user(), "test_two": start_user()}
    for name, user in users.items():
        user.send(f"test-database {name}")
    assert [user.reply()["rows"] for user in users.values()] == [[["test_one", 1]], [["test_two", 1]]]
    databases = users["test_one"].sql("SELECT datname FROM pg_database WHERE datname LIKE 'test%'")
    assert databases == []

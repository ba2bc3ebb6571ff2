"""The embedded PostgreSQL in odd places and under different accounts, with real processes."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from chatsite.postgres.embedded import data_folder, server
from chatsite.postgres.embedded.errors import PostgresDidNotStart
from chatsite.postgres.embedded.server import EmbeddedServer
from chatsite.postgres.embedded.server_files import ServerPaths, try_lock_exclusive
from chatsite.postgres.embedded.system_account import choose_account
from tests.postgres.processes import START_TIME
from tests.support.patience import wait_for

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run this as root")
LONG_NAME = "/".join(["a folder with a long name"] * 8)


@pytest.fixture(params=["with spaces", "with a, comma", 'it\'s "quoted" $HOME \\ %s', LONG_NAME])
def odd_var_dir(folder, request) -> Path:
    return folder / request.param


class TestOddPlaces:
    @pytest.fixture
    def var_dir(self, odd_var_dir):
        return odd_var_dir

    def test_processes_find_each_others_server(self, start_user):
        assert start_user(pool=True).sql(START_TIME) == start_user().sql(START_TIME)


class TestLongPath:
    @pytest.fixture
    def var_dir(self, folder):
        return folder / LONG_NAME

    def test_the_socket_is_in_a_short_private_folder(self, start_user, server, var_dir):
        start_user().sql("SELECT 1")
        assert len(str(var_dir)) > 150
        assert len(str(server.paths.socket_dir)) < 50
        assert stat.S_IMODE(server.paths.socket_dir.stat().st_mode) == 0o700

    def test_a_folder_that_others_can_write_is_not_used(self, start_user, server):
        server.paths.socket_dir.mkdir()
        server.paths.socket_dir.chmod(0o777)
        assert "PostgresDidNotStart" in start_user().error()
        server.paths.socket_dir.rmdir()

    def test_nothing_is_left_outside_the_folder(self, start_user, server):
        user = start_user()
        user.sql("SELECT 1")
        server.kill()
        user.sql("SELECT 1")
        user.end()
        wait_for(lambda: not server.paths.socket_dir.exists())


@pytest.mark.parametrize("room_bytes", [0, 2**60])
def test_data_that_can_t_be_made_leave_nothing_and_tell_of_a_full_disk(folder, monkeypatch, room_bytes):
    monkeypatch.setattr(data_folder, "INITDB_OPTIONS", ("--no-such-option",))
    monkeypatch.setattr(data_folder, "INITDB_BYTES", room_bytes)
    with pytest.raises(PostgresDidNotStart, match="has only .* MB free" if room_bytes else "initdb failed") as caught:
        EmbeddedServer(folder / "postgres").ensure_running()
    assert "--no-such-option" in caught.value.output
    assert not [*folder.glob("*unfinished")]


def test_who_waits_for_a_process_that_has_the_data_says_so_and_what_it_was_in_the_end(folder, monkeypatch, caplog):
    data = folder / "postgres"
    monkeypatch.setattr(server, "QUIET_SECONDS", 0)
    monkeypatch.setattr(server, "START_TIMEOUT_SECONDS", 0.1)
    held = try_lock_exclusive(ServerPaths(data).lock)  # as `upgrade_postgres` holds it
    with pytest.raises(
        PostgresDidNotStart, match=r"did not get ready in \S+ seconds\. Another process starts or stops"
    ):
        EmbeddedServer(data).ensure_running()
    os.close(held)
    [record] = caplog.records
    assert record.getMessage().endswith("or upgrades its data. This one waits for it.")


@as_root
def test_as_root_the_server_runs_as_another_account(start_user, server, var_dir):
    start_user().sql("SELECT 1")
    assert server.user_id != 0
    assert stat.S_IMODE(var_dir.stat().st_mode) == 0o701
    assert stat.S_IMODE(server.paths.data.stat().st_mode) == 0o700


@as_root
def test_as_root_a_closed_folder_is_opened_for_passing_through_only(start_user, folder):
    folder.chmod(0o700)
    start_user().sql("SELECT 1")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o701


@as_root
def test_as_root_a_persons_folder_keeps_its_owner_and_its_permissions(start_user, server, var_dir):
    nobody = pwd.getpwnam("nobody")
    var_dir.mkdir(mode=0o700)
    os.chown(var_dir, nobody.pw_uid, nobody.pw_gid)
    start_user().sql("SELECT 1")
    assert server.user_id == nobody.pw_uid
    assert {path.stat().st_uid for path in var_dir.iterdir()} == {nobody.pw_uid}
    assert stat.S_IMODE(var_dir.stat().st_mode) == 0o700


def test_an_ordinary_user_needs_no_one_else(start_user, server, var_dir):
    prefix = _ordinary_user(var_dir)
    user = start_user(prefix=prefix)
    assert user.sql(START_TIME) == start_user(prefix=prefix).sql(START_TIME)
    assert server.user_id == var_dir.stat().st_uid != 0
    assert stat.S_IMODE(var_dir.stat().st_mode) == 0o700


@as_root
def test_root_and_the_owner_share_one_server(start_user, var_dir):
    prefix = _ordinary_user(var_dir)
    assert start_user().sql(START_TIME) == start_user(prefix=prefix).sql(START_TIME)


def test_one_that_is_killed_while_it_makes_the_data_is_followed_by_the_next(start_user, var_dir):
    killed = start_user()
    killed.send("sql SELECT 1")
    wait_for(lambda: (var_dir / "postgres.unfinished" / "global").exists())
    killed.kill()
    assert start_user().sql("SELECT 1") == [[1]]


@pytest.mark.parametrize(("version", "advice"), [("16", "manage.py upgrade_postgres"), ("19", "or a newer one")])
def test_data_of_another_version_are_refused_with_what_to_do(start_user, server, version, advice):
    server.paths.data.mkdir(parents=True)
    choose_account(server.paths.data).take_over(server.paths.data)
    (server.paths.data / "PG_VERSION").write_text(f"{version}\n")
    error = start_user().error()
    assert f"was made by PostgreSQL {version}" in error
    assert advice in error


def test_the_error_ends_with_what_the_server_said(start_user, server):
    user = start_user()
    user.sql("SELECT 1")
    server.kill()
    with (server.paths.data / "postgresql.conf").open("a") as configuration:
        configuration.write("no_such_setting = 1\n")
    error = user.error()
    assert error.startswith("PostgresDidNotStart: The embedded PostgreSQL did not start.")
    assert 'unrecognized configuration parameter "no_such_setting"' in error


def _ordinary_user(var_dir: Path) -> tuple[str, ...]:
    """Return a command that runs another one as an ordinary user to whom the new *var_dir* belongs.

    When root runs the tests, that user may not get to an interpreter below /root. Opening that folder would change the
    machine, so the user's processes then get the one capability that lets them read it: all else is an ordinary user's.
    """
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("setpriv (util-linux) is needed to become an ordinary user")
    nobody = pwd.getpwnam("nobody")
    var_dir.mkdir(mode=0o700)
    os.chown(var_dir, nobody.pw_uid, nobody.pw_gid)
    become = (setpriv, f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups")
    if subprocess.run([*become, "test", "-x", sys.executable]).returncode == 0:
        return become
    return (*become, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")

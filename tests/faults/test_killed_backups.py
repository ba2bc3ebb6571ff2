"""`kill -9` at any moment of a backup, a restore and a verification: of the command, its programs, its connections.

Afterwards no file is wrong, a database is empty or has all rows, the key that was there before is kept, and the same
command does what it was to do.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from chatsite.backups.backup_file import BackupFile
from chatsite.configuration.secret_key import FILE_NAME
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.site_commands import TABLES, processes_of, rows_by_table, start_command

from .databases import TERMINATE, Database, new_database

PASSPHRASE = "a passphrase of these rounds"
OWN_KEY, KEY = "k" * 60, "s" * 60
ROWS = 5_000
FILL = """
INSERT INTO accounts_cacheentry (cache_key, value, expires)
SELECT gen_random_uuid(), string_agg(md5(random()::text), ''), now() FROM generate_series(1, %s) AS row,
generate_series(1, 30) GROUP BY row
"""
WORKING = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"


def run(*arguments, **settings):
    """Run a command to its end, and return its exit status and what it said."""
    command = start_command(*arguments, **settings)
    said, _ = command.communicate(timeout=PATIENCE_SECONDS)
    assert "Traceback" not in said
    return command.returncode, said


@dataclass
class Source:
    """A site to back up, and a backup of it that was made in peace, which took *seconds*."""

    database: Database
    settings: dict
    backup: Path
    rows: dict
    seconds: float


@pytest.fixture(scope="module")
def source(postgres, template, tmp_path_factory):
    with new_database(postgres, template=template.name) as database:
        database.rows(FILL, ROWS)
        folder = tmp_path_factory.mktemp("source")
        settings = {"DATABASE_URL": database.url, "VAR_DIR": folder, "SECRET_KEY": KEY, "BACKUP_PASSPHRASE": PASSPHRASE}
        began = time.monotonic()
        status, said = run("backup", folder / "whole.backup", **settings)
        assert status == 0, said
        seconds = time.monotonic() - began
        yield Source(database, settings, folder / "whole.backup", rows_by_table(database.rows), seconds)


def kill(command, victim, *, after_seconds, database=None, programs=()):
    """Kill *victim*, the command or one of *programs* that it runs, after so long; return what the command has said.

    "connections" are ended as the server ends them when a process of it was killed.
    """
    with suppress(subprocess.TimeoutExpired):
        command.wait(after_seconds)
    if victim == "command":
        command.kill()
    elif victim == "connections":
        database.rows(TERMINATE, database.name)
    else:
        for process in [each for name in programs for each in processes_of(name, parent=command.pid)]:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    said, _ = command.communicate(timeout=PATIENCE_SECONDS)
    return said


def test_a_killed_backup_leaves_no_wrong_file(source, chance, tmp_path):
    settings = {**source.settings, "BACKUP_FOLDER": tmp_path / "backups", "TMPDIR": tmp_path / "tmp"}
    (tmp_path / "tmp").mkdir()
    (tmp_path / "backups").mkdir()
    arguments = ("backup", "--scheduled") if chance.random() < 0.5 else ("backup", tmp_path / "backups" / "a.backup")
    command = start_command(*arguments, **settings)
    victim = chance.choice(["command", "program", "connections"])
    moment = chance.uniform(0.3, 1.1) * source.seconds
    kill(command, victim, after_seconds=moment, database=source.database, programs=["pg_dump"])
    for file in (tmp_path / "backups").glob("*.backup"):
        BackupFile(file, PASSPHRASE).check()
    for file in (tmp_path / "backups").glob("a.backup"):
        file.unlink()  # it was whole before the kill, and nothing is written over
    status, said = run(*arguments, **settings)
    assert status == 0, said
    files = list((tmp_path / "backups").iterdir())
    assert files
    for file in files:
        BackupFile(file, PASSPHRASE).check()
        assert file.suffix == ".backup"
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_ends_takes_its_backup_with_it(source, chance, tmp_path, number):
    folder = tmp_path / "backups"
    settings = {**source.settings, "BACKUP_FOLDER": folder, "TMPDIR": tmp_path}
    source.database.rows("DELETE FROM conversations_backupschedule")
    worker = start_command("run_worker", BACKUP_EVERY_HOURS=1, **settings)
    try:
        [command] = wait_for(lambda: processes_of("python", parent=worker.pid), "a backup begins")
        time.sleep(chance.uniform(0, 1.1) * source.seconds)  # any moment, of the command's start, too
    finally:
        worker.send_signal(number)
    worker.communicate(timeout=PATIENCE_SECONDS)
    wait_for(lambda: command not in processes_of("python"), "the command has ended")
    wait_for(lambda: not source.database.value(WORKING, source.database.name), "pg_dump has ended")
    status, said = run("backup", "--scheduled", **settings)
    assert status == 0, said
    for file in folder.iterdir():
        assert file.suffix == ".backup"
        BackupFile(file, PASSPHRASE).check()


def test_a_killed_restore_leaves_an_empty_database_or_all_rows(source, postgres, chance, tmp_path):
    folder = tmp_path / "var"
    folder.mkdir()
    (folder / FILE_NAME).write_text(OWN_KEY)
    (tmp_path / "tmp").mkdir()
    with new_database(postgres) as database:
        settings = {"DATABASE_URL": database.url, "VAR_DIR": folder, "TMPDIR": tmp_path / "tmp"}
        settings["BACKUP_PASSPHRASE"] = PASSPHRASE
        command = start_command("restore", source.backup, **settings)
        moment = chance.uniform(0.3, 1.6) * source.seconds
        victim = chance.choice(["command", "program", "connections"])
        said = kill(command, victim, after_seconds=moment, database=database, programs=["psql", "pg_restore"])
        wait_for(lambda: not database.value(WORKING, database.name), "what it began has ended")
        if database.rows(TABLES):
            assert rows_by_table(database.rows) == source.rows
        if command.returncode != 0:
            status, said = run("restore", source.backup, **settings)
            assert status == 0, said
        assert "are as they were" in said
        assert rows_by_table(database.rows) == source.rows
    keys = {path.name.partition(".before-")[1]: path.read_text() for path in folder.glob(f"{FILE_NAME}*")}
    assert keys == {"": KEY, ".before-": OWN_KEY}
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_killed_verification_is_cleared_away_by_the_next(source, chance, tmp_path):
    (tmp_path / "tmp").mkdir()
    settings = {**source.settings, "TMPDIR": tmp_path / "tmp"}
    command = start_command("verify_backup", source.backup, **settings)
    moment = chance.uniform(0.3, 4) * source.seconds
    victim = chance.choice(["command", "program"])
    kill(command, victim, after_seconds=moment, programs=["python", "postgres"])
    assert all(path.name.startswith("windowseat-copy-") for path in (tmp_path / "tmp").iterdir())
    wait_for(lambda: not [each for each in processes_of("python").values() if str(source.backup) in each], "it is over")
    status, said = run("verify_backup", source.backup, **settings)
    assert status == 0, said
    assert list((tmp_path / "tmp").iterdir()) == []

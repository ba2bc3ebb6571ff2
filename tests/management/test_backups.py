"""`manage.py backup`, `restore` and `verify_backup` as real processes, on databases of the tests' server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from chatsite.backups.backup_file import BackupFile, write_backup
from tests.faults.databases import new_database
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.source import PROJECT

PASSPHRASE = "another window, another seat"
FILL = """
from chatsite.accounts.models import User
from conversations.services.api.api_keys import make_key
from conversations.services.portability.chat_history import ChatHistory
from conversations.services.webhooks.webhooks import set_webhook
for name in ("alice", "bob"):
    user = User.objects.create(email=f"{name}@example.org", password="!")
    said = [{"role": role, "content": f"{name} {turn} \\u2708"} for turn in range(10) for role in ("user", "assistant")]
    ChatHistory.from_openai(user=user, messages=said)
    set_webhook(make_key(user, name="a program").key, "https://hooks.example.org/")
"""
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
INSERT = "INSERT INTO accounts_cacheentry (cache_key, value, expires) VALUES (gen_random_uuid(), 'x', now())"


def manage(*arguments, check=True, **settings):
    """Run a command with *settings* as its environment, and return what came of it."""
    environment = {**os.environ, "ENV_FILE": os.devnull, **{name: str(value) for name, value in settings.items()}}
    outcome = subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert not (check and outcome.returncode), outcome.stderr
    return outcome


@pytest.fixture(scope="module")
def filled(postgres, template, tmp_path_factory):
    """(database, settings) of a site with two people, whose key is in its folder."""
    with new_database(postgres, template=template.name) as database:
        settings = {"DATABASE_URL": database.url, "VAR_DIR": tmp_path_factory.mktemp("filled")}
        manage("shell", "--verbosity", "0", "-c", FILL, **settings)
        yield database, settings


@pytest.fixture(scope="module")
def backup(filled, tmp_path_factory):
    """A backup of it that is encrypted."""
    path = tmp_path_factory.mktemp("backups") / "site.backup"
    said = manage("backup", path, BACKUP_PASSPHRASE=PASSPHRASE, **filled[1]).stdout
    assert f"verify_backup {path}" in said
    return path


@pytest.fixture
def empty(postgres, tmp_path):
    """(database, settings) of a site that is still to be restored."""
    with new_database(postgres) as database:
        yield database, {"DATABASE_URL": database.url, "VAR_DIR": tmp_path / "var", "BACKUP_PASSPHRASE": PASSPHRASE}


def rows_of(database):
    """Return all rows of all tables as text, by table."""
    return {
        name: sorted(row["t"] for row in database.rows(f"SELECT t::text FROM {name} AS t"))
        for name in (row["relname"] for row in database.rows(TABLES))
    }


def test_a_restored_site_has_each_row_and_the_key(filled, backup, empty):
    said = manage("restore", backup, **empty[1]).stdout
    assert "Counts, triggers, sums, secrets and windows are as they were." in said
    assert rows_of(empty[0]) == rows_of(filled[0])
    keys = [(Path(settings["VAR_DIR"]) / "secret_key").read_text() for _, settings in (filled, empty)]
    assert keys[0] == keys[1]
    again = manage("restore", backup, check=False, **empty[1])
    assert again.returncode
    assert "has tables already" in again.stderr


def test_what_is_written_meanwhile_is_in_it_whole_or_not_at_all(filled, empty, tmp_path):
    over = threading.Event()

    def write():
        while not over.is_set():
            filled[0].rows(INSERT)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        manage("backup", tmp_path, **filled[1])
    finally:
        over.set()
        writer.join()
    [path] = tmp_path.glob("windowseat-*.backup")
    manage("restore", path, **empty[1])
    assert empty[0].value("SELECT count(*) FROM accounts_cacheentry") > 0


def test_one_that_is_killed_leaves_an_empty_database(backup, empty):
    database, settings = empty
    command = [sys.executable, "manage.py", "restore", str(backup)]
    process = subprocess.Popen(
        command, cwd=PROJECT, env={**os.environ, **{name: str(value) for name, value in settings.items()}}
    )
    working = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pg_restore' AND datname = %s"
    wait_for(lambda: database.value(working, database.name), "rows are being restored")
    process.kill()
    process.wait()
    wait_for(lambda: not database.value(working, database.name), "pg_restore has ended")
    if not database.rows(TABLES):
        manage("restore", backup, **settings)
    assert database.value("SELECT count(*) FROM accounts_user") == 2


def test_a_backup_is_verified_beside_the_site(filled, backup):
    before = rows_of(filled[0])
    said = manage("verify_backup", backup, BACKUP_PASSPHRASE=PASSPHRASE, **filled[1]).stdout
    assert "can be restored" in said
    assert rows_of(filled[0]) == before
    wrong = manage("verify_backup", backup, check=False, BACKUP_PASSPHRASE="another", **filled[1])
    assert "passphrase" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_another_secret_key_is_refused(backup, empty):
    database, settings = empty
    refused = manage("restore", backup, check=False, SECRET_KEY="x" * 50, **settings)
    assert "SECRET_KEY is another one" in refused.stderr
    assert not database.rows(TABLES)


def test_one_of_a_later_version_is_refused(backup, empty, tmp_path):
    file = BackupFile(backup, PASSPHRASE)
    contents = file.check()
    contents["migrations"].append(["conversations", "0099_of_tomorrow"])
    write_backup(tmp_path / "later", version="9.0", contents=contents, parts=file.read_database())
    refused = manage("restore", tmp_path / "later", check=False, **empty[1])
    assert "has migrations that this one" in refused.stderr
    assert not empty[0].rows(TABLES)

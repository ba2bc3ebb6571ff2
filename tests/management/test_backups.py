"""`manage.py backup`, `restore` and `verify_backup` as real processes. They share one site and two backups of it.

The site's database is on the tests' server, as an embedded one is. It is restored on a server of an earlier major
version, and from there into a new embedded one.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connection

from chatsite.backups.backup_file import BackupFile, write_backup
from chatsite.backups.database_copy import DatabaseCopyFailed, dump_database
from chatsite.schema.executor import MIGRATION_LOCK
from conversations.management.backups import faults_after_the_rows, read_passphrase
from conversations.management.database_command import reason_of_refusal
from tests.faults.databases import Database, new_database
from tests.support.own_postgres import own_postgres
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.ports import free_port
from tests.support.site_commands import TABLES, environment, rows_by_table
from tests.support.source import PROJECT

PASSPHRASE = "another window, another seat"
FILL_AND_BACK_UP = """
from django.core.management import call_command
from chatsite.accounts.models import User
from conversations.services.api.api_keys import make_key
from conversations.services.portability.chat_history import ChatHistory
from conversations.services.webhooks.webhooks import set_webhook
for name in ("alice", "bob"):
    user = User.objects.create(email=f"{name}@example.org", password="!")
    said = [{"role": role, "content": f"{name} {turn} \\u2708"} for turn in range(10) for role in ("user", "assistant")]
    ChatHistory.from_openai(user=user, messages=said)
    set_webhook(make_key(user, name="a program").key, "https://hooks.example.org/")
call_command("backup", "--scheduled")
"""
RUN_EACH = """
import sys
from django.conf import settings
from django.core.management import CommandError, call_command
for command, path, settings.BACKUP_PASSPHRASE in {commands!r}:
    try:
        call_command(command, path)
    except CommandError as error:
        print(error, file=sys.stderr)
"""
INSERT = "INSERT INTO accounts_cacheentry (cache_key, value, expires) VALUES (gen_random_uuid(), 'x', now())"
INSERTED = "accounts_cacheentry"


def manage(*arguments, **settings):
    """Run a command with *settings* as its environment, and return what it said."""
    outcome = subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)],
        cwd=PROJECT,
        env=environment(settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert not outcome.returncode, outcome.stderr
    assert "Traceback" not in outcome.stderr
    return outcome


def run_each(commands, **settings):
    """Run *commands*, each a name, a path and a passphrase, in one process, and return what was said of the refused."""
    script = RUN_EACH.format(commands=[(command, str(path), passphrase) for command, path, passphrase in commands])
    return manage("shell", "--verbosity", "0", "-c", script, **settings).stderr.splitlines()


def key_of(settings):
    return (Path(settings["VAR_DIR"]) / "secret_key").read_text()


@dataclass
class Site:
    """A site: what its commands are run with, and a backup of it."""

    database: Database
    settings: dict
    backup: Path | None = None


def new_site(database, folder):
    return Site(database, {"DATABASE_URL": database.url, "VAR_DIR": folder, "BACKUP_PASSPHRASE": PASSPHRASE})


@pytest.fixture(scope="module")
def first(postgres, template, tmp_path_factory):
    """A site with two people, and an encrypted backup that was made while others wrote to it."""
    with new_database(postgres, template=template.name) as database:
        site = new_site(database, tmp_path_factory.mktemp("first"))
        over = threading.Event()

        def write():
            while not over.wait(0.01):
                database.rows(INSERT)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            manage("shell", "--verbosity", "0", "-c", FILL_AND_BACK_UP, **site.settings)
        finally:
            over.set()
            writer.join()
        [site.backup] = (site.settings["VAR_DIR"] / "backups").iterdir()
        assert BackupFile(site.backup).read_head().is_scheduled
        yield site


@pytest.fixture(scope="module")
def moved(first, tmp_path_factory):
    """The same site restored on a server of its operator's own, and a backup of that, which is not encrypted."""
    with own_postgres() as database:
        site = new_site(database, tmp_path_factory.mktemp("moved"))
        said = manage("restore", first.backup, **site.settings).stdout
        assert "\nTaking the backup's secret key …\n" in said
        assert not list(site.settings["VAR_DIR"].glob("secret_key.*"))  # there was none before
        assert "Counts, triggers, sums, secrets and windows are as they were." in said
        site.settings["BACKUP_PASSPHRASE"] = ""
        site.backup = tmp_path_factory.mktemp("backups") / "site.backup"
        said = manage("backup", site.backup, **site.settings).stdout
        assert f"verify_backup {site.backup}" in said
        assert "not encrypted" in said
        yield site


@pytest.fixture
def empty(postgres, tmp_path):
    """A site that is still to be restored."""
    with new_database(postgres) as database:
        yield new_site(database, tmp_path / "var")


def test_a_restored_site_has_each_row_and_the_key(first, moved):
    expected, found = rows_by_table(first.database.rows), rows_by_table(moved.database.rows)
    written, restored = set(expected.pop(INSERTED)), set(found.pop(INSERTED))
    assert found == expected
    assert restored
    assert restored < written
    assert key_of(first.settings) == key_of(moved.settings)


def test_an_extension_that_the_site_does_not_need_is_left_out(moved):
    """pgvector stands in for one: the tests' servers have no other."""
    address = {**moved.database.address, "dbname": moved.database.name}
    with psycopg.connect(**address) as holder:
        holder.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        [snapshot] = holder.execute("SELECT pg_export_snapshot()").fetchone()

        def dump(**options):
            return b"".join(dump_database(address, snapshot=snapshot, part_bytes=2**20, **options))

        added = b"CREATE EXTENSION IF NOT EXISTS vector"
        whole, without = dump(), dump(without_extensions=["vector"])
    assert added in whole
    assert added not in without
    assert b"CREATE TABLE public.conversations_message (" in without


def test_a_backup_with_a_key_that_is_not_the_site_s_says_so(first, tmp_path):
    """As where one is made on another machine, with the right database and without `secret_key`."""
    own, other = (
        manage("backup", tmp_path / name, **first.settings | options).stderr
        for name, options in (("own", {}), ("other", {"SECRET_KEY": "k" * 50}))
    )
    assert own == ""
    assert "SECRET_KEY is another one than it was" in other
    assert "can't read the newest secrets: 2 of webhooks" in other


def test_a_backup_is_verified_in_an_embedded_database_of_its_own(moved):
    before = rows_by_table(moved.database.rows)
    assert "can be restored" in manage("verify_backup", moved.backup, **moved.settings).stdout
    assert rows_by_table(moved.database.rows) == before
    assert BackupFile(moved.backup).check()["database_bytes"] > 10 * 2**20


UNREACHABLE = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from chatsite.backups.database_copy import dump_database
list(dump_database({"host": "127.0.0.1", "port": %d}, snapshot="1", part_bytes=1))
"""


def test_what_a_program_complains_of_is_told_where_no_byte_can_be_written():
    run = [sys.executable, "-c", UNREACHABLE % free_port()]
    said = subprocess.run(run, cwd=PROJECT, capture_output=True, text=True, check=False).stderr
    assert "DatabaseCopyFailed: pg_dump ended with 1" in said
    assert "Connection refused" in said


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfp\xc3\xa4ss \xf0\x9f\x98\x80\r\n", b"p\xc3\xa4ss \xf0\x9f\x98\x80\nanother line\n"]
)
def test_a_passphrase_is_the_first_line_of_its_file(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    assert read_passphrase(tmp_path / "file") == "p\u00e4ss \U0001f600"


@pytest.mark.parametrize("content", [b"", b"  \r\n\r\n", b"\xff\xfe", None])
def test_a_file_without_a_passphrase_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "file").write_bytes(content)
    with pytest.raises(CommandError, match=r"can't be read|has no passphrase"):
        read_passphrase(tmp_path / "file")


def test_why_a_backup_is_not_verified_is_told_without_the_log_before():
    log = "2026-11-28T18:48:21Z [warning  ] /tmp/x may now be passed through\n"
    assert reason_of_refusal(f"{log}CommandError: It is damaged.\n") == "It is damaged."
    assert reason_of_refusal("Killed\n") == "Killed"
    assert reason_of_refusal("") == "It could not be done."


@pytest.mark.django_db
def test_a_fault_after_the_rows_says_that_they_are_there_and_how_to_go_on():
    said = r"not compared .*: division by zero\. .* the same command goes on"
    with connection.cursor() as cursor, pytest.raises(DatabaseCopyFailed, match=said), faults_after_the_rows():
        cursor.execute("SELECT 1 / 0")


@contextmanager
def killed_while_held_up(site, backup, hold):
    """Begin to restore *backup*, and kill the command at what *hold*, a statement, holds up; yield to wait for that."""
    command = [sys.executable, "manage.py", "restore", str(backup)]
    with psycopg.connect(dbname=site.database.name, **site.database.address) as other:
        other.execute(hold)
        process = subprocess.Popen(command, cwd=PROJECT, env=environment(site.settings), stdout=subprocess.DEVNULL)
        yield
        process.kill()
        process.wait()
        other.rollback()


def test_one_that_is_killed_is_ended_by_the_same_command(first, empty):
    database = empty.database
    working = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'psql' AND datname = %s"
    with killed_while_held_up(empty, first.backup, "CREATE TABLE conversations_message ()"):
        held_up = f"{working} AND wait_event_type = 'Lock'"
        wait_for(lambda: database.value(held_up, database.name), "the restore is held up in its midst")
    wait_for(lambda: not database.value(working, database.name), "psql has ended")
    assert not database.rows(TABLES)
    with killed_while_held_up(empty, first.backup, f"SELECT pg_advisory_lock({MIGRATION_LOCK})"):
        wait_for(lambda: database.rows(TABLES), "all rows are there, and it waits for the lock of migrations")
    restored = rows_by_table(database.rows)
    [refused] = run_each([("restore", first.backup, PASSPHRASE)] * 2, **empty.settings)
    assert "has tables already" in refused
    assert rows_by_table(database.rows) == restored
    assert restored.keys() == rows_by_table(first.database.rows).keys()


def test_what_can_t_be_restored_changes_nothing(first, moved, empty, tmp_path):
    whole = moved.backup.read_bytes()
    changed = bytearray(whole)
    changed[whole.index(b"PGDMP") + 1_000] ^= 1
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "changed").write_bytes(changed)
    file = BackupFile(moved.backup)
    contents = file.check()
    tomorrow = ["conversations", "0099_of_tomorrow"]
    later = contents | {"migrations": [*contents["migrations"], tomorrow]}
    later["history"] = [*contents["history"], [*tomorrow, "", "9.0", "", True]]
    write_backup(tmp_path / "later", version="9.0", contents=later, parts=file.read_database())
    del contents["history"]
    write_backup(tmp_path / "unreleased", version="0.1.0", contents=contents, parts=file.read_database())
    del contents["triggers"]
    write_backup(tmp_path / "made up", version="9.0", contents=contents, parts=file.read_database())
    refused = {
        ("restore", tmp_path / "made up", ""): "what it says of the database is not whole",
        ("backup", tmp_path / "none", ""): "migrations are not applied",
        ("restore", tmp_path / "cut", ""): "damaged",
        ("verify_backup", tmp_path / "cut", ""): "damaged",
        ("restore", tmp_path / "changed", ""): "damaged",
        ("restore", tmp_path / "later", ""): "was made by version 9.0 of Windowseat, and this is ",
        ("restore", tmp_path / "unreleased", ""): "was made by an unreleased state of Windowseat",
        ("restore", first.backup, "another"): "The passphrase of",
        ("restore", moved.backup, "another"): "is not encrypted",
        ("restore", moved.backup, ""): "SECRET_KEY is another one",
    }
    said = run_each(refused, **empty.settings | {"SECRET_KEY": "x" * 50})
    assert [(reason, line) for reason, line in zip(refused.values(), said, strict=True) if reason not in line] == []
    assert not empty.database.rows(TABLES)

"""A site's database is moved and the command killed: the new one is empty or whole, and the next run goes on.

What holds the command up in its midst are sessions under its own name, which it takes for its own.
"""

from __future__ import annotations

import time
from contextlib import contextmanager

import psycopg
import pytest

from chatsite.postgres.embedded.server import DATABASE, EmbeddedServer
from conversations.management.new_databases import OWN_NAME
from tests.faults.databases import Database, new_database
from tests.support.own_postgres import own_postgres
from tests.support.patience import wait_for
from tests.support.site_commands import TABLES, fill_site, rows_by_table, run_site_command, start_command

SECONDS_OF_A_MOVE = 12.0  # within which a kill is drawn; one that ended before is none
WRITE = "INSERT INTO accounts_cacheentry (cache_key, value, expires) VALUES (gen_random_uuid(), 'x', now())"
IS_HELD_UP = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
NOTE = "SELECT role FROM windowseat_move"
HAS_NOTE = "SELECT to_regclass('windowseat_move') IS NOT NULL"


class Moving:
    """A site, the empty database that it is to be moved into, and the command."""

    def __init__(self, source: Database, target: Database, folder) -> None:
        self.source, self.target = source, target
        self.settings = {"DATABASE_URL": source.url, "VAR_DIR": folder}
        self.arguments = ("move_database", "--to", target.url)

    def run(self, **options) -> str:
        return run_site_command(*self.arguments, **options, **self.settings)

    def run_after_kill(self) -> str:
        """Run it until it is not refused for what a killed run had been given and still writes."""

        def run() -> str | None:
            process = start_command(*self.arguments, **self.settings)
            said, _ = process.communicate()
            if not process.returncode or "was moved from this database" in said:  # as it was before the kill
                return said
            assert "The site stays where it was" in said, said
            return None

        return wait_for(run, "the command goes on")

    @contextmanager
    def held_up(self, database: Database, statement: str, *, once: str = "SELECT true"):
        """Start the command, and yield it where *statement*, of a transaction of another session, holds it up."""
        address = {**database.address, "dbname": database.name, "application_name": OWN_NAME}
        process = start_command(*self.arguments, **self.settings)
        try:
            wait_for(lambda: database.value(once), once)
            with psycopg.connect(**address) as holder:
                holder.execute(statement)
                wait_for(lambda: database.value(IS_HELD_UP) or process.poll() is not None, "it is held up")
                assert process.poll() is None, process.stdout.read()
                yield process, holder
                holder.rollback()
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def kill_held_up(self, *arguments, **options) -> None:
        with self.held_up(*arguments, **options) as (process, _):
            process.kill()
            process.wait()

    def refusal(self, database: Database) -> str:
        """Return what a process of the site says that is started with *database*."""
        return run_site_command("run_worker", refused=True, **{**self.settings, "DATABASE_URL": database.url})


@pytest.fixture(scope="module")
def own_server():
    with own_postgres() as database:
        yield database


@pytest.fixture
def moving(postgres, template, own_server, tmp_path):
    """The site is on the tests' server, and the new database on another one of an earlier major version."""
    superuser = Database("postgres", {**own_server.address, "user": "postgres"})
    with new_database(postgres, template=template.name) as source, new_database(superuser) as target:
        target.rows("CREATE EXTENSION vector")
        moving = Moving(source, target, tmp_path)
        fill_site(**moving.settings)
        yield moving


def expect_moved(moving: Moving) -> None:
    assert rows_by_table(moving.target.rows) == rows_by_table(moving.source.rows)
    assert moving.source.value(NOTE) == "moved"
    assert not moving.target.value(HAS_NOTE)


def test_killed_while_it_copies_it_leaves_all_or_nothing_and_goes_on(moving):
    moving.kill_held_up(moving.target, "CREATE TABLE conversations_message ()")
    wait_for(lambda: not moving.target.value(OTHERS), "psql has ended")
    if moving.target.rows(TABLES):  # so little was in the pipe as a whole when the command was killed
        assert moving.target.value(NOTE) == "new"
    assert not moving.source.value(HAS_NOTE)
    moving.run()
    expect_moved(moving)


def test_killed_after_it_copied_no_site_starts_with_the_copy_and_it_goes_on(moving):
    moving.kill_held_up(moving.source, "CREATE TABLE windowseat_move ()")
    assert "in this database" in moving.refusal(moving.target)
    assert not moving.source.value(HAS_NOTE)
    moving.run()
    expect_moved(moving)


def test_a_copy_that_is_older_than_the_site_is_not_taken(moving):
    moving.kill_held_up(moving.source, "CREATE TABLE windowseat_move ()")
    moving.source.rows(WRITE)
    assert "the site has changed since. Make it empty" in moving.run(refused=True)
    assert not moving.source.value(HAS_NOTE)


def test_killed_at_its_end_no_site_starts_and_it_goes_on(moving):
    moving.kill_held_up(moving.target, "LOCK TABLE windowseat_move IN ACCESS SHARE MODE", once=HAS_NOTE)
    assert "was moved from this database" in moving.refusal(moving.source)
    assert "is not finished. Run" in moving.refusal(moving.target)
    moving.run()
    expect_moved(moving)


def test_words_that_were_written_after_the_copy_stop_the_move(moving):
    with (
        moving.held_up(moving.source, "CREATE TABLE windowseat_move ()") as (process, holder),
        psycopg.connect(dbname=moving.source.name, application_name="a page", **moving.source.address) as page,
    ):
        page.execute("SET lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            page.execute(WRITE)
        page.rollback()
        holder.rollback()
        said = process.stdout.read()
    assert "a page. What they write could be lost" in said
    assert not moving.source.value(HAS_NOTE)


def test_an_old_copy_in_the_embedded_database_is_renamed(moving, tmp_path):
    moving.arguments = ("move_database", "--to-embedded")
    moving.kill_held_up(moving.source, "CREATE TABLE windowseat_move ()")
    moving.source.rows(WRITE)
    assert "the site has changed since. It is kept as" in moving.run()
    expect_embedded(moving, tmp_path)
    assert len(list(tmp_path.glob("postgres-before-*"))) == 1


def test_killed_at_any_moment_it_goes_on(moving, tmp_path, chance):
    if chance.random() < 0.5:
        moving.arguments = ("move_database", "--to-embedded")
    process = start_command(*moving.arguments, **moving.settings)
    time.sleep(chance.random() * SECONDS_OF_A_MOVE)  # the moment is what is tried
    process.kill()
    process.communicate()
    if process.returncode:
        moving.run_after_kill()
    if "--to" in moving.arguments:
        expect_moved(moving)
    else:
        expect_embedded(moving, tmp_path)


def expect_embedded(moving: Moving, folder) -> None:
    server = EmbeddedServer(folder / "postgres")
    address = server.connection_settings()
    embedded = Database(DATABASE, {"host": str(address["HOST"]), "user": address["USER"]})
    assert rows_by_table(embedded.rows) == rows_by_table(moving.source.rows)
    assert moving.source.value(NOTE) == "moved"
    assert not embedded.value(HAS_NOTE)

"""A backup while people write, edit, stop and delete: restored, and compared row by row with the moment it was made of.

The backup is held up by a table that people do not use, until the test reads the same snapshot of the database: that
is what the restored rows are compared with. What people were told before is asked for beside that.
"""

from __future__ import annotations

import threading
import uuid
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.site_commands import processes_of, rows_by_table, start_command

from .databases import new_database
from .oracles import LOST_OR_DOUBLED

PEOPLE = 3
PASSPHRASE = "a passphrase of these rounds"
GATE = "CREATE SCHEMA IF NOT EXISTS held; CREATE TABLE IF NOT EXISTS held.up ()"
IS_HELD_UP = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = %s AND application_name = 'pg_dump' AND wait_event_type = 'Lock'
"""
DELETED = "SELECT deleted_at IS NOT NULL FROM conversations_conversation WHERE public_id = %s"
# Messages, replies, runs and rows of the ledger are stored together, or one by another.
HALVES = {
    "a message without a reply": """
SELECT id FROM conversations_message question WHERE id > %s AND role = 'user'
AND NOT EXISTS (SELECT FROM conversations_message WHERE parent_id = question.id AND role = 'assistant')
""",
    "a reply without a run": """
SELECT id FROM conversations_message reply WHERE id > %s AND role = 'assistant'
AND NOT EXISTS (SELECT FROM conversations_run WHERE reply_id = reply.id)
""",
    "a reply that streams without a live run, or the other way round": """
SELECT reply.id FROM conversations_message reply JOIN conversations_run run ON run.reply_id = reply.id
WHERE reply.id > %s AND (reply.state = 'streaming') <> (run.state <> 'ended')
""",
    "a complete reply without its row of the ledger, or with one that is open": """
SELECT id FROM conversations_message reply WHERE id > %s AND role = 'assistant' AND state = 'complete'
AND NOT EXISTS (SELECT FROM conversations_completion WHERE reply_id = reply.id AND ended_at IS NOT NULL)
""",
    "a row of the ledger without its reply": """
SELECT id FROM conversations_completion WHERE reply_id > %s AND purpose = 'reply'
AND NOT EXISTS (SELECT FROM conversations_message WHERE id = reply_id)
""",
}


class Person(threading.Thread):
    """Someone who writes without a pause: sends, stops, edits, makes replies again, deletes conversations."""

    def __init__(self, site, chance):
        super().__init__(daemon=True)
        self.acknowledged, self.deleted = [], []
        self.over, self.failure = threading.Event(), None
        self._site, self._chance = site, chance
        self._browser = site.sign_up()
        self._begin()

    def _begin(self):
        self._page = self._site.open_page(self._browser)

    def run(self):
        try:
            while not self.over.is_set():
                self._chance.choice([self._send, self._send, self._stop, self._edit, self._regenerate, self._delete])()
        except Exception as error:
            self.failure = error

    def _ask(self, language_model):
        self._page.send("model.choose", language_model=language_model, effort="")
        client_id = str(uuid.uuid4())
        content = self._page.post(client_id=client_id)
        reply = self._page.answer()["reply"]
        self.acknowledged.append((client_id, content))
        return reply

    def _send(self):
        reply = self._ask("ok")
        self._page.wait_for_end(reply)
        return reply

    def _stop(self):
        reply = self._ask(self._chance.choice(["paced-20-60", "endless-20"]))
        self._page.wait_for_text(reply, self._chance.randint(1, 20))
        self._page.stop(reply)
        self._page.wait_for_end(reply)

    def _edit(self):
        reply = self._send()
        messages = self._browser.sync(self._page.conversation)
        [place] = [place for place, message in enumerate(messages) if message["id"] == reply]
        client_id, content = str(uuid.uuid4()), f"{uuid.uuid4().hex[:12]} instead"
        self._page.edit(messages[place - 1]["id"], content, client_id=client_id)
        stored = self._page.read_until(lambda frame: frame.get("client_id") == client_id, "an answer to an edit")
        self.acknowledged.append((client_id, content))
        self._page.wait_for_end(stored["reply"])

    def _regenerate(self):
        self._page.wait_for_end(self._page.regenerate(self._send()))

    def _delete(self):
        self._send()
        conversation = self._page.conversation
        assert self._browser.request(f"/c/{conversation}/delete/", really="yes")[0] == 200
        self.deleted.append(conversation)
        self._begin()


@contextmanager
def writing(people):
    """Let *people* write until the block ends."""
    for person in people:
        person.start()
    try:
        yield
    finally:
        for person in people:
            person.over.set()
        for person in people:
            person.join()
    assert [person.failure for person in people if person.failure] == []


class Moment:
    """What a backup has to hold: all rows of the snapshot that it is made of, and what people were told before."""

    def __init__(self, people):
        self.acknowledged = [told for person in people for told in list(person.acknowledged)]
        self.deleted = [conversation for person in people for conversation in list(person.deleted)]
        self.rows = {}


@contextmanager
def held_up(database):
    """Let no dump pass until the block ends."""
    with psycopg.connect(dbname=database.name, **database.address) as holder:
        holder.execute("LOCK TABLE held.up IN ACCESS EXCLUSIVE MODE")
        yield
        holder.rollback()


def read_snapshot(database, snapshot):
    """Return all rows as the exported *snapshot* has them."""
    with psycopg.connect(dbname=database.name, row_factory=dict_row, **database.address) as other:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        other.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
        return rows_by_table(lambda statement: other.execute(statement).fetchall())


def back_up(site, target, people):
    """Make a backup, and return the moment that it is of."""
    moment = Moment(people)
    with held_up(site.database):
        command = start_command("backup", target, **site.settings, BACKUP_PASSPHRASE=PASSPHRASE)
        wait_for(
            lambda: site.database.value(IS_HELD_UP, site.database.name) or command.poll() is not None,
            "the dump is held up",
        )
        assert command.poll() is None, command.stdout.read()
        [arguments] = processes_of("pg_dump", parent=command.pid).values()
        moment.rows = read_snapshot(site.database, arguments.partition("--snapshot=")[2].split()[0])
    said, _ = command.communicate(timeout=PATIENCE_SECONDS)
    assert command.returncode == 0, said
    return moment


@pytest.fixture
def restored(postgres, site, tmp_path):
    """A function that restores a backup of the site into a database of its own, and returns that."""
    with new_database(postgres) as database:

        def restore(backup):
            settings = {**site.settings, "DATABASE_URL": database.url, "VAR_DIR": tmp_path / "var"}
            command = start_command("restore", backup, **settings, BACKUP_PASSPHRASE=PASSPHRASE)
            said, _ = command.communicate(timeout=PATIENCE_SECONDS)
            assert command.returncode == 0, said
            return database

        yield restore


def test_a_backup_under_load_is_one_moment_of_the_site(site, restored, chance, tmp_path):
    database, newest, backup = site.database, site.newest_message(), tmp_path / "site.backup"
    for statement in GATE.split(";"):
        database.rows(statement)
    site.answer_with("ok")
    people = [Person(site, chance) for _ in range(PEOPLE)]
    with writing(people):
        wait_for(lambda: all(person.acknowledged for person in people), "everyone has written")
        moment = back_up(site, backup, people)
        told_since = sum(len(person.acknowledged) for person in people) - len(moment.acknowledged)
    assert told_since, "people wrote while it was made"

    copy = restored(backup)
    found = rows_by_table(copy.rows)
    assert found.keys() == moment.rows.keys()
    assert {name for name in found if found[name] != moment.rows[name]} == set()
    for client_id, content in moment.acknowledged:
        assert copy.value(LOST_OR_DOUBLED, client_id, content) == 1
    for conversation in moment.deleted:
        assert copy.value(DELETED, conversation)
    assert {what: rows for what, query in HALVES.items() if (rows := copy.rows(query, newest))} == {}

"""An upgrade to a made-up next version under traffic, each of its migrations killed once. `make rehearsal` runs it.

The old version's web process and worker serve three people throughout. Each migration is held up, ended by `kill -9` at
a moment that chance chooses, and left to the next `manage.py upgrade`. Then the old processes work on with the new
schema, and the new version's take their place, one after the other.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
import time
import uuid
from contextlib import contextmanager

import psycopg
import pytest

from chatsite.version import product_version
from tests.support.next_version import (
    ADD_RETIRED_COLUMN,
    FILLED,
    INDEX,
    MIGRATIONS,
    VERSION,
    make_next_version,
)
from tests.support.patience import LOOK_AGAIN_SECONDS, wait_for
from tests.support.ports import free_port

from .browsers import Browser
from .conftest import checked
from .databases import new_database
from .goals import POSTED_WHILE_MIGRATED
from .oracles import LOST_OR_DOUBLED
from .sites import BEGIN, Site

PEOPLE = 3
REPLIES = 2  # of each person, at least, with each pair of versions
OLD_MESSAGES = 1500
FILL = """
WITH talk AS (
    INSERT INTO conversations_conversation
           (public_id, owner_id, scenario_id, title, has_pins, archived, starred, created_at, last_active_at)
    SELECT gen_random_uuid(), account.id, scenario.id, '', false, false, false, now(), now()
    FROM accounts_user account, conversations_scenario scenario, generate_series(1, %s)
    WHERE account.email = %s AND scenario.is_default
    RETURNING id
)
INSERT INTO conversations_message
       (conversation_id, position, active, role, content, content_tokens, grounding, grounding_tokens, encoding, state,
        tool_calls, tool_call_id, pinned, excluded, error_code, error_params, created_at)
SELECT talk.id, 0, true, 'user', 'a', 1, '[]', 0, 'o200k_base', 'complete',
       '[]', '', false, false, '', '{}', now()
FROM talk
"""
WAITS_FOR_LOCK = """
SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'conversations_message'::regclass AND NOT granted
               AND mode = 'AccessExclusiveLock')
"""
HAS_FILLED = "SELECT coalesce(max((progress->>'shelf')::bigint), 0) FROM windowseat_migrations WHERE name = %s"
HAS_INVALID_INDEX = """
SELECT EXISTS (SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
               WHERE relname = 'message_shelf' AND NOT indisvalid)
"""
HAS_INDEX = HAS_INVALID_INDEX.replace("NOT indisvalid", "indisvalid")
WRONG_SHELVES = "SELECT count(*) FROM conversations_message WHERE (id <= %s AND shelf IS NULL) OR shelf <> 1"
HAS_OLD_NOTE = """
SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'conversations_message'::regclass AND attname = 'old_note')
"""
OUTCOME = """
SELECT question.content, count(reply.id) FILTER (WHERE reply.state = 'complete') AS replies
FROM conversations_message question LEFT JOIN conversations_message reply ON reply.parent_id = question.id
WHERE question.client_id = %s GROUP BY question.id
"""
NO_ANSWER = (OSError, http.client.HTTPException, ValueError, AssertionError)


@pytest.fixture(scope="module")
def next_version(tmp_path_factory):
    return make_next_version(tmp_path_factory.mktemp("next"))


@pytest.fixture
def site(postgres, template, upstream, tmp_path):
    with new_database(postgres, template=template.name) as database:
        database.rows(ADD_RETIRED_COLUMN)
        site = Site(database, upstream, tmp_path, RUN_WORKER="off", MIGRATE_ON_START="off")
        try:
            with checked(site):
                yield site
        finally:
            site.end()


class Person(threading.Thread):
    """A user who posts a message, waits for its reply, and posts the next, at the process that answers."""

    def __init__(self, site: Site, addresses: list[str]) -> None:
        super().__init__(daemon=True)
        self._browser, self._addresses, self._over = site.sign_up(), addresses, threading.Event()
        self._conversation = str(uuid.uuid4())
        site.database.rows(BEGIN, self._conversation, self._browser.person)
        self.email = self._browser.person
        self.acknowledged: dict[str, str] = {}
        self.replies = 0
        self.slowest_seconds = 0.0

    def run(self) -> None:
        while not self._over.is_set():
            client_id, content = str(uuid.uuid4()), f"Tell me about {uuid.uuid4().hex[:8]}"
            began = time.monotonic()
            self._insist(lambda key=client_id, said=content: self._post(key, said))
            self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - began)
            self.acknowledged[client_id] = content
            self._insist(self._has_reply)
            self.replies += 1

    def end(self) -> None:
        self._over.set()
        self.join()

    def _post(self, client_id: str, content: str) -> bool:
        status, answer = self._browser.post(self._conversation, content, client_id)
        assert status < 500, answer
        return status == 200

    def _has_reply(self) -> bool:
        return all(message["state"] != "streaming" for message in self._browser.sync(self._conversation))

    def _insist(self, is_done) -> None:
        """Try until it *is_done*, at the other process where one does not answer."""
        while True:
            try:
                if is_done():
                    return
            except NO_ANSWER:
                self._addresses_in_turn()
            time.sleep(LOOK_AGAIN_SECONDS)

    def _addresses_in_turn(self) -> None:
        following = self._addresses[(self._addresses.index(self._browser.address) + 1) % len(self._addresses)]
        self._browser = Browser(following, cookies=self._browser)


class Upgrading:
    """Runs the next version's commands against the site."""

    def __init__(self, site: Site, checkout, chance) -> None:
        self.site, self.checkout, self.chance = site, checkout, chance

    def start(self, *arguments: str) -> subprocess.Popen:
        environment = os.environ | self.site.settings
        with self.site.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "manage.py", *arguments], cwd=self.checkout, env=environment, stdout=log, stderr=log
            )

    def kill_in(self, migration: str) -> None:
        """Begin *migration* and kill the process in its midst, or just after."""
        with self.held_up(migration) as let_go:
            process = self.start("migrate", "conversations", migration)
            wait_for(lambda: self.is_in(migration) or process.poll() is not None, f"{migration} is on its way")
            if self.chance.random() < 0.5:
                let_go()
            time.sleep(self.chance.uniform(0, 0.1))
            process.kill()
            process.wait()

    def is_in(self, migration: str) -> bool:
        database = self.site.database
        if migration == FILLED:
            return database.value(HAS_FILLED, FILLED) >= self.last_filled
        return database.value(HAS_INVALID_INDEX if migration == INDEX else WAITS_FOR_LOCK)

    @contextmanager
    def held_up(self, migration: str):
        """Hold what *migration* waits for until it is let go; a backfill waits for nothing."""
        self.last_filled = self.chance.randint(1, OLD_MESSAGES)
        database = self.site.database
        with psycopg.connect(dbname=database.name, **database.address) as holder:
            if migration != FILLED:
                holder.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                holder.execute("SELECT id FROM conversations_message LIMIT 1")
            yield holder.rollback


def test_an_upgrade_under_traffic_survives_kills_of_each_step(site, next_version, chance):
    database = site.database
    addresses = [site.address, f"http://127.0.0.1:{(new_port := free_port())}"]
    old_web, old_worker = site.serve(), site.run_worker()
    site.answer_with("ok")
    people = [Person(site, addresses) for _ in range(PEOPLE)]
    database.rows(FILL, OLD_MESSAGES, people[0].email)
    newest = site.newest_message()
    for person in people:
        person.start()
    upgrading = Upgrading(site, next_version, chance)

    wait_for_replies(people)  # old code, old schema
    for migration in MIGRATIONS:
        upgrading.kill_in(migration)
    assert upgrading.start("upgrade", "--without-backup").wait() == 0
    POSTED_WHILE_MIGRATED.measure(max(person.slowest_seconds for person in people))
    check_schema(database, newest)

    wait_for_replies(people)  # old code, new schema
    assert old_web.lives
    assert old_worker.lives
    assert Browser(site.address).request("/readyz") == (200, "ready, degraded: database")

    def replace_worker():
        site.start("run_worker", checkout=next_version)
        old_worker.terminate()
        assert old_worker.wait() == 0

    def replace_web():
        site.start("serve", checkout=next_version, PORT=str(new_port))
        old_web.terminate()
        old_web.wait()

    for replace in chance.sample([replace_worker, replace_web], 2):  # one after the other, in either order
        replace()
        wait_for_replies(people)
    for person in people:
        person.end()
    site.wait_until_quiet()
    check_messages(database, people)


def wait_for_replies(people):
    before = [person.replies for person in people]
    wait_for(
        lambda: all(person.replies >= count + REPLIES for person, count in zip(people, before, strict=True)),
        f"{REPLIES} more replies for each person",
    )


def check_schema(database, newest):
    """All is made once: the column is filled, the index valid, the retired column gone."""
    made = database.rows(
        "SELECT name, version FROM windowseat_migrations WHERE name = ANY(%s) AND ended_at IS NOT NULL ORDER BY name",
        list(MIGRATIONS),
    )
    assert [(row["name"], row["version"]) for row in made] == [(name, VERSION) for name in MIGRATIONS]
    assert database.value(WRONG_SHELVES, newest) == 0
    assert database.value(HAS_INDEX)
    assert not database.value(HAS_OLD_NOTE)


def check_messages(database, people):
    """Each message that was acknowledged is there once, and has one reply."""
    assert product_version() != VERSION
    for person in people:
        for client_id, content in person.acknowledged.items():
            assert database.value(LOST_OR_DOUBLED, client_id, content) == 1
            assert database.rows(OUTCOME, client_id) == [{"content": content, "replies": 1}]

"""PostgreSQL goes away in the middle of replies and comes back; the site is not restarted."""

from __future__ import annotations

import json
import shutil
import tempfile
import uuid
from pathlib import Path

import pytest

from chatsite.postgres.data_folder import ROLE
from chatsite.postgres.paths import PORT
from chatsite.postgres.server import DATABASE, EmbeddedServer
from tests.postgres.processes import SeenServer
from tests.side_effects import NOTES_FILE

from .conftest import checked
from .databases import Database, prepare
from .processes import wait_for
from .sites import Site

TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
COUNT = {"name": "count_up", "arguments": {"note": "a", "waits": True}}
FULL_TEXT = " ".join(f"word{number}" for number in range(200))


class FrailServer:
    """A PostgreSQL of its own, which is not the site's to start again."""

    def __init__(self, var_dir: Path) -> None:
        self._server = EmbeddedServer(var_dir / "postgres")
        self._seen = SeenServer(var_dir)
        self.start()
        address = {"host": str(self._server.paths.socket_dir), "port": str(PORT), "user": ROLE}
        self.database = Database(DATABASE, address)

    def start(self) -> None:
        self._server.ensure_running()

    def kill(self) -> None:
        self._seen.kill()


@pytest.fixture(scope="module")
def frail_server():
    folder = Path(tempfile.mkdtemp(prefix="seat-", dir="/tmp"))
    folder.chmod(0o711)  # PostgreSQL may run as another account
    server = FrailServer(folder / "var")
    prepare(server.database)
    yield server
    server.kill()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def frail_site(frail_server, upstream, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    settings = {"TOOL_MODULES": "tests.side_effects", NOTES_FILE: str(folder / "notes")}
    site = Site(frail_server.database, upstream, folder, **settings)
    site.serve()
    site.browser = site.sign_up()
    yield site
    site.end()


@pytest.fixture
def site(frail_site):
    with checked(frail_site):
        yield frail_site


@pytest.fixture
def page(site):
    return site.open_page(site.browser)


def test_a_reply_survives_the_end_of_all_connections(site, page, chance):
    site.answer_with("paced-200-10")
    reply = page.ask()
    page.wait_for_text(reply, chance.randint(1, 400))
    site.database.rows(TERMINATE, site.database.name)
    assert page.wait_for_end(reply)["state"] == "complete"
    assert page.texts[reply].text == site.wait_for_end(reply)["content"] == FULL_TEXT


def test_messages_can_be_sent_after_the_end_of_all_connections(site, page):
    site.answer_with("ok")
    for _ in range(3):
        site.database.rows(TERMINATE, site.database.name)
        assert page.wait_for_end(page.ask())["state"] == "complete"


def test_a_reply_survives_a_killed_database(site, page, frail_server, chance):
    site.answer_with("paced-200-10")
    reply = page.ask()
    page.wait_for_text(reply, chance.randint(1, 400))
    frail_server.kill()
    page.wait_for_text(reply, 600)
    frail_server.start()
    assert page.wait_for_end(reply)["state"] == "complete"
    assert page.texts[reply].text == site.wait_for_end(reply)["content"] == FULL_TEXT


def test_a_reply_that_ends_while_the_database_is_away_is_written_down_later(site, page, frail_server):
    site.answer_with("paced-200-10")
    reply = page.ask()
    page.wait_for_text(reply)
    frail_server.kill()
    page.wait_for_text(reply, len(FULL_TEXT))
    frail_server.start()
    assert page.wait_for_end(reply)["state"] == "complete"
    assert site.wait_for_end(reply)["content"] == FULL_TEXT
    assert site.ledger(reply)[0]["usage_estimated"] is False


def test_a_call_that_ends_while_the_database_is_away_is_written_down_later_and_not_run_again(site, page, frail_server):
    notes = Path(site.settings[NOTES_FILE])
    notes.with_suffix(".wait").touch()
    site.give_tools("count_up")
    site.answer_with("tools-script")
    reply = page.ask(json.dumps({"calls": [[COUNT], [COUNT | {"arguments": {"note": "b"}}]], "answer": "That is two."}))
    wait_for(notes.exists)
    frail_server.kill()
    notes.with_suffix(".wait").unlink()
    wait_for(lambda: "the database did not answer" in site.log.read_text())
    frail_server.start()
    ended = site.wait_for_end(reply)
    assert (ended["state"], ended["content"]) == ("complete", "That is two.")
    assert notes.read_text().split() == ["a", "b"]


def test_a_message_sent_while_the_database_is_away_is_refused_and_can_be_sent_again(site, page, frail_server):
    site.answer_with("ok")
    client_id = str(uuid.uuid4())
    frail_server.kill()
    content = page.post(client_id=client_id)
    assert page.answer()["code"] == "error"
    frail_server.start()
    page.post(content, client_id=client_id)
    assert page.wait_for_end(page.answer()["reply"])["state"] == "complete"
    assert site.database.value("SELECT count(*) FROM conversations_message WHERE content = %s", content) == 1

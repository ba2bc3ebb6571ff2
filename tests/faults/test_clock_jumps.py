"""The clock of a web process, a worker or both jumps by an hour or two days in the midst of a reply, and back again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.patience import wait_for

from .conftest import checked

pytestmark = pytest.mark.faketime
JUMPS = ("+1h", "-1h", "+2d", "-2d")
PROCESSES = ("web process", "worker")
LENGTH = "SELECT length(content) FROM conversations_message WHERE id = %s"
KEPT = "SELECT lease_until > now() + interval '5 seconds' FROM conversations_run WHERE reply_id = %s"
IS_OFF = "SELECT abs(extract(epoch FROM created_at - now())) > 3000 FROM conversations_message WHERE content = %s"
ORDER = """
SELECT message.content FROM conversations_message message JOIN conversations_conversation conversation
ON conversation.id = message.conversation_id WHERE conversation.public_id = %s AND role = 'user' ORDER BY position
"""


class Clock:
    """The wall clock of a process that is started with its *settings*; the monotonic one goes on as it does."""

    def __init__(self, file):
        [library] = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
        self._file = file
        self.settings = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        self.set("+0")

    def set(self, offset):
        """Let it be off by so much; the file is there, and whole, at every moment."""
        written = self._file.with_suffix(".new")
        written.write_text(offset + "\n")
        written.replace(self._file)


@pytest.fixture(scope="module")
def clocked_site(make_site, tmp_path_factory):
    """A web process and a worker, each with a clock of its own."""
    folder = tmp_path_factory.mktemp("clocks")
    with make_site(RUN_WORKER="off") as site:
        site.clocks = {name: Clock(folder / name) for name in PROCESSES}
        site.process = site.start("serve", **site.clocks["web process"].settings)
        site.start("run_worker", **site.clocks["worker"].settings)
        yield site


@pytest.fixture
def site(clocked_site):
    with checked(clocked_site):
        yield clocked_site


def answered(site, page):
    """Send a message, and return it once its reply is complete."""
    site.answer_with("ok")
    content = page.post()
    assert site.wait_for_end(page.answer()["reply"])["state"] == "complete"
    return content


def test_a_clock_that_jumps_ends_no_reply_and_no_session_and_keeps_the_order(site, chance):
    browser = site.sign_up()
    page = site.open_page(browser)
    sent = [answered(site, page)]
    site.answer_with("endless-20")
    sent.append(page.post())
    reply = page.answer()["reply"]
    wait_for(lambda: site.database.value(LENGTH, reply) > 50, "some of it is stored")
    jump, jumping = chance.choice(JUMPS), chance.choice([PROCESSES, *([name] for name in PROCESSES)])
    for name in jumping:
        site.clocks[name].set(jump)
    try:
        before = site.database.value(LENGTH, reply)
        wait_for(lambda: site.database.value(LENGTH, reply) > before + 200, "it goes on")
        assert site.database.value(KEPT, reply), "its lease is kept"
        assert site.let_end(reply)["state"] == "complete"
        sent.append(answered(site, page))
        if "web process" in jumping:
            assert site.database.value(IS_OFF, sent[-1]), "its clock has jumped"
        status, text = browser.request(f"/c/{page.conversation}/")
        assert (status, sent[0] in text) == (200, True), "the session is kept"
        newcomer = site.sign_up()
    finally:
        for name in jumping:
            site.clocks[name].set("+0")
    sent.append(answered(site, page))
    assert newcomer.request("/conversations/")[0] == 200
    assert [row["content"] for row in site.database.rows(ORDER, page.conversation)] == sent
    [row] = site.ledger(reply)
    assert (row["error_code"], row["usage_estimated"]) == ("", False)

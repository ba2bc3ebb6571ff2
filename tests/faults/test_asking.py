"""A reply that waits for somebody to allow a tool, and processes that are killed meanwhile: nothing runs twice."""

from __future__ import annotations

import json
import uuid

import pytest

from tests.side_effects import NOTES_FILE

from .processes import wait_for

GIVE_TOOLS = """UPDATE conversations_scenario SET tools = '["write_down"]'"""
ASKING = """
SELECT call.* FROM conversations_toolcall call JOIN conversations_run run ON run.reply_id = call.reply_id
WHERE call.reply_id = %s AND call.state = 'asks' AND run.state = 'asking'
"""
LAST_CALL = "SELECT * FROM conversations_toolcall WHERE reply_id = %s ORDER BY step DESC, index DESC LIMIT 1"


@pytest.fixture
def notes(tmp_path):
    """The file that the tool writes, and beside it, while it is there, the one that keeps the tool from returning."""
    return tmp_path / "notes"


@pytest.fixture
def site(new_site, notes):
    return new_site(TOOL_MODULES="tests.side_effects", **{NOTES_FILE: str(notes)})


def lines(notes):
    return notes.read_text().splitlines() if notes.exists() else []


def ask_to_write(site, page, **arguments):
    """Let the language model call the tool; returns the reply, and the note, which no other call has."""
    site.database.rows(GIVE_TOOLS)
    note = uuid.uuid4().hex[:8]
    call = {"name": "write_down", "arguments": {"note": note, **arguments}}
    site.answer_with("tools-script")
    return page.ask(json.dumps({"calls": [[call]]})), note


def wait_until_it_asks(site, reply):
    return wait_for(lambda: site.database.rows(ASKING, reply), what=f"reply {reply} asks")[0]


def decide(page, call, *, allowed=True):
    page.send("call.decide", call=call["id"], digest=call["digest"], allowed=allowed)


def test_a_reply_that_asks_outlives_the_site(site, notes):
    process = site.serve()
    page = site.open_page(site.sign_up())
    reply, note = ask_to_write(site, page)
    call = wait_until_it_asks(site, reply)
    process.kill()
    site.serve()
    page.open()
    assert wait_until_it_asks(site, reply) == call
    assert lines(notes) == []
    decide(page, call)
    assert site.wait_for_end(reply)["state"] == "complete"
    assert lines(notes) == [note]


def test_a_decision_waits_for_a_worker(site, notes):
    site.settings["RUN_WORKER"] = "off"
    site.serve()
    worker = site.run_worker()
    page = site.open_page(site.sign_up())
    reply, note = ask_to_write(site, page)
    call = wait_until_it_asks(site, reply)
    worker.kill()
    answer = {"digest": call["digest"], "allowed": "yes"}
    assert page.browser.json(f"/c/{page.conversation}/calls/{call['id']}/decide/", **answer)[0] == 200
    assert lines(notes) == []
    site.run_worker()
    assert site.wait_for_end(reply)["state"] == "complete"
    assert lines(notes) == [note]


def test_a_tool_that_was_killed_in_the_middle_is_not_run_again_unasked(site, notes):
    notes.with_suffix(".wait").touch()
    process = site.serve()
    page = site.open_page(site.sign_up())
    reply, note = ask_to_write(site, page, waits=True)
    decide(page, wait_until_it_asks(site, reply))
    wait_for(lambda: lines(notes))
    process.kill()
    site.serve()
    assert site.wait_for_end(reply)["state"] == "interrupted"
    [stopped] = site.database.rows(LAST_CALL, reply)
    assert (stopped["state"], stopped["result"]) == ("stopped", "")
    page.open()
    again = page.regenerate(reply)
    call = wait_until_it_asks(site, again)
    assert (call["digest"], lines(notes)) == (stopped["digest"], [note])
    decide(page, call, allowed=False)
    assert site.wait_for_end(again)["state"] == "complete"
    assert lines(notes) == [note]

"""Processes are killed while a tool call awaits approval: no call runs twice."""

from __future__ import annotations

import json
import uuid

from tests.support.patience import wait_for

AWAITING_APPROVAL = """
SELECT call.* FROM conversations_toolcall call JOIN conversations_run run ON run.reply_id = call.reply_id
WHERE call.reply_id = %s AND call.state = 'awaiting_approval' AND run.state = 'awaiting_approval'
"""
LAST_CALL = "SELECT * FROM conversations_toolcall WHERE reply_id = %s ORDER BY step DESC, index DESC LIMIT 1"


def ask_to_write(site, page, **arguments):
    """Let the language model call the tool; returns the reply, and the note, which no other call has."""
    site.give_tools("write_down")
    note = uuid.uuid4().hex[:8]
    call = {"name": "write_down", "arguments": {"note": note, **arguments}}
    site.answer_with("tools-script")
    return page.ask(json.dumps({"calls": [[call]]})), note


def wait_until_it_awaits_approval(site, reply):
    return wait_for(lambda: site.database.rows(AWAITING_APPROVAL, reply), f"reply {reply} awaits approval")[0]


def decide(page, call, *, allowed=True):
    page.send("call.decide", call=call["id"], digest=call["digest"], allowed=allowed)


def test_a_reply_that_awaits_approval_outlives_the_site(mortal_site, notes):
    page = mortal_site.open_page()
    reply, note = ask_to_write(mortal_site, page)
    call = wait_until_it_awaits_approval(mortal_site, reply)
    mortal_site.process.kill()
    mortal_site.serve()
    page.open()
    assert wait_until_it_awaits_approval(mortal_site, reply) == call
    assert notes.lines == []
    decide(page, call)
    assert mortal_site.wait_for_end(reply)["state"] == "complete"
    assert notes.lines == [note]


def test_a_decision_waits_for_a_worker(parted_site, notes):
    worker = parted_site.run_worker()
    page = parted_site.open_page()
    reply, note = ask_to_write(parted_site, page)
    call = wait_until_it_awaits_approval(parted_site, reply)
    worker.kill()
    answer = {"digest": call["digest"], "allowed": "yes"}
    assert page.browser.json(f"/c/{page.conversation}/calls/{call['id']}/decide/", **answer)[0] == 200
    assert notes.lines == []
    parted_site.run_worker()
    assert parted_site.wait_for_end(reply)["state"] == "complete"
    assert notes.lines == [note]


def test_a_tool_that_was_killed_in_the_middle_is_not_run_again_unasked(mortal_site, notes):
    notes.hold()
    page = mortal_site.open_page()
    reply, note = ask_to_write(mortal_site, page, waits=True)
    decide(page, wait_until_it_awaits_approval(mortal_site, reply))
    wait_for(lambda: notes.lines, "the tool is running")
    mortal_site.process.kill()
    mortal_site.serve()
    assert mortal_site.wait_for_end(reply)["state"] == "interrupted"
    [stopped] = mortal_site.database.rows(LAST_CALL, reply)
    assert (stopped["state"], stopped["result"]) == ("stopped", "")
    page.open()
    again = page.regenerate(reply)
    call = wait_until_it_awaits_approval(mortal_site, again)
    assert (call["digest"], notes.lines) == (stopped["digest"], [note])
    decide(page, call, allowed=False)
    assert mortal_site.wait_for_end(again)["state"] == "complete"
    assert notes.lines == [note]

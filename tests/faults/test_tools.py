"""A reply that calls tools is stopped, or its worker killed, at every stage: nothing is run twice."""

from __future__ import annotations

import json

import pytest

from tests.side_effects import NOTES_FILE

from .processes import wait_for

ENDED_WITHIN_SECONDS = 1.0
CALLS = "SELECT tool, state, started_at FROM conversations_toolcall WHERE reply_id = %s ORDER BY step, index"
SECONDS_TO_STOP = "SELECT extract(epoch FROM ended_at - stop_requested_at) FROM conversations_run WHERE reply_id = %s"
STEPS = "SELECT role FROM conversations_message WHERE step_of_id = %s AND active ORDER BY position"


def count(note, **arguments):
    return {"name": "count_up", "arguments": {"note": note, **arguments}}


# Stage → what the model does, what is noted by then, and the states of the calls that are left
STAGES = {
    "while a call is written": ([[{"say": "Well"}, count("a"), {"hang": True}]], [], []),
    "while a call runs": ([[count("a"), count("b", waits=True)]], ["a", "b"], ["succeeded", "stopped"]),
    "between two steps": ([[count("a")], [{"say": "And"}, {"hang": True}]], ["a"], ["succeeded"]),
    "in the second step": ([[count("a")], [count("b", waits=True)]], ["a", "b"], ["succeeded", "stopped"]),
}
AT_EVERY_STAGE = pytest.mark.parametrize(("calls", "noted", "states"), STAGES.values(), ids=STAGES)


@pytest.fixture
def notes(tmp_path):
    """The file that the tool writes, and beside it the one that keeps the tool from returning."""
    path = tmp_path / "notes"
    path.with_suffix(".wait").touch()
    return path


@pytest.fixture
def site(new_site, notes):
    site = new_site(TOOL_MODULES="tests.side_effects", **{NOTES_FILE: str(notes)})
    site.give_tools("count_up")
    site.answer_with("tools-script")
    return site


def lines(notes):
    return sorted(notes.read_text().splitlines()) if notes.exists() else []


def ask_until(site, page, notes, *, calls, noted, states):
    """Ask the model to make *calls*; returns the reply once that is going on which is to be interrupted."""
    requests = len(site.upstream.log()) + 1 + sum(any("hang" in entry for entry in step) for step in calls[1:])
    reply = page.ask(json.dumps({"calls": calls}))
    wait_for(lambda: len(site.upstream.log()) >= requests and lines(notes) == noted)
    wait_for(lambda: states_of(site, reply).count("succeeded") == states.count("succeeded"))
    return reply


def states_of(site, reply):
    return [row["state"] for row in site.database.rows(CALLS, reply)]


@AT_EVERY_STAGE
def test_a_killed_worker_leaves_nothing_to_be_run_again(site, notes, calls, noted, states):
    process = site.serve()
    page = site.open_page(site.sign_up())
    reply = ask_until(site, page, notes, calls=calls, noted=noted, states=states)
    process.kill()
    site.serve()
    assert site.wait_for_end(reply)["state"] == "interrupted"
    assert (states_of(site, reply), lines(notes)) == (states, noted)
    page.open()
    assert page.wait_for_end(page.ask(json.dumps({"calls": [[count("c")]]})))["state"] == "complete"
    assert lines(notes) == [*noted, "c"]


def test_a_reply_can_be_stopped_at_every_stage(site, notes):
    site.serve()
    browser = site.sign_up()
    for calls, noted, states in STAGES.values():
        notes.unlink(missing_ok=True)
        page = site.open_page(browser)
        reply = ask_until(site, page, notes, calls=calls, noted=noted, states=states)
        page.stop(reply)
        assert site.wait_for_end(reply)["state"] == "stopped"
        assert site.database.value(SECONDS_TO_STOP, reply) < ENDED_WITHIN_SECONDS
        assert (states_of(site, reply), lines(notes)) == (states, noted)
        assert page.wait_for_end(page.ask(json.dumps({"calls": [[count("c")]]})))["state"] == "complete"


def test_a_reply_that_was_interrupted_is_made_again_from_its_first_step(site, notes):
    calls = [[count("a")], [count("b", waits=True)]]
    process = site.serve()
    page = site.open_page(site.sign_up())
    reply = ask_until(site, page, notes, calls=calls, noted=["a", "b"], states=["succeeded"])
    process.kill()
    notes.with_suffix(".wait").unlink()
    site.serve()
    site.wait_for_end(reply)
    page.open()
    again = page.regenerate(reply)
    assert page.wait_for_end(again)["state"] == "complete"
    assert lines(notes) == ["a", "a", "b", "b"]
    assert [row["role"] for row in site.database.rows(STEPS, again)] == ["assistant", "tool"] * 2
    assert site.database.rows(STEPS, reply) == []

"""A reply that calls tools is stopped, or its worker killed, at every stage: nothing is run twice."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.patience import wait_for

from .goals import STOPPED_WITH_TOOLS
from .pages import Page

CALLS = "SELECT tool, state, started_at FROM conversations_toolcall WHERE reply_id = %s ORDER BY step, index"
SECONDS_TO_STOP = "SELECT extract(epoch FROM ended_at - stop_requested_at) FROM conversations_run WHERE reply_id = %s"
HAS_TEXT = "SELECT content <> '' FROM conversations_message WHERE id = %s"
STEPS = "SELECT role FROM conversations_message WHERE step_of_id = %s AND active ORDER BY position"


def count(note, **arguments):
    return {"name": "count_up", "arguments": {"note": note, **arguments}}


@dataclass(frozen=True)
class Stage:
    """Where a reply is interrupted: what the model does, what is noted by then, and the states of the calls left."""

    calls: list[list[dict[str, Any]]]
    noted: list[str]
    states: list[str]

    @property
    def requests(self) -> int:
        """How many requests have left by then."""
        return 1 + sum(any("hang" in entry for entry in step) for step in self.calls[1:])


STAGES = {
    "while a call is written": Stage([[{"say": "Well"}, count("written"), {"hang": True}]], [], []),
    "while a call runs": Stage(
        [[count("beside"), count("runs", waits=True)]], ["beside", "runs"], ["succeeded", "stopped"]
    ),
    "between two steps": Stage(
        [[count("between")], [{"say": "And"}, {"hang": True}]], ["between"], ["succeeded"]
    ),
    "in the second step": Stage(
        [[count("first")], [count("second", waits=True)]], ["first", "second"], ["succeeded", "stopped"]
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Begun:
    """A reply that has come to a stage."""

    page: Page
    reply: int
    stage: Stage


@pytest.fixture
def site(mortal_site, notes):
    notes.hold()
    mortal_site.give_tools("count_up")
    mortal_site.answer_with("tools-script")
    return mortal_site


def begin(site, notes, stage):
    """Ask on a new page for what is done until *stage*, and return once that is going on."""
    page, before = site.open_page(), len(site.upstream.log())
    reply = page.ask(json.dumps({"calls": stage.calls}))
    wait_for(lambda: len(site.upstream.log()) - before >= stage.requests and set(stage.noted) <= set(notes.lines))
    wait_for(lambda: states_of(site, reply).count("succeeded") == stage.states.count("succeeded"))
    if not stage.states:  # without text and calls another worker would make it again
        wait_for(lambda: site.database.value(HAS_TEXT, reply), "its text is stored")
    return Begun(page, reply, stage)


def states_of(site, reply):
    return [row["state"] for row in site.database.rows(CALLS, reply)]


def is_answered(page, note):
    """Let the page ask for one call more; tells whether all of that is done."""
    return page.wait_for_end(page.ask(json.dumps({"calls": [[count(note)]]})))["state"] == "complete"


def test_a_killed_worker_leaves_nothing_to_be_run_again_at_any_stage(site, notes):
    begun = [begin(site, notes, stage) for stage in STAGES.values()]
    noted = sorted(note for stage in STAGES.values() for note in stage.noted)
    site.process.kill()
    site.serve()
    for each in begun:
        assert site.wait_for_end(each.reply)["state"] == "interrupted"
        assert states_of(site, each.reply) == each.stage.states
    assert sorted(notes.lines) == noted
    for number, each in enumerate(begun):
        each.page.open()
        assert is_answered(each.page, f"after {number}")
    assert sorted(notes.lines) == sorted([*noted, *(f"after {number}" for number, _ in enumerate(begun))])


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_a_reply_can_be_stopped_at_every_stage(site, notes, stage):
    begun = begin(site, notes, stage)
    begun.page.stop(begun.reply)
    assert site.wait_for_end(begun.reply)["state"] == "stopped"
    STOPPED_WITH_TOOLS.measure(float(site.database.value(SECONDS_TO_STOP, begun.reply)))
    assert (states_of(site, begun.reply), sorted(notes.lines)) == (stage.states, sorted(stage.noted))
    assert is_answered(begun.page, "after it")
    assert sorted(notes.lines) == sorted([*stage.noted, "after it"])


def test_a_reply_that_was_interrupted_is_made_again_from_its_first_step(site, notes):
    begun = begin(site, notes, STAGES["in the second step"])
    site.process.kill()
    notes.let_go()
    site.serve()
    site.wait_for_end(begun.reply)
    begun.page.open()
    again = begun.page.regenerate(begun.reply)
    assert begun.page.wait_for_end(again)["state"] == "complete"
    assert sorted(notes.lines) == ["first", "first", "second", "second"]
    assert [row["role"] for row in site.database.rows(STEPS, again)] == ["assistant", "tool"] * 2
    assert site.database.rows(STEPS, begun.reply) == []

"""Functions of the site that hang, raise, or answer with anything, in a reply: it goes on, and so do the others."""

from __future__ import annotations

import threading

import pytest

from conversations.core.tools.tool_spec import MOST_CALLS_AT_ONCE
from conversations.services.message_index.index_messages import index_conversation
from conversations.services.replies.tool_calls import LONGEST_RESULT_CHARACTERS
from conversations.tools.registry import registry
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread
from tests.tools.calls import python_tool

from .tools import call, script

HTML = "<script>alert(1)</script><img src=https://elsewhere.example/?d=1>"


@pytest.fixture
def gate():
    """What a hanging function waits for; in the end it is let go."""
    gate = threading.Event()
    yield gate
    gate.set()


def the_worst(gate: threading.Event) -> list:
    """Return tools that do what no tool should."""

    def hang() -> None:
        gate.wait()

    async def block() -> None:
        gate.wait()

    def crash() -> None:
        raise ValueError("no such city")

    def leave() -> None:
        raise SystemExit

    def flood() -> str:
        return "x" * 10_000_000

    def page() -> str:
        return HTML

    def fine(n: int) -> int:
        return n + 1

    hanging, others = (hang, block), (crash, leave, flood, page, fine)
    return [python_tool(each, timeout_seconds=1) for each in hanging] + [python_tool(each) for each in others]


ASKED = ["hang", "block", "crash", "leave", "flood", "page", "missing"]


async def test_the_worst_tools_at_once_leave_the_others_and_the_reply_alone(talk, gate):
    calls = [call(name) for name in ASKED] + [call("fine", n="many"), call("fine", n=1)]
    reply = await talk.ask(script(calls, answer="Done."), *the_worst(gate))
    assert (reply.state, reply.content) == ("complete", "Done.")
    assert [row.error_code for row in await talk.calls()] == [
        "tool_timed_out", "tool_timed_out", "tool_failed", "tool_failed", "", "", "tool_unknown",
        "tool_arguments_invalid", "",
    ]  # fmt: skip
    hung, blocked, crashed, left, flooded, page, missing, unfit, fine = await talk.results()
    assert hung == blocked == "The tool did not answer in time."
    assert crashed == "The tool failed. ValueError: no such city"
    assert left == "The tool failed. SystemExit"
    assert LONGEST_RESULT_CHARACTERS <= len(flooded) < LONGEST_RESULT_CHARACTERS + 100
    assert page == HTML
    assert "There are: block, crash, fine, flood, hang, leave, page." in missing
    assert "n: Input should be a valid integer" in unfit
    assert fine == "2"


async def test_only_of_a_tool_that_is_not_there_a_call_says_that_it_comes_from_nowhere(talk, gate):
    calls = [call("missing"), call("fine", n="many")] + [call("fine", n=n) for n in range(MOST_CALLS_AT_ONCE)]
    await talk.ask(script(calls), *the_worst(gate))
    rows = await talk.calls()
    assert [row.error_code for row in rows if row.error_code] == [
        "tool_unknown", "tool_arguments_invalid", "tool_too_many_calls",
    ]  # fmt: skip
    assert all(row.source for row in rows[1:])
    assert rows[0].source == ""


async def test_a_mistake_that_quotes_what_can_not_be_stored_ends_its_call_alone(talk):
    calls = [call("calculator", **{"expression": "1", "\0": 1}), call("calculator", expression="17 * 23")]
    reply = await talk.ask(script(calls), registry().tools["calculator"])
    unfit, sum_of_both = await talk.results()
    assert "Extra inputs are not permitted" in unfit
    assert (reply.state, sum_of_both) == ("complete", "391")


async def test_what_one_person_said_is_found_in_no_one_elses_reply(talk):
    def let_bob_speak() -> None:
        posted = post(begin(make_user("bob")), "My invoice number is 4711.")
        type(posted.reply).objects.filter(pk=posted.reply.pk).update(state="complete", content="The invoice, yes.")

    await in_thread(let_bob_speak)
    tools = registry().tools
    await talk.ask(script(note="My invoice is in the blue folder."), tools["calculator"])
    await in_thread(index_conversation, talk.conversation.pk)
    await talk.ask(script([call("search_conversation", words="invoice")]), tools["search_conversation"])
    (result,) = await talk.results()
    assert "blue folder" in result
    assert "4711" not in result


async def test_the_time_is_told_by_the_persons_clock(talk):
    owner = talk.conversation.owner
    await in_thread(lambda: type(owner).objects.filter(pk=owner.pk).update(time_zone="Asia/Kathmandu"))
    await talk.ask(script([call("current_time")]), registry().tools["current_time"])
    assert "Asia/Kathmandu" in (await talk.results())[0]

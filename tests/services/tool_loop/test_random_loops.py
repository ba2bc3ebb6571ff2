"""Random scripts of steps, failures and stops against a small model of the loop: rows, path and prompts agree."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from conversations.models import Message
from tests.support.people import post
from tests.support.tool_dialogues import wrong_with
from tests.support.waiting import in_thread

from .tools import NotedTool, call, script

MOST_STEPS = 3
ROUNDS = 12
SAME = "This is the same call as before"


@dataclass
class Expected:
    """What a reply must leave behind: for each stored step the beginnings of its results, and how often tools ran."""

    stored: list[list[str]] = field(default_factory=list)
    last_states: list[set[str]] | None = None  # of the step in which it was stopped
    ran: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return len(self.stored) + 1


def random_step(chance: Random) -> list[dict[str, Any]]:
    entries = [
        call("look", x=chance.randint(0, 2)),
        call("look", x=chance.randint(0, 2)),
        call("break", x=chance.randint(0, 1)),
        call("no_such_tool"),
        {"name": "look", "arguments": '{"x": '},
        call("stop") if chance.random() < 0.25 else call("look", x=3),
    ]
    step = chance.sample(entries, chance.randint(1, 4))
    return [{"say": "So."}, *step] if chance.random() < 0.5 else step


def expect(steps: list[list[dict[str, Any]]]) -> Expected:
    """Return what the model of the loop says: a call is run unless the same succeeded before, or ended beside it."""
    expected, succeeded = Expected(), set()
    for step in steps[:MOST_STEPS]:
        calls = [entry for entry in step if "name" in entry]
        if any(entry["name"] == "stop" for entry in calls):
            expected.last_states = [states_when_stopped(entry) for entry in calls]
            return expected
        beside, results = set(), []
        for entry in calls:
            key = json.dumps([entry["name"], entry["arguments"]])
            results.append(SAME if key in succeeded else result_of(entry))
            if may_be_run(entry) and key not in succeeded | beside:
                expected.ran.append(json.dumps(entry["arguments"]))
            beside.add(key)
            if may_be_run(entry) and entry["name"] == "look":
                succeeded.add(key)
        expected.stored.append(results)
    return expected


def may_be_run(entry: dict[str, Any]) -> bool:
    return entry["name"] != "no_such_tool" and isinstance(entry["arguments"], dict)


def result_of(entry: dict[str, Any]) -> str:
    if entry["name"] == "no_such_tool":
        return "There is no such tool here."
    if isinstance(entry["arguments"], str):
        return "The arguments were not valid JSON."
    return "The tool failed." if entry["name"] == "break" else f"look saw {json.dumps(entry['arguments'])}"


def states_when_stopped(entry: dict[str, Any]) -> set[str]:
    if entry["name"] == "stop":
        return {"stopped"}
    if not may_be_run(entry):
        return {"failed"}
    return {"stopped", "failed" if entry["name"] == "break" else "succeeded"}


class Round:
    """One question and what really came of it."""

    def __init__(self, talk: Any, steps: list[list[dict[str, Any]]]) -> None:
        self.talk, self.steps = talk, steps
        self.look, self.fail = NotedTool(), NotedTool("break", self._fail)
        self.requests_before = len(talk.prompts())

    async def _fail(self, arguments: str) -> str:
        raise OSError

    async def _stop(self, arguments: str) -> str:
        self.making.cancel()
        return await asyncio.Event().wait()

    async def play(self) -> Message:
        posted = await in_thread(post, self.talk.conversation, script(*self.steps))
        self.making = self.talk.begin(posted.reply, self.look, self.fail, NotedTool("stop", self._stop))
        return await self.talk.end(self.making)

    def prompts(self) -> list[list[dict[str, Any]]]:
        return self.talk.prompts()[self.requests_before :]


async def check(round_: Round, reply: Message, expected: Expected) -> None:
    stopped = expected.last_states is not None
    assert reply.state == ("stopped" if stopped else "complete")
    rows = [row for row in await round_.talk.calls() if row.reply_id == reply.pk]
    stored = [[row for row in rows if row.step == number] for number, _ in enumerate(expected.stored, start=1)]
    for results, step in zip(expected.stored, stored, strict=True):
        assert [row.message.content[: len(result)] for row, result in zip(step, results, strict=True)] == results
    if stopped:
        last = [row for row in rows if row.step > len(expected.stored)]
        assert all(row.state in states for row, states in zip(last, expected.last_states, strict=True))
        assert not any(row.message for row in last)
    else:
        assert sorted([*round_.look.ran, *round_.fail.ran]) == sorted(expected.ran)
    await check_prompts(round_, reply, expected)


async def check_prompts(round_: Round, reply: Message, expected: Expected) -> None:
    """Each request of the round had the steps before it, as they are stored, and nothing of one that was stopped."""
    prompts, path = round_.prompts(), await round_.talk.path()
    assert [message.position for message in path] == list(range(len(path)))
    steps = [message for message in path if message.step_of_id == reply.pk]
    assert path[-1] == reply
    assert len(prompts) == expected.requests
    for number, prompt in enumerate(prompts):
        sent = sum(1 + len(results) for results in expected.stored[:number])
        newest = max(place for place, message in enumerate(prompt) if message["role"] == "user")
        assert [(each["role"], each["content"]) for each in prompt[newest + 1 :]] == [
            (step.role, step.content) for step in steps[:sent]
        ]


@pytest.mark.parametrize("seed", range(2))
async def test_rows_path_and_prompts_agree_with_the_model(talk, settings, seed):
    settings.TOOL_STEPS, chance = MOST_STEPS, Random(seed)
    for _ in range(ROUNDS):
        steps = [random_step(chance) for _ in range(chance.randint(0, MOST_STEPS + 1))]
        round_ = Round(talk, steps)
        await check(round_, await round_.play(), expect(steps))
    assert not [wrong for exchange in talk.upstream.log() if (wrong := wrong_with(exchange["body"]))]

"""Dialogues whose replies call tools: every request of every loop keeps the promises of the window."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.errors import PromptError, ToolStepsTooLong
from conversations.core.window.budget import ChatFormat
from conversations.core.window.policies import LastMessages, SlidingWindow, WholeConversation
from tests.support.hypothesis_profile import count_cases

from . import languages
from .cases import Case, Choices, StoredUnit, text
from .refusal_promises import PROMISES as PROMISES_OF_REFUSALS
from .window_promises import PROMISES

MOST_TURNS, MOST_STEPS, BYTES = 8, 4, 120
LENGTHS = (0, 5, 20, 80, 400, 10_000)
BUDGETS = (300, 700, 1_500)


class Loops:
    """A dialogue as it grows: `answer` asks a question and goes through its steps, one request for each."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        policy = choices.one_of((SlidingWindow, SlidingWindow, LastMessages, WholeConversation))
        self.case = Case(
            units=(),
            newest=languages.message(0),
            language_model=languages.language_model(choices.one_of(BUDGETS), chat_format=ChatFormat()),
            policy=policy(low_water_share=choices.one_of((0.7, 1, 0.5))),
            system_prompt=choices.one_of(("", "be brief")),
            tool_schema_tokens=choices.one_of((0, 40)),
        )
        self.units: list[StoredUnit] = []
        self.requests: list[tuple[Case, object]] = []  # with its window, or the error that refused it

    @property
    def position(self) -> int:
        return sum(len(unit.messages) for unit in self.units)

    def answer(self) -> None:
        question = self.case.message(self.position, text("asked", self.choices.below(40)), role="user")
        steps: list[StoredUnit] = []
        for _ in range(self.choices.below(MOST_STEPS + 1)):
            if not self._ask(question, steps):
                break
            steps.append(self._step(question.position + 1 + sum(len(step.messages) for step in steps)))
        self._ask(question, steps)
        self.units += [StoredUnit((question,)), *steps]
        self.units.append(StoredUnit((self.case.message(self.position, text("answered", 9), role="assistant"),)))

    def _step(self, position: int) -> StoredUnit:
        ids = [f"{position}{letter}" for letter in "abc"[: 1 + self.choices.below(3)]]
        arguments = text("call", self.choices.one_of(LENGTHS[:4]))
        call = self.case.stored_by(languages.tool_call, position, ids=ids, arguments=arguments)
        results = [
            self.case.stored_by(
                languages.tool_result, position + number, "r" * self.choices.one_of(LENGTHS), call_id=call_id
            )
            for number, call_id in enumerate(ids, start=1)
        ]
        return StoredUnit((call, *results))

    def _ask(self, question, steps) -> bool:
        """Make one request. Returns False once the reply has failed or has to answer."""
        sent = [window for _, window in self.requests if not isinstance(window, PromptError)]
        case = replace(
            self.case,
            units=tuple(self.units),
            newest=question,
            steps=tuple(message for step in steps for message in step.messages),
            anchor=sent[-1].record.first_position if sent else None,
        )
        try:
            window = case.window()
        except PromptError as error:
            self.requests.append((case, error))
            return False
        self.requests.append((case, window))
        return not window.record.lost_steps


def loops(data: bytes) -> Loops:
    dialogue = Loops(Choices(data))
    for _ in range(MOST_TURNS):
        dialogue.answer()
    return dialogue


DIALOGUES = st.binary(min_size=BYTES, max_size=BYTES).map(loops)


@settings(max_examples=count_cases(300))
@given(DIALOGUES)
def test_every_request_of_every_loop_keeps_every_promise(dialogue):
    for case, window in dialogue.requests:
        for promise in PROMISES_OF_REFUSALS if isinstance(window, PromptError) else PROMISES:
            promise(case, window)


@settings(max_examples=count_cases(300))
@given(DIALOGUES)
def test_a_reply_fails_for_its_steps_only_if_the_newest_alone_is_too_much(dialogue):
    for case, error in dialogue.requests:
        if isinstance(error, ToolStepsTooLong):
            newest = max(place for place, step in enumerate(case.steps) if step.message.tool_calls)
            with pytest.raises(ToolStepsTooLong):
                replace(case, steps=case.steps[newest:]).window()


@settings(max_examples=count_cases(300))
@given(DIALOGUES)
def test_within_a_loop_a_prompt_begins_with_the_one_before_until_something_is_cut_or_moved(dialogue):
    """So a provider's prefix cache keeps hitting from step to step."""
    for (first, before), (second, after) in pairwise(dialogue.requests):
        if isinstance(before, PromptError) or isinstance(after, PromptError) or first.newest != second.newest:
            continue
        stands = before.record.first_position == after.record.first_position
        if stands and not cut_in(before) and not cut_in(after) and not after.record.lost_steps:
            assert after.prompt[: len(before.prompt)] == before.prompt


def cut_in(window):
    return any(entry.truncated_to is not None for entry in window.record.entries)


def test_the_random_loops_see_everything_happen():
    randomness = random.Random(7)
    seen = {word for _ in range(100) for word in happenings(loops(randomness.randbytes(BYTES)))}
    assert seen >= {"cut", "lost step", "oversized", "does_not_fit", "cut call", "conversation_too_long"}


def happenings(dialogue):
    for _, window in dialogue.requests:
        if isinstance(window, PromptError):
            yield window.code
            continue
        yield from ["cut"] * cut_in(window) + ["lost step"] * window.record.lost_steps
        yield from ["cut call"] * any(entry.truncated_to and entry.role != "tool" for entry in window.record.entries)
        yield from (out.reason for out in window.record.left_out)

"""The benchmark of the ceiling: a small run of it, its own count, and that it sees what it is there to see."""

from __future__ import annotations

import dataclasses
import functools

import pytest

from conversations.core.errors import MessageTooLong
from conversations.core.prompt import grounding_text
from conversations.core.window import compute_window, history, pack_recall, policies
from conversations.core.window.picture_tokens import FixedTokens, ModelPictures
from conversations.core.window.window_record import WindowRecord
from tests.benchmarks import _random_pictures, ceiling
from tests.benchmarks._ceiling_checks import GOALS, unanswered
from tests.benchmarks._cookbook import MODELS, count, count_body
from tests.support.tokenizer_prompts import JARGON_EXAMPLE, WEATHER_EXAMPLE, WEATHER_TOOL

CASES, FEW, SEED = 300, 80, 3
CALL = {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}}


stock = functools.cache(ceiling.stock)


@pytest.fixture(autouse=True)
def one_stock_of_texts(monkeypatch):
    """Making it takes as long as playing a hundred cases."""
    monkeypatch.setattr(ceiling, "stock", stock)


@functools.cache
def figures():
    return ceiling.measure(CASES, SEED)


def missed(cases=CASES):
    """Return the goals that a run misses."""
    result = ceiling.measure(cases, SEED)
    return {goal for goal in GOALS if result[goal]}


def change(monkeypatch, sabotage):
    """Let *sabotage* have every window before it is rendered."""
    monkeypatch.setattr(
        ceiling, "compute_window", lambda *args, **named: sabotage(compute_window.compute_window(*args, **named))
    )


def test_the_ceiling_holds_for_random_conversations():
    result = figures()
    assert {goal: result[goal] for goal in GOALS} == dict.fromkeys(GOALS, 0), result["examples"]
    assert result["cases"] == CASES
    assert result["sent"] + sum(result["refused"].values()) == result["requests"]


def test_the_cases_reach_the_limit_and_every_way_to_refuse():
    result = figures()
    assert result["exactly_at_limit"] > 0
    assert min(result["recalled"], result["pictures"], result["steps_with_kept_reasoning"]) > 0
    assert result["wires"].keys() == {"chat", "responses"}
    assert result["summaries"].keys() == {"sent", "above_cap", "does_not_fit", "all_in_view"}
    assert result["sent"] > CASES
    assert {"MessageTooLong", "PinsTooLong", "ToolStepsTooLong", "PolicyFailed"} <= result["refused"].keys()


def test_two_processes_find_what_one_finds(monkeypatch):
    monkeypatch.setattr(ceiling, "CASES_A_BLOCK", 20)
    alone, together = (ceiling.measure(40, SEED, jobs) for jobs in (1, 2))
    assert alone | {"seconds": 0} == together | {"seconds": 0}


def test_one_token_too_many_is_seen(monkeypatch):
    budget_tokens = policies.budget_tokens
    monkeypatch.setattr(policies, "budget_tokens", lambda *args, **named: budget_tokens(*args, **named) + 1)
    assert "over" in missed()


def test_a_lost_question_is_seen(monkeypatch):
    change(monkeypatch, lambda made: dataclasses.replace(made, prompt=made.prompt[:-1]))
    assert {"newest_missing", "record_differs"} <= missed()


def test_a_record_that_is_off_by_one_is_seen(monkeypatch):
    def sabotage(made):
        record = dataclasses.replace(made.record, prompt_tokens=made.record.prompt_tokens + 1)
        return dataclasses.replace(made, record=record)

    change(monkeypatch, sabotage)
    assert missed() == {"record_differs"}


def test_a_guess_instead_of_a_count_is_seen(monkeypatch):
    monkeypatch.setattr(ceiling, "stock", stock.__wrapped__)
    monkeypatch.setattr(ceiling, "count_text", lambda encoding: lambda text: -(-len(text) // 4))
    assert {"over", "record_differs"} <= missed()


def test_a_text_that_is_not_the_stored_one_is_seen(monkeypatch):
    def sabotage(made):
        first = made.prompt[0]
        return dataclasses.replace(made, prompt=(first._replace(content=first.content[::-1]), *made.prompt[1:]))

    change(monkeypatch, sabotage)
    assert "record_differs" in missed()


def test_a_picture_that_is_counted_as_another_size_is_seen(monkeypatch):
    monkeypatch.setattr(_random_pictures, "RULE", ModelPictures(FixedTokens(84)))
    assert {"over", "record_differs"} <= missed()


def test_a_picture_that_is_lost_is_seen(monkeypatch):
    def sabotage(made):
        prompt = tuple(message._replace(pictures=message.pictures[1:]) for message in made.prompt)
        return dataclasses.replace(made, prompt=prompt)

    change(monkeypatch, sabotage)
    assert "record_differs" in missed()


def test_half_a_tool_turn_and_an_excluded_message_are_seen(monkeypatch):
    monkeypatch.setattr(history.Unit, "flaw", None)
    assert {"results_without_call", "calls_without_results", "excluded_sent"} <= missed()


def test_a_refusal_of_what_would_fit_is_seen(monkeypatch):
    def refuse(*_):
        raise MessageTooLong(tokens_over=1)

    change(monkeypatch, refuse)
    assert missed() == {"refused_wrongly"}


def test_an_error_without_a_type_of_its_own_is_seen(monkeypatch):
    change(monkeypatch, lambda made: made.prompt[10_000])
    assert missed() == {"errors_without_type"}


def test_parts_that_are_not_the_budget_are_seen(monkeypatch):
    monkeypatch.setattr(WindowRecord, "parts", {"system": 1})
    assert missed() == {"record_differs"}


def test_what_is_recalled_twice_is_seen(monkeypatch):
    monkeypatch.setattr(pack_recall, "_different", lambda passages: passages)
    assert missed(FEW) >= {"sent_twice"}


def test_what_is_recalled_from_within_the_window_is_seen(monkeypatch):
    monkeypatch.setattr(compute_window, "_first_position", lambda turn, *_: turn.newest.position)
    assert missed(FEW) >= {"sent_twice"}


def test_more_recall_than_its_share_is_seen(monkeypatch):
    monkeypatch.setattr(policies.WindowPolicy, "recall_tokens", lambda policy, room_tokens: room_tokens)
    assert missed(FEW) == {"recall_over_share"}


def test_a_recalled_line_that_passes_for_another_message_is_seen(monkeypatch):
    monkeypatch.setattr(grounding_text, "_quoted", lambda line: line)
    assert missed() == {"recall_misread"}


def test_recalled_messages_in_another_order_are_seen(monkeypatch):
    newest_first = functools.partial(sorted, reverse=True)
    monkeypatch.setattr(grounding_text, "sorted", newest_first, raising=False)
    assert missed(FEW) >= {"recall_misread"}


def test_a_summary_that_ousts_what_it_stands_for_is_seen(monkeypatch):
    monkeypatch.setattr(compute_window, "SUMMARY_SHARE", 1)
    assert missed() == {"summary_over_share"}


def test_a_summary_behind_an_older_message_is_seen(monkeypatch):
    def sabotage(made):
        prompt, entries = list(made.prompt), list(made.record.entries)
        for place, entry in enumerate(made.record.entries[:-1]):
            if entry.kind == "summary":
                for listed in (prompt, entries):
                    listed[place : place + 2] = reversed(listed[place : place + 2])
        return dataclasses.replace(
            made, prompt=tuple(prompt), record=dataclasses.replace(made.record, entries=tuple(entries))
        )

    change(monkeypatch, sabotage)
    assert missed() >= {"summary_misplaced"}


@pytest.mark.parametrize(("model", "tokens"), list(zip(MODELS, (127, 129, 129, 124), strict=True)))
def test_the_independent_count_is_the_published_one(model, tokens):
    body = {"model": model, "messages": [message.to_json() for message in JARGON_EXAMPLE]}
    assert count_body(body).total == tokens


@pytest.mark.parametrize(("model", "tokens"), [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101)])
def test_the_independent_count_with_a_function_is_the_published_one(model, tokens):
    messages = [message.to_json() for message in WEATHER_EXAMPLE]
    assert count_body({"model": model, "messages": messages, "tools": [WEATHER_TOOL]}).total == tokens


def test_the_independent_count_reads_special_tokens_as_text():
    assert count("<|endoftext|>", "o200k_base") > 1


@pytest.mark.parametrize(
    ("roles", "faults"),
    [
        ("call result", []),
        ("result", ["results_without_call"]),
        ("call", ["calls_without_results"]),
        ("call user result", ["calls_without_results", "results_without_call"]),
        ("call result result", ["results_without_call"]),
    ],
)
def test_a_call_and_its_result_stand_together(roles, faults):
    made = {
        "call": {"role": "assistant", "content": "", "tool_calls": [CALL]},
        "result": {"role": "tool", "content": "5 o'clock", "tool_call_id": "a"},
        "user": {"role": "user", "content": "Hello"},
    }
    assert list(unanswered([made[role] for role in roles.split()])) == faults

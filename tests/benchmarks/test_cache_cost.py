"""The benchmark of input costs: its cache, its files, and that it would notice."""

from __future__ import annotations

import itertools
import json

import pytest

from conversations.core.window.policies import SlidingWindow
from tests.benchmarks import cache_cost
from tests.benchmarks._openai_conversations import BadFile, parse_conversations, read_conversations
from tests.benchmarks._prefix_cache import cached_tokens
from tests.benchmarks._replay import blocks, replay, stored, windows
from tests.benchmarks._two_people import two_people

HELLO = {"role": "user", "content": "Hello there."}
SYSTEM = {"role": "system", "content": "Be kind."}
MADE_UP = [two_people(tokens=6_000, seed=7)]


def windows_of(policy, **made_up):
    (conversation,) = parse_conversations([two_people(tokens=made_up.pop("tokens", 6_000), seed=7)])
    return list(windows(conversation, policy, blocks(0, seed=0)))


def test_nothing_is_read_from_the_cache_below_the_minimum_and_then_in_whole_increments():
    found = windows_of(SlidingWindow())
    read = [cached_tokens(window, before) for before, window in itertools.pairwise(found)]
    sizes = [window.record.prompt_tokens for window in found]
    assert all(not tokens for tokens, size in zip(read, sizes, strict=False) if size < 1_024)
    assert {tokens % 128 for tokens in read} == {0}
    assert next(tokens for tokens in read if tokens) == 1_024
    assert sizes[-2] - 128 - 3 < read[-1] <= sizes[-2]


def test_the_first_request_reads_nothing_from_the_cache():
    assert cached_tokens(windows_of(SlidingWindow())[-1], None) == 0


def test_nothing_is_cached_after_the_first_message_that_differs():
    *_, before, last = windows_of(SlidingWindow())
    changed = before.prompt[0]._replace(content="Something else.")
    before = type(before)(prompt=(changed, *before.prompt[1:]), record=before.record)
    assert cached_tokens(last, before) == 0


def test_a_window_that_slides_in_steps_costs_less_than_the_naive_one_and_never_begins_earlier():
    result = cache_cost.measure(parse_conversations(MADE_UP), 2_000)
    assert result["policies"]["naive"]["relative_cost_10"] == result["policies"]["naive"]["history_share"] == 1
    assert result["relative_cost_10"] < 0.5
    assert 0.7 < result["history_share"] < 1
    assert result["relative_cost_10"] < result["relative_cost_10_with_block"] < 1
    assert 400 < result["block_tokens"] <= 500


def test_every_request_has_another_block_and_the_same_ones_for_every_policy():
    first, again = blocks(500, seed=1), blocks(500, seed=1)
    texts = [next(first)[0].text for _ in range(3)]
    assert texts == [next(again)[0].text for _ in range(3)]
    assert len(set(texts)) == 3


def test_a_message_that_does_not_fit_is_no_request():
    (conversation,) = parse_conversations([{"messages": [HELLO, {"role": "user", "content": "word " * 500}]}])
    bill = replay([conversation], SlidingWindow(cap_tokens=100))
    assert (bill.requests, bill.refused) == (1, 1)


def test_what_is_made_up_is_long_enough_and_the_same_for_the_same_seed():
    assert two_people(tokens=2_000, seed=1) == two_people(tokens=2_000, seed=1) != two_people(tokens=2_000, seed=2)
    (conversation,) = parse_conversations(MADE_UP)
    assert sum(message.content_tokens for message in stored(conversation)) >= 6_000


def test_a_file_is_read_with_its_system_prompt_and_its_parts_of_text(tmp_path):
    file = tmp_path / "conversations.json"
    parts = {"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]}
    file.write_text(json.dumps([{"messages": [SYSTEM, parts], "topic": "greetings"}]))
    (conversation,) = read_conversations(file)
    assert conversation.system_prompt == "Be kind."
    assert [said.content for said in conversation.messages] == ["Hello"]


@pytest.mark.parametrize(
    ("stored", "complaint"),
    [
        ({"messages": [HELLO]}, "must hold a list of conversations, not an object"),
        (None, "not null"),
        ([], "no user message"),
        ([[HELLO]], 'conversation 1 must be an object with a list of "messages"'),
        ([{"messages": "Hello"}], 'conversation 1 must be an object with a list of "messages"'),
        ([{"messages": [HELLO]}, {"messages": []}], "conversation 2 has no messages"),
        ([{"messages": [HELLO, "Hello"]}], "conversation 1, message 2 must be an object, not text"),
        ([{"messages": [{"role": "human", "content": "Hello"}]}], "message 1 has the role 'human'; known are system"),
        ([{"messages": [{"role": ["user"], "content": "Hello"}]}], "has the role"),
        ([{"messages": [{"role": "user"}]}], "message 1: its content must be text, not null"),
        ([{"messages": [{"role": "user", "content": 5}]}], "its content must be text, not a number"),
        ([{"messages": [{"role": "user", "content": ""}]}], "its content is empty"),
        ([{"messages": [{"role": "user", "content": []}]}], "its content must be text, not a list"),
        ([{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}], "is not text"),
        ([{"messages": [SYSTEM, SYSTEM, HELLO]}], "conversation 1 has 2 system messages"),
        ([{"messages": [HELLO, SYSTEM]}], "the system message must come first, here it is message 2"),
        ([{"messages": [SYSTEM, {"role": "assistant", "content": "Hello"}]}], "no user message"),
    ],
)
def test_a_bad_file_says_where_and_why(stored, complaint):
    with pytest.raises(BadFile, match=complaint):
        parse_conversations(stored)


@pytest.mark.parametrize("content", [b"", b"[", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_file_that_is_not_json_is_refused(tmp_path, content):
    file = tmp_path / "conversations.json"
    file.write_bytes(content)
    with pytest.raises(BadFile, match="is not JSON in UTF-8"):
        read_conversations(file)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadFile, match="No such file"):
        read_conversations(tmp_path / "nowhere.json")


def test_a_budget_in_which_no_message_fits_is_refused():
    with pytest.raises(BadFile, match="no user message fits a budget of 5 tokens"):
        cache_cost.measure(parse_conversations(MADE_UP), 5)

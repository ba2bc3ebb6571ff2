"""A packed prompt has the same messages, and its texts take no more memory than they did."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.prompt.packed_prompt import PackedPrompt, pack_prompt
from conversations.core.prompt.prompt_format import PromptFormat
from conversations.core.prompt.written_prompt import write_prompt

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
ROLES = st.sampled_from(["system", "user", "assistant"])
PROMPTS = st.lists(st.tuples(ROLES, TEXTS, TEXTS), max_size=5)


def message(role, content, arguments):
    calls = (PromptToolCall("call_1", "look_up", arguments),) if role == "assistant" else ()
    return PromptMessage(role, content, tool_calls=calls)


@given(PROMPTS)
def test_its_messages_are_the_same(messages):
    prompt = tuple(message(*each) for each in messages)
    packed = pack_prompt(prompt)
    assert len(packed) == len(prompt)
    assert tuple(packed) == packed[:] == prompt
    assert [packed[place] for place in range(len(prompt))] == list(prompt)
    assert write_prompt(packed, PromptFormat()) == write_prompt(prompt, PromptFormat())
    assert pack_prompt(packed) is packed


@pytest.mark.parametrize("text", ["", "plain " * 100, "naïve", "plain – " * 100, "plain 🙂 " * 100, "中文" * 100])
def test_a_text_takes_no_more_memory(text):
    [kept] = PackedPrompt((PromptMessage("user", text),))._contents
    assert sys.getsizeof(kept) <= sys.getsizeof(text)


def test_a_long_text_with_one_emoji_takes_a_fourth():
    text = "plain " * 1_000 + "🙂"
    [kept] = PackedPrompt((PromptMessage("user", text),))._contents
    assert sys.getsizeof(kept) < 0.26 * sys.getsizeof(text)

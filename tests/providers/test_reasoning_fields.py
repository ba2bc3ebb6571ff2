"""Reasoning is read from whatever field a provider sends it in."""

from __future__ import annotations

import pytest

from conversations.providers.openai_api.completion_stream import (
    CompletionReader,
    ReasoningDelta,
    TextDelta,
    TextWasReasoning,
)

TEXT = {"content": "Hello"}


def read(*deltas, think_tags="yes"):
    """Return the thoughts, the text, and what is kept of a completion."""
    reader = CompletionReader(think_tags=think_tags)
    events = [event for delta in deltas for event in reader.read({"choices": [{"index": 0, "delta": delta}]})]
    events += reader.finish()
    thought, said = "", ""
    for event in events:
        if isinstance(event, ReasoningDelta):
            thought += event.text
        elif isinstance(event, TextDelta):
            said += event.text
        elif isinstance(event, TextWasReasoning):
            thought, said = thought + said, ""
    return thought, said, reader.end().kept.get("fields", {})


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "Hm."},
        {"reasoning": "Hm."},
        {"reasoning": {"content": "Hm."}},
        {"reasoning": {"text": "Hm."}},
        {"reasoning": {"summary": "Hm."}},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "Hm."}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": None}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
        {"content": "<think>Hm.</think>"},
        {"content": None, "reasoning_content": "", "reasoning": "Hm."},
        # The same text in two fields is read once.
        {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
        {"reasoning_content": "Hm.", "thinking_blocks": [{"type": "thinking", "thinking": "Hm."}]},
    ],
)
def test_each_form_of_reasoning_is_reasoning_and_no_text(delta):
    assert read(delta, TEXT)[:2] == ("Hm.", "Hello")


@pytest.mark.parametrize(
    "delta",
    [{"reasoning": None}, {"reasoning": 7}, {"reasoning": True}, {"reasoning_details": [None, 7, {"type": "x"}]}, {}],
)
def test_what_is_no_text_is_no_reasoning(delta):
    assert read(delta, TEXT)[:2] == ("", "Hello")


def test_encrypted_details_are_kept_without_a_word():
    encrypted = {"type": "reasoning.encrypted", "data": "abc==", "index": 0}
    assert read({"reasoning_details": [encrypted]}, TEXT) == ("", "Hello", {"reasoning_details": [encrypted]})


def test_details_in_pieces_are_put_together_by_their_index():
    pieces = [("I ", 0), ("see", 0), ("Then", 1)]
    deltas = [
        {"reasoning_details": [{"type": "reasoning.text", "text": text, "index": index}]} for text, index in pieces
    ]
    signed = {"reasoning_details": [{"type": "reasoning.text", "signature": "s==", "index": 1}]}
    assert read(*deltas, signed)[2]["reasoning_details"] == [
        {"type": "reasoning.text", "text": "I see", "index": 0},
        {"type": "reasoning.text", "text": "Then", "index": 1, "signature": "s=="},
    ]


def test_a_block_that_is_signed_has_ended():
    deltas = [
        {"thinking_blocks": [{"type": "thinking", "thinking": text} | ({"signature": sign} if sign else {})]}
        for text, sign in [("a", ""), ("b", "s1"), ("c", ""), ("", "s2")]
    ]
    assert read(*deltas)[2]["thinking_blocks"] == [
        {"type": "thinking", "thinking": "ab", "signature": "s1"},
        {"type": "thinking", "thinking": "c", "signature": "s2"},
    ]


def test_a_megabyte_of_reasoning_is_read_and_too_long_to_be_sent_back():
    thought, said, kept = read(*[{"reasoning_content": "x" * 1_000}] * 1_100, TEXT)
    assert (len(thought), said, kept) == (1_100_000, "Hello", {})


@pytest.mark.parametrize("name", ["reasoning_details", "thinking_blocks"])
def test_of_a_field_that_is_too_long_to_be_sent_back_the_length_is_kept_and_the_others_whole(name):
    reader = CompletionReader()
    pieces = [{"type": "thinking", "index": 0, "data": "x" * 100_000}] * 11
    for delta in ({"reasoning_content": "Hm."}, *({name: [piece]} for piece in pieces)):
        assert list(reader.read({"choices": [{"index": 0, "delta": delta}]})) is not None
    assert reader.end().kept == {
        "fields": {"reasoning_content": "Hm."},
        "too_long": {name: 11 * (100_000 + len("thinking") + len("0"))},
    }


def test_an_emoji_in_two_pieces_of_reasoning_is_one():
    assert read({"reasoning": "a\ud83d"}, {"reasoning": "\ude00\x00"}, TEXT)[0] == "a😀"


def test_text_that_turns_out_to_be_thought_is_taken_back():
    assert read({"content": "First I add.\n"}, {"content": "</think>\n\n"}, {"content": "4"})[:2] == (
        "First I add.\n",
        "4",
    )


def test_tags_are_text_at_a_provider_that_never_sends_thoughts_as_text():
    assert read({"content": "<think>a</think>b"}, think_tags="no")[:2] == ("", "<think>a</think>b")


def test_tags_are_text_once_reasoning_has_come_in_a_field():
    assert read({"reasoning": "Hm."}, {"content": "<think>a</think>b"})[:2] == ("Hm.", "<think>a</think>b")


@pytest.mark.parametrize("place", [{}, {"index": 0}])
@pytest.mark.parametrize("name", ["reasoning_details", "thinking_blocks"])
def test_a_signature_that_comes_late_and_twice_is_kept_once(name, place):
    kind = {"type": "thinking", **place}
    pieces = [{"thinking": "Hm"}, {"thinking": "."}, {"thinking": "", "signature": "sig=="}, {"signature": "sig=="}]
    thought, said, kept = read(*({name: [kind | piece]} for piece in pieces), TEXT)
    assert (thought, said) == ("Hm.", "Hello")
    assert kept == {name: [{**kind, "thinking": "Hm.", "signature": "sig=="}]}


def test_a_blank_field_of_reasoning_does_not_end_the_search_for_tags():
    assert read({"reasoning_content": "\n"}, {"content": "<think>a</think>b"})[:2] == ("\na", "b")


class CountedText(str):
    """A text that counts the characters to which it is appended."""

    copied = 0

    def __radd__(self, before):
        CountedText.copied += len(before)
        return str(before) + str(self)


@pytest.mark.parametrize(("name", "field"), [("reasoning_details", "data"), ("thinking_blocks", "thinking")])
def test_what_has_come_is_not_copied_for_every_piece(name, field):
    CountedText.copied = 0
    pieces = [{name: [{"type": "x", "index": 0, field: CountedText("Q" * 60)}]} for _ in range(1_000)]
    assert read(*pieces)[2][name] == [{"type": "x", "index": 0, field: "Q" * 60_000}]
    assert CountedText.copied < 60_000


def test_objects_without_a_text_are_too_many_to_be_sent_back_too():
    reader = CompletionReader()
    details = [{"index": place, "of": [0] * 30_000} for place in range(12)]
    assert list(reader.read({"choices": [{"index": 0, "delta": {"reasoning_details": details}}]})) == []
    assert list(reader.end().kept) == ["too_long"]

"""A reply that is far longer than was asked for is cut, whatever it comes as; one of the usual length is left alone."""

from __future__ import annotations

import pytest

from conversations.providers.openai_api.completion_stream import ReasoningDelta, TextDelta, ToolCallDelta
from conversations.services.language_models.model_context import named_model_context
from conversations.services.replies.reply_limit import FAR_ABOVE, MOST_THOUGHT_CHARACTERS, ReplyLimit

pytestmark = pytest.mark.django_db
WORDS = "several words of a reply "


def limit_of(max_tokens):
    return ReplyLimit(max_tokens, named_model_context(""))


@pytest.mark.parametrize("megabytes", [5, 20])
def test_one_piece_of_many_megabytes_is_cut(megabytes):
    limit = limit_of(2048)
    text = WORDS * (megabytes * 1_000_000 // len(WORDS))
    kept = limit.cut(TextDelta(text)).text
    assert limit.is_reached
    assert text.startswith(kept)
    assert 2048 < named_model_context("").count_text(kept) < FAR_ABOVE * 2048


@pytest.mark.parametrize(
    "piece",
    [TextDelta(WORDS), ToolCallDelta(0, "", "", WORDS)],
    ids=lambda piece: type(piece).__name__,
)
def test_many_small_pieces_are_cut_as_one(piece):
    limit, count = limit_of(100), 0
    while not limit.is_reached:
        count += 1
        assert count < 1_000
        kept = limit.cut(piece)
    assert kept != piece
    assert count * named_model_context("").count_text(WORDS) > 100


def test_what_was_asked_for_passes_even_if_the_provider_counts_half_as_much():
    limit = limit_of(1_000)
    text = "词" * 2_000
    assert limit.cut(TextDelta(text)).text is text
    assert not limit.is_reached


def test_thoughts_have_a_limit_of_their_own():
    limit, piece = limit_of(100), ReasoningDelta(WORDS * 1_000)
    for _ in range(MOST_THOUGHT_CHARACTERS // len(piece.text)):
        assert limit.cut(piece) is piece
        assert not limit.is_reached
    limit.cut(piece)
    assert limit.is_reached


def test_thoughts_of_many_megabytes_in_one_piece_are_cut():
    limit = limit_of(100)
    assert len(limit.cut(ReasoningDelta("x" * (MOST_THOUGHT_CHARACTERS + 5_000_000))).text) == MOST_THOUGHT_CHARACTERS
    assert limit.is_reached
    assert limit.cut(ReasoningDelta("more")).text == ""


def test_a_name_of_many_megabytes_is_cut_as_text_is():
    limit = limit_of(100)
    kept = limit.cut(ToolCallDelta(0, "a", WORDS * 100_000, "{}"))
    assert limit.is_reached
    assert named_model_context("").count_text(kept.name) < FAR_ABOVE * 100
    assert kept.arguments == ""

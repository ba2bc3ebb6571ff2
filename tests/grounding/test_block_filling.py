"""Which of the ranked messages are read to fill a block: as many as it takes, and of each at most once."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.recall.rank_candidates import RankedMessage
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.grounding.recall.block_filling import read_to_fill
from conversations.grounding.recall.candidate_rows import CandidateRow

STATEMENTS = 12  # of a look-up, for 240 messages that say the same


def ranked_messages(tokens):
    """Return ranked messages, best first, of one passage each with so many *tokens*."""
    return [
        (
            RankedMessage(1_000 - place, float(1_000 - place), (), {}),
            CandidateRow(place, 1_000 - place, place, "user", "", 0.0, 0, 0, 0, 9, 1, size, 0, False),
        )
        for place, size in enumerate(tokens)
    ]


class Reader:
    """Reads messages that say *same* or each something else, and remembers how many it read in each statement."""

    def __init__(self, *, same=False):
        self.same = same
        self.portions = []

    def __call__(self, portion):
        self.portions.append(len(portion))
        return [self.passage(ranked, row) for ranked, row in portion]

    def passage(self, ranked, row):
        return RecalledPassage(
            row.message,
            row.position,
            row.role,
            None,
            "the same" if self.same else str(row.message),
            start=0,
            end=9,
            is_whole=True,
            tokens=row.tokens,
            session=0,
            at=dt.datetime.now(dt.UTC),
            score=ranked.score,
            why=(),
        )


@given(st.lists(st.integers(1, 3_000), max_size=120), st.integers(1, 5_000), st.booleans())
def test_what_is_read_fills_the_block_best_first_or_is_all_that_there_is(tokens, limit_tokens, same):
    reader = Reader(same=same)
    found = read_to_fill(ranked_messages(tokens), limit_tokens=limit_tokens, read=reader)
    read = [each.message for each in found]
    assert read == sorted(set(read), reverse=True)
    assert len(reader.portions) <= STATEMENTS
    room = limit_tokens
    for size, message in zip(tokens, (1_000 - place for place in range(len(tokens))), strict=True):
        if size + 6 <= room and not same:
            assert message in read
            room -= size + 6


def test_of_many_messages_no_more_are_read_than_fill_the_block():
    reader = Reader()
    found = read_to_fill(ranked_messages([50] * 240), limit_tokens=1_000, read=reader)
    assert 1_000 / 56 <= len(found) <= 2 * 1_000 / 50
    assert reader.portions == [len(found)]


@pytest.mark.parametrize("limit_tokens", [None, 10**9])
def test_without_a_limit_all_are_read(limit_tokens):
    assert len(read_to_fill(ranked_messages([2_000] * 9), limit_tokens=limit_tokens, read=Reader())) == 9

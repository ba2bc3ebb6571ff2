"""A look-up in a very large conversation looks in some chunks of its index, and finds the same there."""

from __future__ import annotations

import numpy as np
import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conversations.grounding.recall import conversation_arrays, find_passages, likely_chunks
from conversations.grounding.recall.indexed_passages import IndexedPart, IndexedPassages
from conversations.models import MessagePostings
from conversations.models.message_postings import BEGINS_MESSAGE, CHUNK_PASSAGES
from conversations.services.messages.mark_message import exclude_message
from tests.support.recalled_talk import FILLER, SECRET, find_recalled, talk

CHUNKS = st.sets(st.integers(0, 8), max_size=5).map(lambda chosen: sorted({*chosen, 9}))
WHOLE = IndexedPart(7, 100, 9 * CHUNK_PASSAGES + 50)


@given(CHUNKS, st.integers(0, WHOLE.passages - 1))
def test_ordinals_of_some_chunks_go_from_one_to_the_other_and_back(chunks, ordinal):
    part = WHOLE.of_chunks(chunks, offset=40)
    assert part.passages == sum(50 if chunk == 9 else CHUNK_PASSAGES for chunk in chunks)
    there = part.in_look_up(ordinal)
    assert (there is None) == (ordinal // CHUNK_PASSAGES not in chunks)
    if there is not None:
        assert part.offset <= there < part.stop
        assert part.in_index(there) == ordinal
        assert WHOLE.in_look_up(WHOLE.in_index(100 + ordinal)) == 100 + ordinal
    assert part.in_look_up(WHOLE.passages) is None


@given(CHUNKS, st.integers(0, WHOLE.passages))
def test_as_many_may_be_recalled_as_there_are_before_the_window(chunks, sought):
    part = WHOLE.of_chunks(chunks, offset=0)
    before = sum(part.in_index(ordinal) < sought for ordinal in range(part.passages))
    assert min(likely_chunks._passages_before(sought, chunks), part.passages) == before


@given(CHUNKS, st.integers(1, 7))
def test_no_message_that_a_gap_cuts_is_found(chunks, size):
    """All messages have *size* passages."""
    part = WHOLE.of_chunks(chunks, offset=0)
    inside = np.array([part.in_index(ordinal) for ordinal in range(part.passages)])
    flags = np.where(inside % size == 0, BEGINS_MESSAGE, 0).astype(np.uint8)
    starts, cut = conversation_arrays._cut_by_gaps(IndexedPassages((part,)), flags)
    gaps = [0] * (chunks[0] > 0) + list(np.flatnonzero(np.diff(inside) != 1) + 1)
    assert starts == gaps
    whole_of = {message: int(np.sum(inside // size == message)) for message in set((inside // size).tolist())}
    last = (WHOLE.passages - 1) // size
    lost = {ordinal for ordinal, at in enumerate(inside.tolist()) if at // size != last and whole_of[at // size] < size}
    assert lost <= set(cut)
    assert len(set(cut)) <= 2 * size * len(gaps)


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(find_passages, "LARGE_PASSAGES", 1_000)
    monkeypatch.setattr(likely_chunks, "LARGE_PASSAGES", 1_000)
    monkeypatch.setattr(likely_chunks, "MOST_CHUNKS", 3)


@pytest.mark.django_db
def test_it_finds_what_it_would_find_in_all_chunks(large, monkeypatch):
    said = [FILLER.format(*[f"{word}{number}" for word in ("green", "red", "blue")]) for number in range(3 * 2_100)]
    said[100], said[101] = SECRET, "How nice."
    said[5_000] = "My brother Ben keeps a garden."
    conversation = talk(*said)
    read = []
    execute = conversation_arrays.read_postings

    def read_and_note(index, lexemes):
        read.append([part.chunks for part in index.parts])
        return execute(index, lexemes)

    monkeypatch.setattr(find_passages, "read_postings", read_and_note)
    best = find_recalled(conversation)[0]
    assert (best.text, best.position) == (SECRET, 100)
    assert read == [[(0, 2, 3)]] * 2
    again = find_recalled(conversation, limit_tokens=500)[0]
    assert again == best
    monkeypatch.setattr(find_passages, "LARGE_PASSAGES", 100_000)
    whole = find_recalled(conversation)
    assert (whole[0].text, whole[0].position, whole[0].start) == (SECRET, 100, 0)
    monkeypatch.setattr(find_passages, "LARGE_PASSAGES", 1_000)
    assert (
        find_recalled(conversation, before_position=100) == []
        or find_recalled(conversation, before_position=100)[0].text != SECRET
    )
    assert find_recalled(conversation, question="What is green4321?")[0].position == 4_321
    assert SECRET in [
        each.text for each in find_recalled(conversation, question="What did we say today of Ada?", now=timezone.now())
    ]
    exclude_message(conversation=conversation, message_id=best.message, excluded=True)
    assert SECRET not in [each.text for each in find_recalled(conversation)]


@pytest.mark.django_db
def test_each_last_row_of_a_lexeme_says_how_many_passages_have_it():
    conversation = talk(*["The same garden."] * (CHUNK_PASSAGES + 10))
    rows = MessagePostings.objects.filter(conversation=conversation, lexeme="garden").order_by("chunk")
    assert [(row.chunk, row.earlier, len(row.entries) // 4) for row in rows] == [(0, 0, 2_048), (1, 2_048, 10)]

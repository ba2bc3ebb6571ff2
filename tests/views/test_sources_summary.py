"""The line about the sources of a reply."""

from __future__ import annotations

import pytest

from conversations.core.errors import LookUpTooCostly, ProviderUnavailable
from conversations.core.window.window_record import GroundingPassage, GroundingRecord, LookUp
from conversations.views.conversations.sources_summary import SourcesSummary, summarize_sources
from conversations.wording.error_sentences import ReaderLocale

READER = ReaderLocale("en")


def passage(number: int) -> GroundingPassage:
    return GroundingPassage(number, None)


def record(*included: GroundingPassage, left_out: int = 0, **look_up: object) -> GroundingRecord:
    others = tuple(passage(number) for number in range(len(included) + 1, len(included) + left_out + 1))
    return GroundingRecord(included=included, left_out=others, look_up=LookUp(**look_up) if look_up else None)


@pytest.mark.parametrize(
    ("grounding", "summary"),
    [
        (record(), None),
        (record(passage(1)), SourcesSummary(1, 1)),
        (record(documents=3), SourcesSummary(0, 0, documents=3)),
        (
            record(passage(1), left_out=2, documents=1, pending_documents=2),
            SourcesSummary(3, 1, documents=1, pending_documents=2),
        ),
    ],
)
def test_the_line_says_what_was_found_and_where(grounding, summary):
    assert summarize_sources(grounding, READER) == summary


def test_why_it_was_by_words_only_is_a_sentence():
    found = summarize_sources(record(documents=1, semantic_error=ProviderUnavailable.code), READER)
    assert found
    assert found.semantic_error == ProviderUnavailable.template


def test_why_not_all_was_looked_up_is_a_sentence():
    found = summarize_sources(record(documents=1, lexical_error=LookUpTooCostly.code), READER)
    assert found
    assert found.lexical_error == LookUpTooCostly.template


@pytest.mark.parametrize(("included", "left_out", "mostly"), [(1, 1, False), (1, 2, True), (0, 1, True), (3, 0, False)])
def test_most_is_left_out_when_more_is_than_was_sent(included, left_out, mostly):
    assert SourcesSummary(included + left_out, included).is_mostly_left_out is mostly


@pytest.mark.parametrize(
    ("before", "now", "is_said"),
    [
        (None, {"documents": 2}, True),
        ({"documents": 2}, {"documents": 2}, False),
        ({"documents": 1}, {"documents": 2}, True),
        ({"documents": 2, "found": 3, "included": 3}, {"documents": 2}, True),
        ({"documents": 2}, {"documents": 2, "found": 3, "included": 3}, True),
        ({"documents": 2, "found": 1, "included": 1}, {"documents": 2, "found": 1, "included": 1}, True),
        ({"documents": 2, "pending_documents": 1}, {"documents": 2}, True),
        *(
            ({"documents": 2, **more}, {"documents": 2, **more}, True)
            for more in ({"pending_documents": 1}, {"lexical_error": "x"}, {"semantic_error": "x"}, {"web_results": 0})
        ),
    ],
)
def test_that_nothing_matches_the_same_documents_is_said_once(before, now, is_said):
    nothing = {"found": 0, "included": 0}
    before = before and SourcesSummary(**{**nothing, **before})
    assert SourcesSummary(**{**nothing, **now}).is_news_after(before) is is_said

"""How candidates are ranked, and the reasons that are given."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.recall.rank_candidates import (
    LEAST_REASON,
    MOST_REASONS,
    TERMS,
    mean_tokens_by_role,
    rank_candidates,
    share_of_first_person,
    terseness,
)
from conversations.core.recall.weights import WEIGHTS


def candidate(message, **values):
    return message, [values.get(term, 0.0) for term in TERMS]


def rank(candidates, *, most):
    candidates = list(candidates)
    values = {term: [values[place] for _, values in candidates] for place, term in enumerate(TERMS)}
    return rank_candidates([message for message, _ in candidates], values, most=most)


def test_the_score_is_the_sum_of_weighted_values():
    [ranked] = rank([candidate(7, words=1.0, session=0.5, distance=1.0)], most=1)
    assert ranked.message == 7
    assert ranked.score == pytest.approx(WEIGHTS["words"] + 0.5 * WEIGHTS["session"] + WEIGHTS["distance"])


def test_the_best_come_first_and_of_equals_the_newer():
    candidates = [candidate(1, words=0.5), candidate(2, words=1.0), candidate(3, words=0.5), candidate(4)]
    assert [each.message for each in rank(candidates, most=3)] == [2, 3, 1]


def test_the_strongest_reasons_are_given_first_and_weak_ones_are_not():
    [ranked] = rank([candidate(1, session=1.0, words=1.0, date=0.01, recent=1.0, opening=1.0)], most=1)
    assert ranked.why == ("session", "words")


def test_terms_of_one_reason_count_together():
    below = 0.6 * LEAST_REASON
    values = {term: below / WEIGHTS[term] for term in ("words", "coverage", "speaker")}
    assert rank([candidate(1, **values)], most=1)[0].why == ("words",)


def test_what_only_neighbours_cover_is_found_by_them_and_not_by_its_words():
    assert rank([candidate(1, coverage=1.0)], most=1)[0].why == ("neighbour",)


VALUES = st.lists(st.floats(0, 10), min_size=len(TERMS), max_size=len(TERMS))


@given(st.lists(VALUES, max_size=20), st.integers(0, 25))
def test_none_that_is_left_out_is_better(lists, most):
    candidates = list(enumerate(lists))
    everything = rank(candidates, most=len(candidates))
    best = rank(reversed(candidates), most=most)
    assert best == everything[:most]
    assert sorted(each.message for each in everything) == [message for message, _ in candidates]
    assert all(first.score >= second.score for first, second in pairwise(everything))
    assert all(len(set(each.why)) == len(each.why) <= MOST_REASONS for each in everything)


def test_what_a_role_writes_on_average_says_how_tersely_it_writes():
    means = mean_tokens_by_role([("user", 4, 80), ("assistant", 2, 320), ("tool", 0, 0)])
    assert means == {"user": 20, "assistant": 160}
    assert terseness(20, 160) == pytest.approx(math.log(8))
    assert terseness(160, 160) == terseness(0, 160) == 0


def test_the_share_of_first_person_words_is_at_most_one():
    assert share_of_first_person(1, 16) == 0.5
    assert share_of_first_person(1, 1) == 1
    assert share_of_first_person(0, 0) == 0

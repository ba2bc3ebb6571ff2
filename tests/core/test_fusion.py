from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.documents.fusion import Candidate, Fingerprint, fuse, near_the_best

TEXT = "Herons stand in the shallow water of the lake and wait for fish until the evening comes"


def candidate(id_: int, text: str | None = None, rating: float = 1.0) -> Candidate:
    return Candidate(id_, "document", "source", f"{id_} alone" if text is None else text, rating)


def ids(fused) -> list[int]:
    return [each.candidate.id for each in fused]


def ranking(*numbers: int) -> list[Candidate]:
    return [candidate(number) for number in numbers]


def test_the_first_of_all_rankings_has_the_score_1():
    best, second = fuse([ranking(1, 2), ranking(1, 2)], most=9)
    assert (best.candidate.id, best.score) == (1, 1.0)
    assert second.score < 1


def test_to_be_in_both_rankings_is_better_than_to_be_first_in_one():
    assert ids(fuse([ranking(1, 2), ranking(3, 2)], most=9))[0] == 2


def test_a_tie_keeps_the_order_of_the_first_ranking():
    assert ids(fuse([ranking(2), ranking(1)], most=9)) == [2, 1]


def test_of_texts_that_are_alike_the_best_stays():
    texts = [TEXT, f"{TEXT.upper()}!", f"  {TEXT} .", TEXT.replace("fish", "frogs"), "Storks stand elsewhere."]
    assert ids(fuse([[candidate(number, text) for number, text in enumerate(texts)]], most=9)) == [0, 3, 4]


def are_alike(one: str, other: str) -> bool:
    return Fingerprint.of(one).is_like(Fingerprint.of(other))


def test_texts_that_differ_in_half_of_their_words_both_stay():
    assert not are_alike(TEXT, TEXT[: len(TEXT) // 2] + " but nobody knows why they do so")


@pytest.mark.parametrize(("one", "other"), [("Room 1", "Room 2"), ("!!!", "???"), (TEXT + " 10:30", TEXT + " 10:45")])
def test_few_words_or_a_number_may_say_something_new(one, other):
    assert not are_alike(one, other)


def test_chinese_texts_that_differ_in_a_character_are_alike():
    chinese = "苍鹭站在湖边的浅水里等待鱼群游过直到夜晚来临才慢慢飞回树林中的巢穴休息"
    assert are_alike(chinese, chinese.replace("慢慢", "缓慢"))
    assert not are_alike(chinese, chinese[:16] + "然后它们突然全部飞走了没有人知道为什么会这样")


def test_what_is_far_behind_the_best_is_dropped():
    found = [candidate(1, rating=8.0), candidate(2, rating=2.0), candidate(3, rating=1.9)]
    assert [each.id for each in near_the_best(found, share=0.25)] == [1, 2]
    assert near_the_best([], share=0.25) == []


RANKINGS = st.lists(st.lists(st.integers(0, 20), unique=True).map(lambda numbers: ranking(*numbers)), max_size=3)


@given(RANKINGS, st.integers(1, 10))
def test_a_fusion_is_the_best_of_all_each_once(rankings, most):
    fused = fuse(rankings, most=most)
    everything = {each.id for one in rankings for each in one}
    assert len(fused) == len(set(ids(fused))) == min(most, len(everything))
    assert set(ids(fused)) <= everything
    assert [each.score for each in fused] == sorted((each.score for each in fused), reverse=True)
    assert all(0 < each.score <= 1 for each in fused)


@given(RANKINGS)
def test_who_is_before_another_in_every_ranking_stays_before_it(rankings):
    order = ids(fuse(rankings, most=100))
    places = [{each.id: place for place, each in enumerate(one)} for one in rankings]
    for one in order:
        for other in order[: order.index(one)]:
            assert not all(one in place and place[one] < place.get(other, 99) for place in places)


@given(st.text(), st.text())
def test_likeness_is_mutual_and_a_text_is_like_itself(one, other):
    assert are_alike(one, one)
    assert are_alike(one, other) == are_alike(other, one)

"""The best excerpt of a long message."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from conversations.core.recall.best_excerpt import WeighedWord, best_excerpt

SENTENCES = [
    f"The {kind} houses stand beside the river behind the old mill." for kind in ("stone", "brick", "cedar", "metal")
]
HOUSES = " ".join(SENTENCES)


def excerpt(content, *words):
    weighed = sorted(WeighedWord(content.index(word), weight) for word, weight in words)
    start, end = best_excerpt(content, weighed)
    return content[start:end]


def test_it_is_the_half_around_the_words():
    assert excerpt(HOUSES, ("cedar", 1.0), ("metal", 1.0)) == " ".join(SENTENCES[2:])
    assert excerpt(HOUSES, ("brick", 1.0), ("cedar", 1.0)) == " ".join(SENTENCES[1:3])


def test_of_equals_it_is_the_earliest():
    assert excerpt(HOUSES) == " ".join(SENTENCES[:2])
    assert excerpt(HOUSES, ("cedar", 1.0)) == " ".join(SENTENCES[1:3])


def test_the_heavier_words_decide():
    assert excerpt(HOUSES, ("stone", 3.0), ("cedar", 1.0), ("metal", 1.0)) == " ".join(SENTENCES[:2])


def test_a_far_longer_stretch_is_not_taken_for_its_words():
    content = "Extraordinarily complicated considerations. Notwithstanding misunderstandings. A b c d. E f g h."
    assert excerpt(content, ("complicated", 1.0), ("misunderstandings", 1.0)) == "A b c d. E f g h."


def test_one_sentence_is_taken_whole_and_nothing_stays_nothing():
    assert excerpt("No end of it at all") == "No end of it at all"
    assert best_excerpt("", []) == (0, 0)


def test_a_word_that_two_sentences_share_counts_once():
    assert best_excerpt(". . 。a", []) == (2, 5)


CONTENTS = st.lists(st.sampled_from(["a", "bcd", "Far", ". ", "! ", "\n", "\n\n", " ", "。", "灯塔", "…"])).map("".join)


@given(CONTENTS | st.text(), st.lists(st.tuples(st.integers(0, 200), st.floats(0, 9)), max_size=6))
def test_it_lies_within_the_content_and_has_half_of_the_words_at_least(content, places):
    words = [WeighedWord(min(at, len(content)), weight) for at, weight in sorted(places)]
    start, end = best_excerpt(content, words)
    assert 0 <= start <= end <= len(content)
    assert content[start:end] == content[start:end].strip()
    assert 2 * len(content[start:end].split()) >= len(content.split())

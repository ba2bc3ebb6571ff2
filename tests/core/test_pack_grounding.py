import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.prompt.grounding_text import PromptPassage, render_question
from conversations.core.window.pack_grounding import pack_grounding
from conversations.core.window.truncation import TRUNCATION_MARK
from tests.support.hypothesis_profile import count_cases

from .languages import by_character, by_piece, by_quarter

QUESTION = "How far is it?"
SENTENCES = PromptPassage("It is far. Very far indeed! Or is it? Nobody knows.", "a.txt")
WORDS = PromptPassage("far " * 20)


def pack(*passages, limit_tokens, count_text=by_character):
    return pack_grounding(QUESTION, passages, limit_tokens=limit_tokens, count_text=count_text)


def tokens_of(*passages, left_out=0):
    return len(render_question(QUESTION, passages, left_out=left_out)) - len(QUESTION)


def test_without_grounding_the_question_is_sent_as_it_is_and_not_counted_again():
    counted = []
    packed = pack(limit_tokens=1_000, count_text=counted.append)
    assert (packed.text, packed.tokens, counted) == (QUESTION, 0, [])


def test_what_fits_exactly_is_sent_whole():
    packed = pack(SENTENCES, WORDS, limit_tokens=tokens_of(SENTENCES, WORDS))
    assert packed.included == (SENTENCES, WORDS)
    assert not packed.left_out


def test_one_token_less_cuts_the_last_passage_at_a_sentence():
    packed = pack(SENTENCES, limit_tokens=tokens_of(SENTENCES) - 1)
    assert packed.included[0].text == f"It is far. Very far indeed! Or is it? {TRUNCATION_MARK}"
    assert packed.last_truncated_to == len("It is far. Very far indeed! Or is it?")


def test_a_cut_is_at_the_last_sentence_that_fits():
    shorter = PromptPassage(f"It is far. {TRUNCATION_MARK}", "a.txt")
    packed = pack(SENTENCES, limit_tokens=tokens_of(shorter))
    assert packed.included == (shorter,)


def test_chinese_sentences_are_sentences():
    packed = pack(
        PromptPassage("很远。非常远。没有人知道有多远。"),
        limit_tokens=tokens_of(PromptPassage(f"很远。 {TRUNCATION_MARK}")),
    )
    assert packed.included[0].text == f"很远。 {TRUNCATION_MARK}"


def test_a_cut_between_words_is_better_than_no_grounding():
    packed = pack(WORDS, limit_tokens=tokens_of(WORDS) - 10)
    assert packed.included[0].text.startswith("far far")
    assert packed.included[0].text.endswith(f"far {TRUNCATION_MARK}")


def test_a_cut_between_words_is_not_worth_it_beside_a_whole_passage():
    packed = pack(SENTENCES, WORDS, limit_tokens=tokens_of(SENTENCES, WORDS) - 10)
    assert packed.included == (SENTENCES,)
    assert packed.left_out == (WORDS,)


def test_a_passage_that_cannot_be_cut_is_left_out():
    packed = pack(PromptPassage("x" * 500), limit_tokens=300)
    assert (packed.text, packed.included) == (QUESTION, ())


def test_the_mark_alone_is_no_grounding():
    packed = pack(PromptPassage(" \n" + "x" * 500), limit_tokens=300)
    assert (packed.text, packed.included) == (QUESTION, ())


def test_a_large_passage_is_not_passed_over_for_a_worse_one():
    large = PromptPassage("x" * 500)
    assert pack(large, SENTENCES, limit_tokens=300).included == ()


def test_the_language_model_is_told_how_many_passages_did_not_fit():
    packed = pack(SENTENCES, WORDS, WORDS, limit_tokens=tokens_of(SENTENCES, left_out=2))
    assert "(2 more passages were found but did not fit.)" in packed.text
    packed = pack(SENTENCES, WORDS, limit_tokens=tokens_of(SENTENCES, left_out=1))
    assert "(1 more passage was found but did not fit.)" in packed.text


def test_passages_that_are_cheaper_together_than_alone_are_all_sent():
    packed = pack(SENTENCES, WORDS, SENTENCES, limit_tokens=45, count_text=lambda text: 30 + len(text) // 10)
    assert not packed.left_out


@pytest.mark.parametrize("limit_tokens", [0, 1, 5])
def test_no_room_is_no_grounding(limit_tokens):
    assert pack(SENTENCES, limit_tokens=limit_tokens).tokens == 0


PASSAGES = st.lists(st.builds(PromptPassage, st.text("ab .\n!?。", max_size=80)), max_size=5)


@settings(max_examples=count_cases(1_000))
@given(PASSAGES, st.integers(0, 400), st.sampled_from((by_character, by_quarter, by_piece)))
def test_the_text_that_is_sent_is_the_text_that_was_counted(passages, limit_tokens, count_text):
    packed = pack(*passages, limit_tokens=limit_tokens, count_text=count_text)
    assert packed.tokens == count_text(packed.text) - count_text(QUESTION) <= limit_tokens
    assert packed.text.endswith(QUESTION)
    assert len(packed.included) + len(packed.left_out) == len(passages)
    assert packed.text == render_question(QUESTION, packed.included, left_out=len(packed.left_out))


def test_packing_counts_little_more_than_it_sends():
    """Of fifty candidates those that do not fit by far are never counted, and the joined text only a few times."""
    counted = []

    def count_text(text):
        counted.append(len(text))
        return len(text)

    passages = [PromptPassage("It is far. " * 150, f"{number}.txt") for number in range(50)]
    packed = pack(*passages, limit_tokens=20 * 1_650, count_text=count_text)
    assert len(packed.included) == 20
    assert sum(counted) < 15 * len(packed.text)

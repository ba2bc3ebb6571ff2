"""Passages, in a language in which one character is one token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.documents.splitting import Block, PassageSize, SplitPassage, split_blocks

SIZE = PassageSize(tiny=4, least=20, good=30, most=40, most_characters=80)


def split(*blocks: Block, size: PassageSize = SIZE) -> list[SplitPassage]:
    return list(split_blocks(blocks, count_text=len, size=size))


def texts(*blocks: Block) -> list[str]:
    return [passage.text for passage in split(*blocks)]


def test_small_neighbours_under_one_heading_are_joined():
    assert texts(Block("one", ("A",)), Block("two", ("A",))) == ["one\n\ntwo"]


def test_a_passage_ends_where_a_heading_begins():
    passages = split(Block("a" * 10, ("A",)), Block("b" * 10, ("B",)))
    assert [(passage.heading, passage.text) for passage in passages] == [("A", "a" * 10), ("B", "b" * 10)]


def test_what_is_tiny_goes_with_the_next_heading_and_keeps_both_names():
    assert texts(Block("so", ("A",)), Block("b" * 10, ("B",))) == ["A\nso\n\nB\n" + "b" * 10]


def test_small_sections_deep_down_are_joined_under_what_they_share():
    [passage] = split(Block("left", ("Map", "Sea", "North")), Block("right", ("Map", "Sea", "South")))
    assert passage.heading == "Map › Sea"
    assert passage.text == "North\nleft\n\nSouth\nright"


def test_a_record_stands_alone():
    assert texts(Block("one", alone=True), Block("two", alone=True)) == ["one", "two"]


def test_rows_follow_each_other_as_lines():
    assert texts(Block("a: 1", lines=True), Block("a: 2", lines=True)) == ["a: 1\na: 2"]


def test_a_row_that_fits_is_not_torn():
    rows = ["x" * 25, "y" * 38, "z" * 12]
    assert texts(*(Block(row, lines=True) for row in rows)) == rows


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The first one ends here. " + "The second is quite as long", "The first one ends here."),
        ("He said “no more of it.” " + "Then there was a long silence", "He said “no more of it.”"),
        ("第一句话在这里结束。" + "第二句" * 11, "第一句话在这里结束。"),
        ("first paragraph of some words\n\n" + "second paragraph", "first paragraph of some words"),
    ],
)
def test_a_block_that_is_too_large_is_torn_between_sentences(text, first):
    assert texts(Block(text))[0] == first


def test_a_listing_that_is_too_large_is_torn_between_lines():
    assert texts(Block("a = 1. b = 2.\n" * 4, lines=True)) == ["a = 1. b = 2.\na = 1. b = 2."] * 2


def test_words_without_a_sentence_are_torn_at_blanks():
    assert all(not set(text.split()) - {"word"} for text in texts(Block("word " * 50)))


def test_a_word_without_an_end_is_torn_anywhere():
    pieces = texts(Block("a" * 100))
    assert "".join(pieces) == "a" * 100
    assert all(len(piece) >= SIZE.least for piece in pieces)


def test_a_passage_says_on_which_pages_it_stands():
    [passage] = split(Block("ends on", ("One",), page=7), Block("the next", ("One",), page=8))
    assert (passage.heading, passage.text) == ("One › p. 7–8", "ends on\nthe next")


def test_blank_blocks_are_passed_over():
    assert texts(Block(" \n"), Block("word"), Block("")) == ["word"]


HEADINGS = st.lists(st.sampled_from(["A", "B", "C"]), max_size=3).map(tuple)
TEXTS = st.text(alphabet='ab .。!?\n\t"”xyz', max_size=200)
BLOCKS = st.lists(st.builds(Block, TEXTS, HEADINGS, st.booleans(), st.booleans(), st.none()), max_size=8)


@given(BLOCKS)
def test_no_word_is_lost_and_the_order_is_kept(blocks):
    plain = [Block(block.text, (), block.lines, block.alone) for block in blocks]
    found = "".join("".join(passage.text.split()) for passage in split(*plain))
    assert found == "".join("".join(block.text.split()) for block in blocks)


@given(BLOCKS)
def test_no_passage_is_too_large_and_none_is_empty(blocks):
    for passage in split(*blocks):
        assert passage.text.strip()
        assert passage.tokens == len(passage.text) <= SIZE.most


@given(BLOCKS)
def test_headings_are_kept_with_what_stands_under_them(blocks):
    filled = [block for block in blocks if block.text.strip()]
    shown = "\n".join(f"{passage.heading}\n{passage.text}" for passage in split(*blocks))
    assert all(heading in shown for block in filled for heading in block.headings)


@pytest.mark.parametrize("text", ["a" * 400_000, "." * 400_000, "。" * 400_000, " \n" * 200_000, "a. " * 130_000])
def test_it_counts_each_character_a_few_times_at_most(text):
    counted = 0

    def count(piece: str) -> int:
        nonlocal counted
        counted += len(piece)
        return -(-len(piece) // 4)

    assert list(split_blocks([Block(text)], count_text=count)) or not text.strip()
    assert counted <= 8 * len(text)

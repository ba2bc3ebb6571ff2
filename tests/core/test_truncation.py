"""Cutting a text to tokens, however long it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.window.truncation import TRUNCATION_MARK, characters_that_fit, truncate_text
from tests.support.hypothesis_profile import count_cases

from .languages import by_character, by_piece, by_quarter

MARK = len(f" {TRUNCATION_MARK}")
TEN_MEGABYTES = "all is well. " * 800_000


def test_a_cut_is_marked():
    assert truncate_text("all is well", 6) == f"all is {TRUNCATION_MARK}"


def test_a_cut_leaves_no_white_space_before_its_mark():
    assert truncate_text("all   is well", 5) == f"all {TRUNCATION_MARK}"


def test_nothing_of_a_text_is_the_mark_alone():
    assert truncate_text("all is well", 0) == truncate_text("   all", 2) == TRUNCATION_MARK


def test_what_is_not_cut_is_not_marked():
    assert truncate_text("all is well ", None) == "all is well "


def test_a_text_that_fits_exactly_is_not_cut():
    assert characters_that_fit("all is well", limit_tokens=11, count_text=by_character) is None


def test_a_text_one_token_too_long_makes_room_for_the_mark_too():
    assert characters_that_fit("allswell...", limit_tokens=10, count_text=by_character) == 10 - MARK


@pytest.mark.parametrize("limit_tokens", [-5, 0, 1, MARK])
def test_no_room_is_nothing_but_the_mark(limit_tokens):
    assert characters_that_fit("all is well", limit_tokens=limit_tokens, count_text=by_character) == 0


@settings(max_examples=count_cases(2_000))
@given(st.text("ab .\n!é字", max_size=300), st.integers(0, 120), st.sampled_from((by_character, by_quarter, by_piece)))
def test_what_is_left_fits_and_one_character_more_would_not(text, limit_tokens, count_text):
    characters = characters_that_fit(text, limit_tokens=limit_tokens, count_text=count_text)
    if characters is None:
        assert count_text(text) <= limit_tokens
    else:
        assert 0 <= characters < len(text)
        assert characters == 0 or count_text(truncate_text(text, characters)) <= limit_tokens
        assert count_text(truncate_text(text, characters + 1)) > limit_tokens


@pytest.mark.parametrize("count_text", [by_character, by_quarter, by_piece])
@pytest.mark.parametrize("limit_tokens", [0, 10, 1_000])
def test_ten_megabytes_are_never_counted_as_a_whole(count_text, limit_tokens):
    counted = []
    characters = characters_that_fit(
        TEN_MEGABYTES, limit_tokens=limit_tokens, count_text=lambda text: counted.append(len(text)) or count_text(text)
    )
    assert count_text(truncate_text(TEN_MEGABYTES, characters)) <= max(limit_tokens, by_character(TRUNCATION_MARK))
    assert max(counted) <= 20 * max(limit_tokens, 1) + MARK
    assert len(counted) <= 20

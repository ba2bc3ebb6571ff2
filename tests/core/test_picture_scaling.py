from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.window.picture_scaling import SCALE_STEPS, SMALLEST_LONGEST_SIDE, scale_to_fit, scaled_by
from conversations.core.window.picture_tokens import FixedTokens, ModelPictures, PictureSize
from conversations.providers.catalog.picture_rules import CAUTIOUS, RULES
from tests.support.hypothesis_profile import count_cases

KNOWN = (*(pictures for _, pictures in RULES if pictures), CAUTIOUS)
sides = st.integers(1, 2_048)
sizes = st.lists(st.builds(PictureSize, sides, sides), min_size=1, max_size=3)


def tokens_of(found, rule):
    return sum(rule.tokens(size, rule.detail) for size in found)


def at(step, whole):
    return tuple(scaled_by(size, step) for size in whole)


@settings(max_examples=count_cases(1_000))
@given(st.sampled_from(KNOWN), sizes, st.integers(0, 6_000))
def test_pictures_are_scaled_as_little_as_the_room_demands(rule, whole, room_tokens):
    found = scale_to_fit(whole, rule, rule.detail, room_tokens=room_tokens)
    step = max(step for step in range(SCALE_STEPS + 1) if at(step, whole) == found)

    if tokens_of(at(0, whole), rule) > room_tokens:
        assert found == at(0, whole)
    else:
        assert tokens_of(found, rule) <= room_tokens
        assert step == SCALE_STEPS or tokens_of(at(step + 1, whole), rule) > room_tokens


@settings(max_examples=count_cases(1_000))
@given(st.sampled_from(KNOWN), sizes, st.integers(0, SCALE_STEPS))
def test_none_takes_less_than_the_smallest_and_none_is_enlarged(rule, whole, step):
    scaled = at(step, whole)

    assert tokens_of(at(0, whole), rule) <= tokens_of(scaled, rule)
    for before, after in zip(whole, scaled, strict=True):
        assert after.width <= before.width
        assert after.height <= before.height
        assert after.longest_side >= min(before.longest_side, SMALLEST_LONGEST_SIDE)


def test_at_its_whole_scale_a_picture_is_unchanged():
    assert scaled_by(PictureSize(1_999, 3), SCALE_STEPS) == (1_999, 3)


def test_a_picture_that_takes_one_number_is_as_large_as_it_was_if_that_fits():
    fixed = ModelPictures(FixedTokens(600))

    assert scale_to_fit([PictureSize(2_000, 1_000)], fixed, "", room_tokens=600) == ((2_000, 1_000),)

from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.window.picture_tokens import (
    CroppedTokens,
    FixedTokens,
    ModelPictures,
    PatchTokens,
    PictureSize,
    TileTokens,
)
from tests.support.hypothesis_profile import count_cases

GPT_4O = TileTokens(85, 170)
O4_MINI = PatchTokens(32, 1_536, 2_048, percent=172, shrinks_to_whole_patches=True)
PLAIN_PATCHES = PatchTokens(32, 1_536, shrinks_to_whole_patches=True)
CLAUDE = PatchTokens(28, 4_784, 2_576)
PIXTRAL = PatchTokens(16, longest_side=1_024, tokens_per_row=1)
GEMINI_2 = CroppedTokens(258)
RULES = (FixedTokens(256), GPT_4O, O4_MINI, PLAIN_PATCHES, CLAUDE, PIXTRAL, GEMINI_2, PatchTokens(28))
MOST = {GPT_4O: 85 + 8 * 170, O4_MINI: 2_642, PLAIN_PATCHES: 1_536, CLAUDE: 4_784, PIXTRAL: 64 * 65}

sides = st.integers(1, 30_000)
sizes = st.builds(PictureSize, sides, sides)


def tokens(rule, width, height):
    return rule.tokens(PictureSize(width, height))


def test_tiles_are_counted_as_openai_shows_it():
    assert tokens(GPT_4O, 1_024, 1_024) == 765
    assert tokens(GPT_4O, 2_048, 4_096) == 1_105
    assert GPT_4O.scaled(PictureSize(2_048, 4_096)) == (768, 1_536)


def test_patches_are_counted_as_openai_shows_it():
    assert tokens(PLAIN_PATCHES, 1_024, 1_024) == 1_024
    assert tokens(PLAIN_PATCHES, 1_800, 2_400) == 1_452
    assert PLAIN_PATCHES.scaled(PictureSize(1_800, 2_400)) == (1_056, 1_408)


def test_patches_are_counted_as_users_of_claude_measured_it():
    assert tokens(CLAUDE, 1_280, 720) == 1_196
    assert tokens(CLAUDE, 1_920, 1_080) == 2_691


def test_a_row_of_patches_has_its_own_token():
    assert tokens(PIXTRAL, 512, 512) == 32 * 33


def test_a_small_picture_is_one_crop_and_a_larger_one_several():
    assert tokens(GEMINI_2, 384, 384) == 258
    assert tokens(GEMINI_2, 960, 540) == 6 * 258
    assert tokens(GEMINI_2, 385, 10) == 2 * 258


def test_low_detail_has_a_rule_of_its_own():
    pictures = ModelPictures(GPT_4O, FixedTokens(85), "high")

    assert pictures.tokens(PictureSize(4_000, 4_000), "low") == 85
    assert pictures.tokens(PictureSize(1_024, 1_024), "high") == 765
    assert ModelPictures(CLAUDE).tokens(PictureSize(280, 280), "low") == 100


@settings(max_examples=count_cases(2_000))
@given(st.sampled_from(RULES), sizes)
def test_every_picture_takes_something_and_never_more_than_the_bound(rule, size):
    assert 1 <= rule.tokens(size) <= MOST.get(rule, rule.tokens(size))
    assert min(rule.scaled(size)) >= 1


@settings(max_examples=count_cases(2_000))
@given(st.sampled_from(RULES), sizes)
def test_a_picture_is_never_enlarged_and_what_is_scaled_stays_so(rule, size):
    scaled = rule.scaled(size)

    assert scaled.width <= size.width
    assert scaled.height <= size.height
    assert rule.tokens(scaled) <= MOST.get(rule, rule.tokens(size))


@settings(max_examples=count_cases(2_000))
@given(sizes, st.integers(0, 500), st.integers(0, 500))
def test_a_larger_picture_never_takes_less_up_to_the_bound(size, wider, higher):
    larger = PictureSize(size.width + wider, size.height + higher)
    for rule in (FixedTokens(256), PatchTokens(28), PatchTokens(28, most_patches=4_784)):
        assert rule.tokens(size) <= rule.tokens(larger)
    if larger.pieces(32).width * larger.pieces(32).height <= 1_536:
        assert PLAIN_PATCHES.tokens(size) <= PLAIN_PATCHES.tokens(larger)
    if max(larger) <= 768:
        assert GPT_4O.tokens(size) <= GPT_4O.tokens(larger)

import pytest

from conversations.core.window.picture_tokens import FixedTokens, PictureSize
from conversations.providers.catalog.language_models import parse_language_models
from conversations.providers.catalog.picture_rules import CAUTIOUS, RULES, known_pictures

HOME = "http://localhost:11434/v1"
PHOTO = PictureSize(1_024, 1_024)


@pytest.mark.parametrize(
    ("name", "tokens", "low_tokens"),
    [
        ("gpt-4o", 765, 85),
        ("openai/gpt-4.1", 765, 85),
        ("gpt-4o-mini-2024-07-18", 25_501, 2_833),
        ("gpt-4.1-mini", 1_659, 415),
        ("gpt-4.1-nano", 2_520, 630),
        ("o3-pro", 675, 75),
        ("o4-mini", 1_762, 441),
        ("gpt-5", 630, 70),
        ("gpt-5.1", 630, 70),
        ("gpt-5-mini", 1_659, 415),
        ("gpt-5.4-nano", 2_520, 630),
        ("gpt-5.2", 1_229, 308),
        ("gpt-5.6", 1_229, 308),
        ("gpt-6", 1_229, 308),
        ("claude-opus-4-7", 1_369, 1_369),
        ("gemini-2.5-pro", 1_032, 1_032),
        ("gemini-3-flash-preview", 1_120, 1_120),
        ("qwen2.5vl:7b", 1_371, 1_371),
        ("gemma3:12b", 260, 260),
        ("pixtral-12b", 4_160, 4_160),
    ],
)
def test_a_known_model_counts_by_its_published_rule(name, tokens, low_tokens):
    pictures = known_pictures(name)

    assert pictures.tokens(PHOTO) == tokens
    assert pictures.tokens(PHOTO, "low") == low_tokens


@pytest.mark.parametrize(
    "name",
    [
        "gpt-3.5-turbo",
        "gpt-4",
        "gpt-oss:20b",
        "o1-mini",
        "o3-mini",
        "gemma3:1b",
        "claude-2.1",
        "qwen3:8b",
        "deepseek-chat",
    ],
)
def test_a_model_that_sees_nothing_has_no_rule(name):
    assert known_pictures(name) is None


@pytest.mark.parametrize("name", ["llava:13b", "llama3.2-vision", "some/new-model-VL-8b"])
def test_a_model_whose_name_says_that_it_sees_is_counted_with_caution(name):
    assert known_pictures(name) is CAUTIOUS


@pytest.mark.parametrize(
    ("older", "newer"),
    [("claude-opus-4-6", "claude-opus-4.7"), ("claude-opus-4-20250514", "claude-sonnet-5")],
)
def test_claude_sees_more_from_4_7_on(older, newer):
    large = PictureSize(2_048, 2_048)

    assert known_pictures(older).tokens(large) == 1_568
    assert known_pictures(newer).tokens(large) == 4_784


def test_caution_counts_at_least_what_open_models_do_that_are_known():
    for size in (PHOTO, PictureSize(2_048, 2_048), PictureSize(64, 3_000), PictureSize(10, 10)):
        for name in ("qwen2.5vl:7b", "qwen3-vl", "gemma3:12b", "mistral-small3.2"):
            assert CAUTIOUS.tokens(size) >= known_pictures(name).tokens(size)


def test_no_rule_takes_nothing():
    found = [pictures for _, pictures in RULES if pictures]

    assert all(pictures.tokens(PictureSize(1, 1), detail) > 0 for pictures in found for detail in ("high", "low"))


def configured(words):
    (model,) = parse_language_models(f"some-model context_window=8192 {words}", base_url=HOME)
    return model.pictures


def test_an_unknown_model_sees_nothing_until_the_setting_says_so():
    assert configured("") is None
    assert configured("vision=yes") is CAUTIOUS
    assert configured("picture_tokens=300").rule == FixedTokens(300)


def test_a_known_model_sees_unless_the_setting_says_no():
    models = parse_language_models("gpt-4o, gpt-4o-mini vision=no, o3 picture_tokens=500")

    assert [model.pictures and model.pictures.tokens(PHOTO, "high") for model in models] == [765, None, 500]
    assert models[2].pictures.detail == "high"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("vision=maybe", "LANGUAGE_MODELS: some-model has vision=maybe, which is neither yes nor no."),
        ("picture_tokens=0", "some-model has picture_tokens=0, which is not a whole number of tokens above 0."),
    ],
)
def test_another_answer_says_what_to_write(words, says):
    with pytest.raises(ValueError, match=says.replace(".", r"\.")):
        configured(words)

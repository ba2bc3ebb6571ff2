"""How known language models count pictures, by their name: published rules as data, each with its source.

A model that is not here is taken to see nothing, unless the setting says `vision=yes` or `picture_tokens=N`. All were
read on 2026-11-23; none was tried against a provider.

| whose | source |
| --- | --- |
| OpenAI | https://developers.openai.com/api/docs/guides/images-vision (tiles, patches, factors, most pictures) |
| OpenAI, factor 1.2 from gpt-5.2 on | https://community.openai.com/t/1372291 (measured by users, not documented) |
| Claude | https://platform.claude.com/docs/en/build-with-claude/vision |
| Gemini | https://ai.google.dev/gemini-api/docs/tokens https://ai.google.dev/gemini-api/docs/media-resolution |
| Grok | https://docs.x.ai/docs/guides/image-understanding (at most 6 tiles and one more, 256 tokens each) |
| Mistral | https://docs.mistral.ai/capabilities/vision https://mistralai.github.io/mistral-common/usage/images |
| Qwen, Gemma, Llama | `preprocessor_config.json` of the published weights on https://huggingface.co |
"""

from __future__ import annotations

import re

from conversations.core.window.picture_tokens import (
    CroppedTokens,
    FixedTokens,
    ModelPictures,
    PatchTokens,
    PictureRule,
    TileTokens,
)

MOST_OF_OPENAI = 500
# From the 21st picture of a request on, Claude refuses those of more than 2,000 pixels: https://platform.claude.com
MOST_OF_CLAUDE = 20
MOST_OF_MISTRAL = 8

# For a model that is only said to see: at least what any of the rules below counts that goes by patches of 28 pixels
# or more, and a quarter above it. Reported usage corrects the count then.
CAUTIOUS = ModelPictures(PatchTokens(28, percent=125, fewest_tokens=1_024))


def _openai_tiles(base: int, per_tile: int) -> ModelPictures:
    return ModelPictures(TileTokens(base, per_tile), FixedTokens(base), "high", MOST_OF_OPENAI)


def _openai_patches(percent: int, most_patches: int) -> ModelPictures:
    """Patches of 32 pixels; with low detail a picture is scaled to 512 × 512, enlarged if it is smaller."""
    rule = PatchTokens(32, most_patches, 2_048, percent, shrinks_to_whole_patches=True)
    low_tokens = FixedTokens(-(-((512 // 32) ** 2) * percent // 100))
    return ModelPictures(rule, low_tokens, "high", MOST_OF_OPENAI)


def _claude(most_tokens: int, longest_side: int) -> ModelPictures:
    return ModelPictures(PatchTokens(28, most_tokens, longest_side), most=MOST_OF_CLAUDE)


def _mistral(side: int, longest_side: int) -> ModelPictures:
    """A token for each patch, and one that ends each row."""
    return ModelPictures(PatchTokens(side, longest_side=longest_side, tokens_per_row=1), most=MOST_OF_MISTRAL)


def _qwen(side: int) -> ModelPictures:
    return ModelPictures(PatchTokens(side, 16_384, overhead_tokens=2, fewest_tokens=6))


def _alone(rule: PictureRule) -> ModelPictures:
    return ModelPictures(rule)


# The first that matches the beginning of the name holds; None is a model that sees nothing.
RULES: tuple[tuple[re.Pattern[str], ModelPictures | None], ...] = tuple(
    (re.compile(pattern), pictures)
    for pattern, pictures in (
        (r"gpt-(?:3|4-(?!turbo|vision)|4$|oss)|o1-(?:mini|preview)|o3-mini|text-|claude-(?:instant|[12]\b)", None),
        (r"gpt-4-turbo-preview|gpt-4-\d{4}-preview|gemma-?3(?:-|:)(?:1b|270m)|.*embed", None),
        (r"gpt-4o-mini", _openai_tiles(2_833, 5_667)),
        (r"gpt-4\.1-mini", _openai_patches(162, 1_536)),
        (r"gpt-4\.1-nano", _openai_patches(246, 1_536)),
        (r"gpt-4\.[15]|gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4-vision", _openai_tiles(85, 170)),
        (r"gpt-5(?:\.\d+)?(?:-codex)?-mini", _openai_patches(162, 1_536)),
        (r"gpt-5(?:\.\d+)?(?:-codex)?-nano", _openai_patches(246, 1_536)),
        (r"gpt-5(?:\.[1-3])?-codex|gpt-5\.[23]", _openai_patches(120, 1_536)),
        (r"gpt-5(?:\.1)?(?![.\d])", _openai_tiles(70, 140)),
        # Left to itself the model takes pictures of any size as they are, so "high" is always asked for. That it has
        # the same bound for gpt-5.6 and later as for 5.4 and 5.5 is assumed.
        (r"gpt-\d", _openai_patches(120, 2_500)),
        (r"o4-mini", _openai_patches(172, 1_536)),
        (r"o[1-9](?!\d)", _openai_tiles(75, 150)),
        (r"computer-use-preview", _openai_tiles(65, 129)),
        (r"claude-3|claude-(?:[a-z]+-)?4(?:[.-][0-6](?!\d))?(?![.-]?\d{1,2}(?!\d))", _claude(1_568, 1_568)),
        (r"claude-", _claude(4_784, 2_576)),
        (r"gemini-(?:1\.5|2)", _alone(CroppedTokens(258))),
        (r"gemini", _alone(FixedTokens(1_120))),
        (r"grok-(?:2-vision|vision|[4-9])", _alone(FixedTokens(1_792))),
        (r"pixtral", _mistral(16, 1_024)),
        (r"mistral-(?:small|medium|large)(?!-2[0-4]\d\d)|magistral|ministral-(?:3|.*25)", _mistral(28, 1_540)),
        (r"qwen-?(?:2-|2\.5-?)vl|qwen-vl|qwen-?2vl|qvq", _qwen(28)),
        (r"qwen-?3(?:\.\d)?-?vl|qwen-?3\.[5-9]", _qwen(32)),
        # 256 soft tokens, and what stands around them.
        (r"gemma-?3", _alone(FixedTokens(260))),
        (r"gemma-?4", _alone(FixedTokens(1_124))),
        # At most 16 tiles of 144 tokens and one of the whole, with what parts them.
        (r"(?:meta-)?llama-?4", _alone(FixedTokens(2_500))),
        (r".*(?:vision|llava|(?<![a-z])vl(?![a-z])|\dvl|minicpm-v|moondream|molmo|\dv\b)", CAUTIOUS),
    )
)


def known_pictures(name: str) -> ModelPictures | None:
    """Return how the model of that *name* counts pictures; None if it sees none, or is not known to.

    A prefix such as OpenRouter's `openai/` is left out.
    """
    bare = name.rpartition("/")[2].lower()
    return next((pictures for pattern, pictures in RULES if pattern.match(bare)), None)

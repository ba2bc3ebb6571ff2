"""Scaling pictures down until what they take by the rule of a language model fits the room that there is for them.

    scale k of 256: each side × k ÷ 256, rounded up, and the longer side never below 200 pixels

All pictures of a message are scaled alike. A smaller picture does not always take less (a crop or a tile can be one
more), so every scale is tried, from the largest on.
"""

from __future__ import annotations

from collections.abc import Sequence

from conversations.core.prompt.pictures import PictureDetail

from .picture_tokens import ModelPictures, PictureSize

SCALE_STEPS = 256
# Claude's documents warn of sides below this: https://platform.claude.com/docs/en/build-with-claude/vision
SMALLEST_LONGEST_SIDE = 200


def scaled_by(size: PictureSize, step: int) -> PictureSize:
    """Return *size* at the scale *step* ÷ 256; one that is small already keeps its size."""
    longest = size.longest_side
    return size.scaled_to_longest(max(-(-longest * step // SCALE_STEPS), min(longest, SMALLEST_LONGEST_SIDE)))


def scale_to_fit(
    sizes: Sequence[PictureSize], rule: ModelPictures, detail: PictureDetail, *, room_tokens: int
) -> tuple[PictureSize, ...]:
    """Return *sizes* at the largest scale at which together they take at most *room_tokens*.

    Where none fits, they are as small as they may be.
    """
    smallest = _sizes_at(sizes, 0)
    if _tokens_of(smallest, rule, detail) > room_tokens:
        return smallest
    scaled = (_sizes_at(sizes, step) for step in range(SCALE_STEPS, 0, -1))
    return next((found for found in scaled if _tokens_of(found, rule, detail) <= room_tokens), smallest)


def _sizes_at(sizes: Sequence[PictureSize], step: int) -> tuple[PictureSize, ...]:
    return tuple(scaled_by(size, step) for size in sizes)


def _tokens_of(sizes: Sequence[PictureSize], rule: ModelPictures, detail: PictureDetail) -> int:
    return sum(rule.tokens(size, detail) for size in sizes)

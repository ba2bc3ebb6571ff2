"""Tokens of a picture: what providers count for one, from its width and height in pixels.

    fixed     one number, whatever the size
    patches   ⌈width ÷ side⌉ × ⌈height ÷ side⌉ of the scaled picture (+ some for each row) × percent ÷ 100 + overhead
    tiles     base + tiles of the scaled picture × tokens of one
    crops     one for a small picture; else crops whose side follows from the shorter side of the picture

Each rule tells the size to which the provider scales a picture, and its tokens. Whole numbers only; where a provider
does not say how it rounds, the tokens are rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple, Protocol

from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.pictures import PictureDetail


class PictureSize(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int

    @property
    def longest_side(self) -> int:
        return max(self)

    def scaled_to_longest(self, side: int | None) -> PictureSize:
        """Return it within a square of *side* pixels; it is never enlarged."""
        return self if side is None else self._scaled(side, self.longest_side)

    def scaled_to_shortest(self, side: int) -> PictureSize:
        """Return it with a shorter side of at most *side* pixels."""
        return self._scaled(side, min(self))

    def pieces(self, side: int) -> PictureSize:
        """Return how many squares of *side* pixels it takes to cover it, across and down."""
        return PictureSize(_divide_up(self.width, side), _divide_up(self.height, side))

    def _scaled(self, to: int, of: int) -> PictureSize:
        if of <= to:
            return self
        return PictureSize(_divide_up(self.width * to, of), _divide_up(self.height * to, of))


class PictureRule(Protocol):
    """What a provider counts for a picture."""

    def scaled(self, size: PictureSize) -> PictureSize:
        """Return the size to which the provider scales it."""
        ...

    def tokens(self, size: PictureSize) -> int: ...


@dataclass(frozen=True, slots=True)
class FixedTokens:
    """The same tokens for every picture."""

    each: int

    def scaled(self, size: PictureSize) -> PictureSize:
        return size

    def tokens(self, size: PictureSize) -> int:
        return self.each


@dataclass(frozen=True, slots=True)
class PatchTokens:
    """Tokens by squares of *side* pixels, of a picture of at most *most_patches* and *longest_side* pixels.

    One that *shrinks_to_whole_patches* is scaled once more, so that its patches are whole along one side, as OpenAI
    does. *fewest_tokens* and *overhead_tokens* are for each picture, *tokens_per_row* for each row of patches.
    """

    side: int
    most_patches: int | None = None
    longest_side: int | None = None
    percent: int = 100
    tokens_per_row: int = 0
    overhead_tokens: int = 0
    fewest_tokens: int = 1
    shrinks_to_whole_patches: bool = False

    def scaled(self, size: PictureSize) -> PictureSize:
        fitting = size.scaled_to_longest(self.longest_side)
        across, down = fitting.pieces(self.side)
        if self.most_patches is None or across * down <= self.most_patches:
            return fitting
        if self.shrinks_to_whole_patches:
            return self._shrunk_to_whole_patches(fitting)
        pixels = self.most_patches * self.side**2
        width = isqrt(pixels * fitting.width // fitting.height)
        height = isqrt(pixels * fitting.height // fitting.width)
        return PictureSize(max(width, 1), max(height, 1))

    def tokens(self, size: PictureSize) -> int:
        across, down = self.scaled(size).pieces(self.side)
        patches = across * down
        if self.most_patches is not None and (patches > self.most_patches or self._is_scaled_to_most(size)):
            patches = self.most_patches
        counted = _divide_up((patches + self.tokens_per_row * down) * self.percent, 100) + self.overhead_tokens
        return max(counted, self.fewest_tokens)

    def _is_scaled_to_most(self, size: PictureSize) -> bool:
        """Tell whether it is scaled to as many patches as there may be, but how the provider rounds is not known."""
        fitting = size.scaled_to_longest(self.longest_side)
        return not self.shrinks_to_whole_patches and self.scaled(size) != fitting

    def _shrunk_to_whole_patches(self, size: PictureSize) -> PictureSize:
        """Scale by √(patches ÷ area), then so that the side that loses more by rounding down has whole patches."""
        most = self.most_patches or 0
        across, down = isqrt(most * size.width // size.height), isqrt(most * size.height // size.width)
        across, down = max(across, 1), max(down, 1)
        if across * size.height <= down * size.width:
            return PictureSize(across * self.side, _divide_up(across * self.side * size.height, size.width))
        return PictureSize(_divide_up(down * self.side * size.width, size.height), down * self.side)


@dataclass(frozen=True, slots=True)
class TileTokens:
    """Tokens by squares of *side* pixels, after scaling to *longest_side* and then to a shorter *shortest_side*."""

    base: int
    per_tile: int
    side: int = 512
    longest_side: int = 2_048
    shortest_side: int = 768

    def scaled(self, size: PictureSize) -> PictureSize:
        return size.scaled_to_longest(self.longest_side).scaled_to_shortest(self.shortest_side)

    def tokens(self, size: PictureSize) -> int:
        across, down = self.scaled(size).pieces(self.side)
        return self.base + across * down * self.per_tile


@dataclass(frozen=True, slots=True)
class CroppedTokens:
    """Tokens by crops: one for a picture within *whole_side* pixels; else their side is its shorter one ÷ 1.5.

    That side is at least *smallest_side* and at most *largest_side* pixels.
    """

    per_crop: int
    whole_side: int = 384
    smallest_side: int = 256
    largest_side: int = 768

    def scaled(self, size: PictureSize) -> PictureSize:
        return size

    def tokens(self, size: PictureSize) -> int:
        if size.longest_side <= self.whole_side:
            return self.per_crop
        side = min(max(min(size) * 2 // 3, self.smallest_side), self.largest_side)
        across, down = size.pieces(side)
        return across * down * self.per_crop


@dataclass(frozen=True, slots=True)
class ModelPictures:
    """How a language model counts pictures: by *rule*, or by *low_rule* where a request asks for low *detail*.

    *detail* is what is asked for otherwise, blank where the model knows no such thing; *most* is how many pictures a
    request may have.
    """

    rule: PictureRule
    low_rule: PictureRule | None = None
    detail: PictureDetail = ""
    most: int | None = None

    def tokens(self, size: PictureSize, detail: PictureDetail = "") -> int:
        """Return the tokens of a picture of that *size*."""
        rule = self.low_rule if detail == "low" and self.low_rule else self.rule
        return rule.tokens(size)


def message_picture_tokens(message: PromptMessage, pictures: ModelPictures | None) -> int:
    """Count the pictures of *message* by the rule of its language model."""
    if pictures is None:
        return 0
    return sum(pictures.tokens(PictureSize(each.width, each.height), each.detail) for each in message.pictures)


def _divide_up(number: int, by: int) -> int:
    return -(-number // by)

"""Choose the passages that fit: whole ones by rank, the last one truncated where that helps.

Counting the joined text can differ by a few tokens from the sum of its parts, so a first choice is made on the parts
and every accepted text is counted as it will be sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from conversations.core.prompt.grounding_text import PromptPassage, render_passage, render_question

from .budget import CountText
from .truncation import truncate_text

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
WORD_END = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class PackedGrounding:
    """*text* is the rendered question, *tokens* of at most *limit_tokens* what its grounding adds to the bare content.

    The first passages of the candidates are *included*, in order; of the last of them only the first
    *last_truncated_to* characters are in, or all where that is None.
    """

    text: str
    tokens: int
    limit_tokens: int
    included: tuple[PromptPassage, ...] = ()
    left_out: tuple[PromptPassage, ...] = ()
    last_truncated_to: int | None = None


def pack_grounding(
    content: str, passages: Sequence[PromptPassage], *, limit_tokens: int, count_text: CountText
) -> PackedGrounding:
    """Return as many of *passages*, best first, as add at most *limit_tokens* to *content*."""
    if not passages:  # the content's tokens are known: it is not counted again
        return PackedGrounding(content, 0, limit_tokens)
    bare_tokens = count_text(content)

    def packed(included: Sequence[PromptPassage], *, truncated_to: int | None = None) -> PackedGrounding:
        left_out = passages[len(included) :]
        text = render_question(content, included, left_out=len(left_out))
        tokens = count_text(text) - bare_tokens
        return PackedGrounding(text, tokens, limit_tokens, tuple(included), tuple(left_out), truncated_to)

    def fits(grounding: PackedGrounding) -> bool:
        return grounding.tokens <= limit_tokens

    best = _most_whole_passages(passages, limit_tokens, count_text, packed, fits)
    if not best.left_out:
        return best
    return _with_next_cut(best, packed, fits) or best


def _most_whole_passages(
    passages: Sequence[PromptPassage],
    limit_tokens: int,
    count_text: CountText,
    packed: Callable[[Sequence[PromptPassage]], PackedGrounding],
    fits: Callable[[PackedGrounding], bool],
) -> PackedGrounding:
    count = _estimate_how_many(passages, limit_tokens, count_text)
    while count and not fits(packed(passages[:count])):
        count -= 1
    while count < len(passages) and fits(packed(passages[: count + 1])):
        count += 1
    return packed(passages[:count])


def _estimate_how_many(passages: Sequence[PromptPassage], limit_tokens: int, count_text: CountText) -> int:
    total = 0
    for index, passage in enumerate(passages):
        total += count_text(render_passage(index + 1, passage))
        if total > limit_tokens:
            return index
    return len(passages)


def _with_next_cut(
    best: PackedGrounding,
    packed: Callable[..., PackedGrounding],
    fits: Callable[[PackedGrounding], bool],
) -> PackedGrounding | None:
    """Return *best* with the beginning of the next passage, or None where not even a sentence of it fits.

    Cutting between words helps only if there would be no grounding at all otherwise.
    """
    passage = best.left_out[0]
    indent = len(passage.text) - len(passage.text.lstrip())
    for boundary in (SENTENCE_END,) if best.included else (SENTENCE_END, WORD_END):
        ends = [match.start() for match in boundary.finditer(passage.text) if match.start() > indent]
        found: PackedGrounding | None = None
        low, high = 0, len(ends) - 1
        while low <= high:
            middle = (low + high) // 2
            beginning = replace(passage, text=truncate_text(passage.text, ends[middle]))
            candidate = packed([*best.included, beginning], truncated_to=ends[middle])
            if fits(candidate):
                found, low = candidate, middle + 1
            else:
                high = middle - 1
        if found:
            return found
    return None

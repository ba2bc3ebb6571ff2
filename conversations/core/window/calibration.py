"""Calibration: how far our token counts are from a provider's, learned from reported usage and from refusals.

    ratio = 0.95 quantile of reported ÷ estimated input tokens over the newest pairs, rounded up, from 1 to 2
    limit = midway between the largest that went through and the smallest that was refused, until they are close
    tightening = counted ÷ estimated tokens of a refused prompt · margin ÷ calibration, never below 1

Estimates are our plain count: what a budget was divided by is not in them, so that a ratio never feeds on itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

# Of every twenty prompts one may be counted higher than the ratio allows for; a refusal of that one is met by
# tightening. The mean would be too low for every second prompt, and the highest would be whatever went wrong once.
QUANTILE_PERCENT = 95
NEWEST_PAIRS = 200
LOOKED_AT = 1_000  # the newest reports, whether they teach something or not: short chats must not make the search long
FEWEST_PAIRS = 20  # the fewest of which the quantile leaves one out: no single report, however absurd, decides
DIGITS = Decimal("0.0001")

# The encodings we count with are at most about twice as dense as other tokenizers on what people write. Some providers
# count cached tokens twice: that must not take more than half of a window.
LARGEST_RATIO = Decimal(2)

# A chat template adds up to some thirty tokens that we don't know of, much of a short prompt and nothing of a long one.
# What matters is prompts that come near the limit.
SMALLEST_PROMPT_TOKENS = 1_000
SMALLEST_PROMPT_SHARE = 8  # an eighth of the context window, where that is less

SMALLEST_LIMIT_TOKENS = 1_024  # GPT-2's; a smaller one is a number that means something else
SMALLEST_TRIED_TOKENS = 256  # of a prompt with its reply that was refused or went through: both have happened
RESERVE_SHARE = 4  # a reply may take a quarter of a context window that is smaller than the site was set up for
CLOSE = 8  # a limit is found once an eighth of it would be gained at most: each try may be a refused request
LARGEST_COUNT = 8  # times our own; a token of one byte each is some five times
MARGIN = Decimal("1.1")  # what stays in a tightened prompt may be counted higher than what went
HALF = Decimal(2)  # a refusal without numbers: the most that a ratio can be

ERROR_EDGES_PERCENT = (-20, -10, -5, -1, 1, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Pair:
    """Input tokens of one completion: our estimate, and what the provider reported."""

    estimated_tokens: int
    reported_tokens: int

    @property
    def ratio(self) -> Decimal:
        return Decimal(self.reported_tokens) / max(self.estimated_tokens, 1)

    @property
    def error_percent(self) -> Decimal:
        """By how much the report is above the estimate."""
        return (self.ratio - 1) * 100


def smallest_prompt_tokens(context_window_tokens: int) -> int:
    """Return from which estimate on a pair says something about prompts that fill the context window."""
    return min(SMALLEST_PROMPT_TOKENS, context_window_tokens // SMALLEST_PROMPT_SHARE)


def learned_ratio(pairs: Sequence[Pair]) -> Decimal | None:
    """Return by what budgets are to be divided; None while there are fewer than `FEWEST_PAIRS`."""
    if len(pairs) < FEWEST_PAIRS:
        return None
    ratios = sorted(pair.ratio for pair in pairs)
    rank = -(-len(ratios) * QUANTILE_PERCENT // 100)
    return min(max(_rounded_up(ratios[rank - 1]), Decimal(1)), LARGEST_RATIO)


def error_distribution(pairs: Iterable[Pair]) -> list[int]:
    """Return how many errors are below the first of `ERROR_EDGES_PERCENT`, from each edge to the next, and above."""
    counts = [0] * (len(ERROR_EDGES_PERCENT) + 1)
    for pair in pairs:
        counts[bisect_right(ERROR_EDGES_PERCENT, pair.error_percent)] += 1
    return counts


def believable_limit(stated_tokens: int | None, *, context_window_tokens: int) -> int | None:
    """Return the limit that a provider named if it is one, and smaller than the configured context window."""
    if stated_tokens is None or not SMALLEST_LIMIT_TOKENS <= stated_tokens < context_window_tokens:
        return None
    return stated_tokens


def limit_to_try(limit_tokens: int | None, refused_tokens: int | None) -> int | None:
    """Return the context window that is to hold for the next prompts; None for the configured one.

    *limit_tokens* went through, or was named by the provider; *refused_tokens*, with the reply, was refused without a
    number, and None where nothing was. The limit is found in a few tries: each of them halves what lies between.
    """
    if limit_tokens is None or refused_tokens is None or refused_tokens - limit_tokens <= limit_tokens // CLOSE:
        return limit_tokens
    return (limit_tokens + refused_tokens) // 2


def is_worth_learning(accepted_tokens: int, limit_tokens: int) -> bool:
    """Tell whether what went through raises the limit by so much that it is worth a row: windows grow bit by bit."""
    return accepted_tokens - limit_tokens > limit_tokens // (2 * CLOSE)


def bounded_reserve_tokens(reserve_tokens: int, *, context_window_tokens: int) -> int:
    """Return a reply reserve that was meant for a larger context window: at most a quarter of this one."""
    return min(reserve_tokens, max(1, context_window_tokens // RESERVE_SHARE))


@dataclass(frozen=True, slots=True)
class RefusedPrompt:
    """A prompt that a provider found too long, with the tokens that it was asked for as a reply.

    *estimated_tokens* is our count of it and *counted_tokens* the provider's, where it named one.
    """

    estimated_tokens: int
    reply_reserve_tokens: int
    counted_tokens: int | None = None

    @property
    def ratio(self) -> Decimal:
        """Counted ÷ estimated; 1 where the count is missing or absurd."""
        pair = Pair(self.estimated_tokens, self.counted_tokens or 0)
        return pair.ratio if 1 <= pair.ratio <= LARGEST_COUNT else Decimal(1)

    @property
    def reserve_to_try_tokens(self) -> int:
        """The most that a reply may take of the next prompt, of half the tokens: alone it may be above the limit."""
        half_tokens = (self.estimated_tokens + self.reply_reserve_tokens) // 2
        return bounded_reserve_tokens(self.reply_reserve_tokens, context_window_tokens=half_tokens)

    def is_explained_by(self, limit_tokens: int) -> bool:
        """Tell whether the numbers say why it was refused: with its reply it is above the limit."""
        return self.estimated_tokens * self.ratio + self.reply_reserve_tokens > limit_tokens

    def tightening(self, *, limit_tokens: int, room_tokens: int, calibration: Decimal) -> Decimal:
        """Return by what to divide the budget once more, so that the next prompt is accepted.

        *limit_tokens* is the context window that is believed by now and *room_tokens* what it leaves for a prompt,
        not yet divided by the *calibration*. If the numbers explain nothing, the next prompt is half of this one.
        """
        if self.is_explained_by(limit_tokens):
            tightening = self.ratio * MARGIN / calibration
        else:
            tightening = room_tokens * HALF / (calibration * max(self.estimated_tokens, 1))
        return max(_rounded_up(tightening), _rounded_up(self.ratio / calibration), Decimal(1))


def _rounded_up(ratio: Decimal) -> Decimal:
    return ratio.quantize(DIGITS, ROUND_CEILING)

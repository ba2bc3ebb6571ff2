"""The cost of context: what earlier messages, pins and the summary added to the cost of a request.

    without history = system + tools + notes + grounding + newest message + tool steps, and the same output
    cost of context = cost − cost without history

History is what stands between the system prompt, with the user's notes, and the newest message: pins, the summary and
older messages. Our count of it is scaled by what the provider counted for the whole prompt, and its stretch is cut out
of the input:

    |system, tools, notes|··history··|grounding, newest, tool steps|
    |read from the cache·············|written···|                  |

What was read from the cache, and then what was written to it, is the beginning of the input. Outside of the cut it
would have been the same without history: the system prompt had been sent before, and what follows history is in the
cache only if this very question was sent before, as it is in a tool loop. So no kind of tokens ever grows, and nothing
costs more without history than with it, unless a price list asks more of smaller requests.

A request that was not billed costs nothing either way. Where there is no window record there was no question, and where
a price is unknown so is the cost: both are None.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from conversations.core.window.window_record import WindowRecord

from .unit_prices import UnitPrices, cost_usd
from .usage import Usage


def cost_without_history_usd(record: WindowRecord | None, usage: Usage, prices: UnitPrices | None) -> Decimal | None:
    """Return what the question would have cost without history, at the prices of its own smaller size.

    None where that, or what it did cost, is unknown, so that the two can always be compared.
    """
    if record is None or cost_usd(usage, prices) is None:
        return None
    return cost_usd(usage_without_history(record, usage), prices)


def usage_without_history(record: WindowRecord, usage: Usage) -> Usage:
    """Return *usage* with the stretch of history cut out of its input."""
    parts = record.parts
    begin = parts["system"] + parts["tools"] + parts["notes"]
    end = begin + parts["pins"] + parts["summary"] + parts["older"]
    first, after = (_as_reported(tokens, record, usage) for tokens in (begin, end))

    def kept(tokens: int) -> int:
        """Return how many of the first *tokens* of the input are outside of the cut."""
        return min(tokens, first) + max(tokens - after, 0)

    cached = kept(usage.known_cached_tokens)
    return replace(
        usage,
        input_tokens=kept(usage.input_tokens),
        cached_input_tokens=None if usage.cached_input_tokens is None else cached,
        cache_write_tokens=kept(usage.known_cached_tokens + usage.cache_write_tokens) - cached,
    )


def _as_reported(tokens: int, record: WindowRecord, usage: Usage) -> int:
    """Return our count of a part of the prompt in tokens of the usage, rounded to the nearest; 0 if that is empty."""
    return (2 * tokens * usage.input_tokens + record.prompt_tokens) // max(2 * record.prompt_tokens, 1)

"""The words that a prompt adds to people's own: how grounding is shown to the language model.

What is counted is what is rendered here, so this is the one place that knows the form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GROUNDING_HEADER = "Passages looked up for the question below, best first. Cite them by number, like [1]."
QUESTION_HEADER = "Question:"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of grounding: *text* from *source*, with the *score* it was found by (higher is better).

    *number* is the one under which it is stored with its message, from 1; without one it is its place among those that
    were looked up. What a reply cites is neither, but the place in the prompt.
    """

    text: str
    source: str = ""
    score: float | None = None
    number: int | None = None


def render_passage(number: int, passage: Passage) -> str:
    """Return the block of one passage; *number*, from 1, is what the reply cites."""
    return f"[{number}] {passage.source}".rstrip() + f"\n{passage.text}"


def render_question(content: str, passages: Sequence[Passage], *, left_out: int = 0) -> str:
    """Return the newest user message as it is sent: its grounding, then its content."""
    if not passages:
        return content
    blocks = [GROUNDING_HEADER]
    blocks += [render_passage(number, passage) for number, passage in enumerate(passages, start=1)]
    if left_out:
        more = "1 more passage was" if left_out == 1 else f"{left_out} more passages were"
        blocks.append(f"({more} found but did not fit.)")
    blocks.append(f"{QUESTION_HEADER}\n{content}")
    return "\n\n".join(blocks)

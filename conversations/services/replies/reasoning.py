"""Reasoning: what the language model thought in one step of a reply, and the columns of its message that keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conversations.core.window.budget import CountText


@dataclass(frozen=True, slots=True)
class Reasoning:
    """*text* was thought within *seconds*. *tokens* are what the provider reports of it; None where it does not."""

    text: str = ""
    seconds: float = 0.0
    tokens: int | None = None

    def to_columns(self, count_text: CountText) -> dict[str, Any]:
        """Return the columns of a message; what is not reported is counted. A step without reasoning has no numbers."""
        if not self.text:
            return dict(NO_COLUMNS)
        return {
            "reasoning": self.text,
            "reasoning_tokens": self.tokens or count_text(self.text),
            "reasoning_tokens_estimated": not self.tokens,
            "reasoning_seconds": self.seconds,
        }


NO_REASONING = Reasoning()
NO_COLUMNS: Mapping[str, Any] = {
    "reasoning": "",
    "reasoning_tokens": None,
    "reasoning_tokens_estimated": False,
    "reasoning_seconds": None,
}


def shown_seconds(seconds: float) -> int:
    """Return whole seconds for people: what took any time at all took at least one."""
    return max(1, round(seconds)) if seconds > 0 else 0

"""A conversation as it grows: a question is sent with a window, its reply is stored, and the next window follows."""

from __future__ import annotations

from dataclasses import dataclass, field

from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.window.compute_window import Turn, Window, compute_window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import SlidingWindow, WindowPolicy

from .languages import by_character, language_model, message

SYSTEM_PROMPT = "be brief"


@dataclass
class Dialogue:
    """Lengths are tokens; *budget_tokens* is what system prompt, older messages and question share."""

    budget_tokens: int = 400
    policy: WindowPolicy = field(default_factory=SlidingWindow)
    stored: list[HistoryMessage] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)

    def say(self, length: int, reply_length: int, *, grounding_length: int = 0) -> Window:
        """Send a question, and store it with its reply."""
        window = self.window(length, grounding_length=grounding_length)
        self.windows.append(window)
        self.stored += [self._next(length), self._next(reply_length, after=1)]
        return window

    def window(self, length: int, *, grounding_length: int = 0, steps: tuple[HistoryMessage, ...] = ()) -> Window:
        """Return the window with which a question of *length* would be sent now."""
        grounding = [PromptPassage("x" * grounding_length)] if grounding_length else []
        return compute_window(
            Turn(self._next(length), SYSTEM_PROMPT, grounding, steps=steps),
            reversed(self.stored),
            language_model=language_model(self.budget_tokens + 20),
            policy=self.policy,
            count_text=by_character,
            anchor=self.windows[-1].record.first_position if self.windows else None,
        )

    def _next(self, length: int, *, after: int = 0) -> HistoryMessage:
        position = len(self.stored) + after
        return message(position, f"{position}".ljust(length, ".")[:length])

    @property
    def moves(self) -> list[int]:
        """The requests, by number, whose windows did not begin where the one before began."""
        beginnings = [window.record.first_position for window in self.windows]
        return [number for number in range(1, len(beginnings)) if beginnings[number] != beginnings[number - 1]]

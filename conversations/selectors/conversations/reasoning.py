"""What a reply, or a step of it, thought, as pages show it: the beginning, and the numbers."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Case, F, TextField, When
from django.db.models.functions import Left, Length

from conversations.models.message import MOST_REASONING_CHARACTERS

MOST_SHOWN_CHARACTERS = 10_000  # of what does not stream any more; a page may hold many
# All of it while it streams, because what comes next follows it.
SHOWN_REASONING = {
    "shown_reasoning": Case(
        When(state="streaming", then=F("reasoning")),
        default=Left("reasoning", MOST_SHOWN_CHARACTERS),
        output_field=TextField(),
    ),
    "reasoning_characters": Length("reasoning"),
}
REASONING_COLUMNS = (
    *("shown_reasoning", "reasoning_characters"),
    *("reasoning_tokens", "reasoning_tokens_estimated", "reasoning_seconds"),
)


class ShownReasoning(NamedTuple):
    """Of the message *message_id*: its first characters as *text*, of so many *characters*.

    *tokens* is None until its step has ended, and our own count where *is_estimated*.
    """

    message_id: int
    text: str
    characters: int
    tokens: int | None
    is_estimated: bool
    seconds: float

    @property
    def is_whole(self) -> bool:
        """Whether *text* is all of it."""
        return len(self.text) == self.characters

    @property
    def was_cut(self) -> bool:
        """Whether no more than this is kept of it."""
        return self.characters >= MOST_REASONING_CHARACTERS


def shown_reasoning(
    message_id: int, text: str, characters: int, tokens: int | None, is_estimated: bool, seconds: float | None
) -> ShownReasoning | None:
    """Return the values of `REASONING_COLUMNS` as one; None where nothing was thought."""
    return ShownReasoning(message_id, text, characters, tokens, is_estimated, seconds or 0.0) if text else None

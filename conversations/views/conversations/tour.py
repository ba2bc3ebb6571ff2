"""The tour of the window: three messages that the demo model's empty page offers, to be sent one after the other.

The first is out of view after the second, which is nearly as long as the window, and recalled for the third.
"""

from __future__ import annotations

from typing import NamedTuple

from django.utils.translation import gettext

from conversations.core.errors import PolicyFailed, PromptError
from conversations.core.window.policies import SlidingWindow
from conversations.models import Conversation
from conversations.providers.catalog.language_models import demo_is_used
from conversations.services.language_models.effective_policy import conversation_policy
from conversations.services.language_models.model_context import conversation_context
from conversations.services.windows.build_window import build_window, draft_message

EXAMPLE_NAME = "Anna"
# Less than the first message and its reply take, so that they are out of view as soon as the filler is sent.
TOKENS_LEFT = 30


class Tour(NamedTuple):
    """*introduction* is sent first; then *filler_lines* lines like *filler_line*, numbered; then *question*."""

    introduction: str
    filler_line: str
    filler_lines: int
    question: str


def recalls_messages(conversation: Conversation) -> bool:
    """Tell whether something of what leaves the window is brought back for the questions that need it."""
    policy = conversation_policy(conversation)
    return policy.recalls and policy.recall_share > 0


def tour_of(conversation: Conversation) -> Tour | None:
    """Return the tour, or None where the demo model does not answer, or messages don't leave the window by size."""
    policy = conversation_policy(conversation)
    if not demo_is_used() or not isinstance(policy, SlidingWindow) or policy.message_cap_tokens:
        return None
    line = gettext("Row {number}: seat A at the window, seat B in the middle, seat C on the aisle.")
    lines = _lines_that_fill(conversation, line)
    introduction = gettext("My name is %(name)s.") % {"name": conversation.owner.name or EXAMPLE_NAME}
    return Tour(introduction, line, lines, gettext("What is my name?")) if lines > 0 else None


def _lines_that_fill(conversation: Conversation, line: str) -> int:
    context = conversation_context(conversation)
    try:
        record = build_window(conversation, draft_message("", position=0, context=context)).record
    except (PromptError, PolicyFailed):
        return 0
    room_tokens = record.budget_tokens - record.prompt_tokens - TOKENS_LEFT
    ten_lines = "\n".join(line.format(number=100 + number) for number in range(10))
    return room_tokens * 10 // (context.count_text(ten_lines) + 1)

"""The window that a draft would be sent in if it were sent now. Nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass

from chatsite.accounts.models import User
from conversations.core.budget import budget_tokens
from conversations.core.errors import ConversationError, PolicyFailed, PromptError
from conversations.core.history import HistoryMessage
from conversations.core.policy import WindowPolicy
from conversations.core.text import UNSTORABLE
from conversations.core.window import Window
from conversations.models import Conversation

from .build_window import build_window, draft_message
from .conversations import scenario_to_begin_with
from .language import language_of, policy_of


@dataclass(frozen=True, slots=True)
class DraftEstimate:
    """A draft with its *window*; without one, *error* says why it can't be sent. *conversation* may not be stored."""

    conversation: Conversation
    draft: HistoryMessage
    budget_tokens: int
    window: Window | None = None
    error: ConversationError | None = None

    @property
    def content_tokens(self) -> int:
        return self.draft.content_tokens

    @property
    def tokens_over(self) -> int:
        return self.error.tokens_over if isinstance(self.error, PromptError) else 0

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompt; of one that is refused, the budget and what goes over it."""
        return self.window.record.prompt_tokens if self.window else self.budget_tokens + self.tokens_over


def estimate_draft(
    *,
    user: User,
    conversation: Conversation | None,
    content: str,
    scenario_id: int | None = None,
    policy: WindowPolicy | None = None,
) -> DraftEstimate:
    """Return what sending *content* now would take; without a conversation it would begin one with the scenario.

    *policy* stands for the scenario's own.
    """
    if conversation is None:
        conversation = Conversation(owner=user, scenario=scenario_to_begin_with(user, scenario_id))
    language = language_of(conversation.scenario)
    head = conversation.head
    draft = draft_message(UNSTORABLE.sub("", content), position=head.position + 1 if head else 0, language=language)
    limit_tokens = budget_tokens(language.language_model, calibration=language.calibration)
    try:
        policy = policy or policy_of(conversation.scenario)
        limit_tokens = policy.budget_tokens(language.language_model, calibration=language.calibration)
        window = build_window(conversation, draft, policy=policy)
    except (PromptError, PolicyFailed) as error:
        return DraftEstimate(conversation, draft, limit_tokens, error=error)
    return DraftEstimate(conversation, draft, limit_tokens, window)

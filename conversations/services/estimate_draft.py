"""What a message would cost before it is sent. Nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass

from chatsite.accounts.models import User
from conversations.core.budget import budget_tokens
from conversations.core.errors import PromptError
from conversations.core.policy import WindowPolicy
from conversations.core.text import UNSTORABLE
from conversations.models import Conversation

from .build_window import build_window, draft_message
from .conversations import scenario_to_begin_with
from .language import Language, language_of


@dataclass(frozen=True, slots=True)
class DraftEstimate:
    """Tokens of a draft and of the prompt it would be sent in. *problem* says why it can't be sent, if it can't."""

    content_tokens: int
    prompt_tokens: int
    budget_tokens: int
    first_position: int
    tokens_over: int = 0
    problem: str = ""


def estimate_draft(
    *, user: User, conversation: Conversation | None, content: str, scenario_id: int | None = None
) -> DraftEstimate:
    """Return what sending *content* now would take; without a conversation it would begin one with the scenario."""
    if conversation is None:
        conversation = Conversation(owner=user, scenario=scenario_to_begin_with(user, scenario_id))
    language = language_of(conversation.scenario)
    head = conversation.head
    draft = draft_message(UNSTORABLE.sub("", content), position=head.position + 1 if head else 0, language=language)
    try:
        record = build_window(conversation, draft).record
    except PromptError as error:
        limit = _budget(conversation.scenario.policy, language)
        return DraftEstimate(
            draft.content_tokens, limit + error.tokens_over, limit, draft.position, error.tokens_over, str(error)
        )
    return DraftEstimate(draft.content_tokens, record.prompt_tokens, record.budget_tokens, record.first_position)


def _budget(policy: WindowPolicy, language: Language) -> int:
    return budget_tokens(
        language.language_model,
        reply_reserve_tokens=policy.reply_reserve_tokens,
        cap_tokens=policy.cap_tokens,
        calibration=language.calibration,
    )

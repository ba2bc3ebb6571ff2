"""The template context of a conversation's summary: its current version, what can be done about it, what went wrong."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.core.errors import PolicyFailed
from conversations.core.window.policies import SlidingWindow, WindowPolicy
from conversations.models import Conversation, Summary
from conversations.selectors.conversations.summary import previous_summary, sendable_summaries, summary_state
from conversations.services.language_models.effective_policy import conversation_policy, effective_policy
from conversations.wording.error_sentences import ReaderLocale, stored_error_sentence


@dataclass(frozen=True, slots=True)
class SummaryView:
    """The summary of a conversation, as its panel shows it.

    *is_kept* where its window policy sends one; *may_be_switched* where that is the conversation's own choice.
    *current* is the newest version that holds, if there is one, *previous* the one that undoing leads to. *in_use* is
    sent as long as the window begins where it does; if that is another version, *current* follows it then. *problem* is
    why it could not be brought up to date, as a sentence; *is_due* tells that it is being written.
    """

    is_kept: bool
    may_be_switched: bool
    current: Summary | None = None
    in_use: Summary | None = None
    previous: Summary | None = None
    problem: str = ""
    is_due: bool = False


def summary_view(conversation: Conversation, reader: ReaderLocale) -> SummaryView:
    """Return it. A window policy that can't be loaded keeps none; a conversation not yet stored has no versions."""
    try:
        is_kept = conversation_policy(conversation).summary_limit_tokens > 0
        may_be_switched = _has_its_own_choice(effective_policy(conversation.scenario))
    except (PolicyFailed, ValueError):
        return SummaryView(is_kept=False, may_be_switched=False)
    if not is_kept or conversation.pk is None:
        return SummaryView(is_kept, may_be_switched)
    state, sendable = summary_state(conversation), sendable_summaries(conversation)
    return SummaryView(
        is_kept,
        may_be_switched,
        sendable.current if sendable else None,
        sendable.in_use if sendable else None,
        previous_summary(sendable.current) if sendable else None,
        stored_error_sentence(state.error_code, state.error_params, reader) if state else "",
        is_due=bool(state and state.due_at),
    )


def _has_its_own_choice(policy: WindowPolicy) -> bool:
    return type(policy) is SlidingWindow and policy.summary_cap_tokens > 0

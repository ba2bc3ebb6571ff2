"""Estimate a draft: the window and the cost of sending it now, and what forbids it. Nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils import timezone

from chatsite.accounts.limits import effective_limits
from chatsite.accounts.models import User
from chatsite.postgres.pool import release_connection
from conversations.core.errors import (
    ConversationError,
    MoneyReserved,
    PicturesTooLargeForModel,
    PolicyFailed,
    PromptError,
    TooManyPicturesForModel,
)
from conversations.core.money.allowance import Allowance, allowance_error
from conversations.core.text.storable_text import UNSTORABLE
from conversations.core.window.budget import budget_tokens
from conversations.core.window.compute_window import Window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import WindowPolicy
from conversations.models import Conversation
from conversations.selectors.conversations.documents import count_documents_for
from conversations.selectors.conversations.folders import find_folder
from conversations.selectors.conversations.pictures import SentPicture, pictures_of_conversation
from conversations.selectors.conversations.web_search import searches_web
from conversations.services.conversations.conversations import KEPT_TEMPORARILY
from conversations.services.conversations.default_scenario import scenario_to_begin_with
from conversations.services.grounding.recall import recall_for_draft
from conversations.services.language_models.effective_policy import conversation_policy
from conversations.services.language_models.model_context import LONG_CHARACTERS, ModelContext, conversation_context
from conversations.services.limits.message_checks import (
    check_message_length,
    check_messages_are_allowed,
    user_allowances,
    worst_reply_cost,
)
from conversations.services.windows.build_window import build_window, draft_message, newest_with_pictures


@dataclass(frozen=True, slots=True)
class DraftEstimate:
    """A draft with its *window*, if one holds it. *error* says why it can't be sent. *conversation* may not be stored.

    When it is sent it is looked up in so many *documents*, and on the web if its conversation *searches_web*; what is
    found is not in the window yet. Where money is limited, *allowances* say what is left. *worst_usd* is what sending
    it may cost, there and where its owner is shown costs; None is unknown.
    """

    conversation: Conversation
    draft: HistoryMessage
    budget_tokens: int
    window: Window | None = None
    error: ConversationError | None = None
    allowances: Sequence[Allowance] = ()
    worst_usd: Decimal | None = None
    documents: int = 0

    @property
    def content_tokens(self) -> int:
        return self.draft.content_tokens

    @property
    def picture_tokens(self) -> int:
        """What its pictures take as they would be sent, or the lines in their place."""
        if self.window is None:
            return self.draft.picture_tokens
        return sum(entry.picture_tokens for entry in self.window.record.entries if entry.kind == "newest")

    @property
    def searches_web(self) -> bool:
        return searches_web(self.conversation)

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
    folder_id: int | None = None,
    language_model: str = "",
    policy: WindowPolicy | None = None,
    with_recall: bool = False,
    picture_ids: Sequence[int] = (),
    begins_searching: bool = False,
    begins_temporary: bool = False,
) -> DraftEstimate:
    """Return what sending *content* now would take; without a conversation it would begin one with the scenario
    and the *language_model*, if that is on offer, in the folder.

    *picture_ids* are pictures of the conversation that would be sent with it; others are passed over.
    *policy* stands for the scenario's own. *with_recall* looks up what would be recalled, which takes longer.
    A look-up that fails leaves the window as it is, which says so. *begins_searching* tells that a conversation which
    it would begin searches the web; nothing is searched for here. *begins_temporary* tells that it would be temporary.
    Raises `FolderNotFound` or `ScenarioNotFound` where what it would begin with is not the user's.
    """
    if conversation is None:
        scenario = scenario_to_begin_with(user, scenario_id)
        conversation = Conversation(
            owner=user,
            scenario=scenario,
            folder=find_folder(user, folder_id) if folder_id and not begins_temporary else None,
            language_model=language_model,
            searches_web=begins_searching,
            temporary_until=timezone.now() + KEPT_TEMPORARILY if begins_temporary else None,
        )
    context, head = conversation_context(conversation), conversation.head
    if len(content) > LONG_CHARACTERS:
        release_connection()  # others need it more than what is counted for a while
    draft = draft_message(UNSTORABLE.sub("", content), position=head.position + 1 if head else 0, context=context)
    pictures = pictures_of_conversation(conversation.pk, picture_ids) if conversation.pk else ()
    return _limited(user, _fitted(conversation, draft, pictures, context, policy, with_recall))


def _fitted(
    conversation: Conversation,
    draft: HistoryMessage,
    pictures: Sequence[SentPicture],
    context: ModelContext,
    policy: WindowPolicy | None,
    with_recall: bool,
) -> DraftEstimate:
    """Return the draft with the window that holds it, if there is one."""
    content = draft.message.content  # without lines in place of pictures
    limit_tokens = budget_tokens(context.language_model, calibration=context.calibration)
    try:
        policy = policy or conversation_policy(conversation)
        limit_tokens = policy.budget_tokens(context.language_model, calibration=context.calibration)
        draft = newest_with_pictures(draft, pictures, conversation=conversation, policy=policy)
        window = build_window(conversation, draft, policy=policy)
        limit_of_recall, begins_at = window.record.recall.limit_tokens, window.record.first_position
        if with_recall and limit_of_recall and content.strip():
            found = recall_for_draft(conversation, content, before_position=begins_at, limit_tokens=limit_of_recall)
            window = build_window(conversation, draft, policy=policy, recalled=found.passages, recall_error=found.error)
    except (PromptError, PolicyFailed, TooManyPicturesForModel, PicturesTooLargeForModel) as error:
        return DraftEstimate(conversation, draft, limit_tokens, error=error)
    return DraftEstimate(conversation, draft, limit_tokens, window)


def _limited(user: User, fitted: DraftEstimate) -> DraftEstimate:
    """Return the draft with what the user's limits say to it.

    What is over in a moment says nothing: too many messages in a minute, money held back for replies being written.
    """
    limits = effective_limits(user)
    found = user_allowances(user, limits)
    documents = count_documents_for(fitted.conversation)
    limited = replace(fitted, allowances=found, documents=documents)
    if fitted.window and (found or user.shows_costs):
        is_looked_up = bool(documents) or limited.searches_web
        worst = worst_reply_cost(fitted.window.record, fitted.conversation, is_looked_up=is_looked_up)
        limited = replace(limited, worst_usd=worst.within(found))
    try:
        check_messages_are_allowed(limits)
        check_message_length(fitted.content_tokens, limits)
    except ConversationError as error:
        return replace(limited, error=error)
    if fitted.error or not fitted.window:
        return limited
    refusal = allowance_error(found, limited.worst_usd)
    return limited if isinstance(refusal, MoneyReserved) else replace(limited, error=refusal)

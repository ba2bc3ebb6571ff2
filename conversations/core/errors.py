"""Everything that can go wrong, as one tree.

    ConversationError                 code is stable, the message is fit for the user; details go to the log
    ├ InputError                      the person can mend it
    │ ├ EmptyMessage, RequestTooLarge, UploadTooLarge, ReplyInProgress, NothingToRetry
    │ └ MessageExcluded, MessageNotPinnable, InvalidHistory
    ├ PromptError                     nothing was sent
    │ ├ SystemPromptTooLong, PinsTooLong, ToolSchemasTooLong      our fixed part
    │ ├ ToolStepsTooLong                                          what the tools of this reply have answered
    │ ├ ConversationTooLong                                       the policy does not drop
    │ └ MessageTooLong                                            the person can shorten it
    │   └ MessageTooLongForScenario                               it would fit, but not beside the fixed part
    ├ PolicyFailed                    nothing was sent either: the policy itself is wrong
    ├ CompletionError                 the provider failed
    │ ├ ProviderUnavailable           retryable
    │ │ └ ProviderTimedOut, StreamBroken
    │ ├ RateLimited                   retryable
    │ ├ ProviderRejected              trying again will not help
    │ │ └ CredentialsRejected, QuotaExhausted, LanguageModelNotFound, ContextTooLong
    │ ├ MalformedStream               not a reply at all
    │ └ EmptyReply, ReplyInterrupted, ReplyShutOut    nothing, or not all, came of it
    ├ AccessError                     not allowed
    │ ├ SignInRequired
    │ ├ GateShut                      the account is not enough
    │ │ └ GatePasswordRequired, SeatsTaken, AccountBlocked
    │ ├ MessagesForbidden, UploadsForbidden                       no waiting helps
    │ ├ PriceUnknown, ReplyTooExpensive, MoneyForbidden           nor here
    │ ├ LimitReached                  says when it opens again
    │ │ ├ MessageRateReached, UploadsUsedUp
    │ │ └ MoneyUsedUp                 the person's, of a day
    │ │   └ MoneyOfMonthUsedUp, SiteMoneyUsedUp, SiteMoneyOfMonthUsedUp
    │ ├ RepliesAtOnceReached          opens when one of them ends
    │ ├ MoneyHeldBack                 may open when one of them ends
    │ │ └ SiteMoneyHeldBack
    │ └ ConversationNotFound, MessageNotFound, ScenarioNotFound    also when it is someone else's
    └ FrameError                      the browser sent nonsense

A class states its sentence as a template, so that the edge can translate it: `error.template % error.params`.
"""

from __future__ import annotations

import datetime as dt
from typing import ClassVar

from .filling import fill


class ConversationError(Exception):
    """Base of the tree. *params* fill the class's `template`."""

    code: ClassVar[str] = "error"
    template: ClassVar[str] = "Something went wrong on our side. Your text is kept; please try again."

    def __init__(self, **params: object) -> None:
        self.params = params
        super().__init__(fill(self.template, params))


# The person can mend it


class InputError(ConversationError):
    code = "invalid_input"
    template = "That could not be understood."


class EmptyMessage(InputError):
    code = "message_empty"
    template = "There is nothing to send yet: the message is empty."


class RequestTooLarge(InputError):
    """Too large to be read at all, so by how many tokens nobody can tell."""

    code = "request_too_large"
    template = "This is far more than can be sent at once. Shorten it and send it again."


class UploadTooLarge(InputError):
    code = "upload_too_large"
    template = "The file is larger than %(kilobytes)s kB, which is the most that you may send."

    def __init__(self, *, kilobytes: int) -> None:
        super().__init__(kilobytes=f"{kilobytes:,}")


class ReplyInProgress(InputError):
    code = "reply_in_progress"
    template = "A reply is still being written here. Stop it or wait for it, then try again."


class NothingToRetry(InputError):
    code = "nothing_to_retry"
    template = "Only the last reply can be made again, and only once it has ended."


class MessageExcluded(InputError):
    code = "message_excluded"
    template = "This message is excluded, so it is never sent. Include it again first."


class MessageNotPinnable(InputError):
    code = "message_not_pinnable"
    template = "This message can't be pinned: by itself it is never sent."


class InvalidHistory(InputError):
    """*reason* is a clause for the person, a literal that is translated like a template: "two of them are the same"."""

    code = "history_invalid"
    template = "These messages can't be imported: %(reason)s."

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason=reason)


# Nothing was sent


class PromptError(ConversationError):
    """The window can't hold what must be in it; *tokens_over* says by how much."""

    code = "prompt_too_long"
    template = "The request is %(tokens_over)s tokens too long for this language model."

    def __init__(self, *, tokens_over: int, **params: object) -> None:
        self.tokens_over = tokens_over
        super().__init__(tokens_over=f"{tokens_over:,}", **params)


class SystemPromptTooLong(PromptError):
    code = "system_prompt_too_long"
    template = "The scenario's system prompt is %(tokens_over)s tokens too long for its language model."


class PinsTooLong(PromptError):
    code = "pins_too_long"
    template = "The pinned messages are %(tokens_over)s tokens too long together. Unpin some of them."


class ToolSchemasTooLong(PromptError):
    code = "tool_schemas_too_long"
    template = "The scenario's tools take %(tokens_over)s tokens too many. Switch some of them off."


class ToolStepsTooLong(PromptError):
    code = "tool_steps_too_long"
    template = "The tool calls of this reply take %(tokens_over)s tokens too many."


class ConversationTooLong(PromptError):
    """The policy `full` refuses rather than drops."""

    code = "conversation_too_long"
    template = (
        "The conversation is at least %(tokens_over)s tokens too long, and its scenario does not allow leaving any out."
    )


class MessageTooLong(PromptError):
    code = "message_too_long"
    template = "Your message is %(tokens_over)s tokens too long. Shorten it and send it again."


class MessageTooLongForScenario(MessageTooLong):
    """The message alone would fit the budget, but not beside what is always sent with it."""

    code = "message_too_long_for_scenario"
    template = (
        "Your message is %(tokens_over)s tokens too long to be sent together with the scenario's system prompt "
        "and everything else that always goes with it. Shorten it and send it again."
    )


class PolicyFailed(ConversationError):
    """A window policy raised, or chose what may not be sent. *detail* is for the log, never for the page."""

    code = "window_policy_failed"
    template = "The scenario's window policy chose something that can't be sent. The scenario has to be mended."

    def __init__(self, detail: str = "") -> None:
        self.detail = detail
        super().__init__()


# The provider failed


class CompletionError(ConversationError):
    """*retryable*: the same request may succeed if sent again; *may_be_billed*: tokens may have been used all the same.

    *detail* is for the log, never for the page.
    """

    code = "completion_failed"
    template = "The language model's provider answered with an error."
    retryable: ClassVar[bool] = False
    may_be_billed: ClassVar[bool] = False

    def __init__(
        self,
        *,
        detail: str = "",
        retry_after_seconds: float | None = None,
        request_id: str = "",
        **params: object,
    ) -> None:
        self.detail = detail
        self.retry_after_seconds = retry_after_seconds
        self.request_id = request_id
        super().__init__(**params)


class ProviderUnavailable(CompletionError):
    code = "provider_unavailable"
    template = "The language model can't be reached at the moment. Please try again in a minute."
    retryable = True


class ProviderTimedOut(ProviderUnavailable):
    code = "provider_timed_out"
    template = "The language model took too long to answer. Please try again."
    may_be_billed = True


class StreamBroken(ProviderUnavailable):
    code = "stream_broken"
    template = "The connection to the language model broke before the reply was finished."
    may_be_billed = True


class RateLimited(CompletionError):
    code = "provider_rate_limited"
    template = "The language model is busy: its provider limits how often it may be asked. Please try again shortly."
    retryable = True


class ProviderRejected(CompletionError):
    code = "provider_rejected"
    template = "The provider did not accept the request. Trying again unchanged will not help."


class CredentialsRejected(ProviderRejected):
    code = "credentials_rejected"
    template = "The provider refused this site's credentials. The site's admin has to mend that."


class QuotaExhausted(ProviderRejected):
    code = "quota_exhausted"
    template = "This site's account with the provider has no money left. The site's admin has to mend that."


class LanguageModelNotFound(ProviderRejected):
    code = "language_model_not_found"
    template = "The provider does not know this language model. The site's admin has to choose another."


class ContextTooLong(ProviderRejected):
    """The provider says that the prompt is too long.

    *limit_tokens* is its limit and *prompt_tokens* its count of the prompt, where it names them.
    """

    code = "context_too_long"
    template = "The provider found the conversation too long for its language model."

    def __init__(
        self,
        *,
        limit_tokens: int | None = None,
        prompt_tokens: int | None = None,
        detail: str = "",
        request_id: str = "",
    ) -> None:
        self.limit_tokens = limit_tokens
        self.prompt_tokens = prompt_tokens
        super().__init__(detail=detail, request_id=request_id)


class MalformedStream(CompletionError):
    code = "malformed_stream"
    template = "The language model's provider sent something that is not a reply."
    may_be_billed = True


class EmptyReply(CompletionError):
    code = "empty_reply"
    template = "The language model sent an empty reply. Please try again."
    may_be_billed = True


class ReplyInterrupted(CompletionError):
    """Whoever made the reply is gone: the process ended in the middle of it."""

    code = "reply_interrupted"
    template = "The reply was interrupted before it was finished. What had come is kept; you can try again."
    may_be_billed = True


class ReplyShutOut(CompletionError):
    """The person may no longer be in: blocked, deactivated, or the gate has shut."""

    code = "reply_shut_out"
    template = "This reply was stopped when the site was shut to your account. What had come is kept."
    may_be_billed = True


# Not allowed


class AccessError(ConversationError):
    code = "not_allowed"
    template = "You may not do that."


class SignInRequired(AccessError):
    code = "sign_in_required"
    template = "You are signed out. Sign in again; your text is kept."


class GateShut(AccessError):
    """The person has an account that may be used, and may not come in with it (now, or any more)."""

    code = "gate_shut"
    template = "This site is not open to your account at the moment."


class GatePasswordRequired(GateShut):
    code = "gate_password_required"
    template = "This site asks for its password before you can go on. Your text is kept."


class SeatsTaken(GateShut):
    code = "seats_taken"
    template = "All seats of this site are taken. You are on the waiting list; your text is kept."


class AccountBlocked(GateShut):
    code = "account_blocked"
    template = "Your account may not use this site."


class MessagesForbidden(AccessError):
    """A limit of 0 allows nothing."""

    code = "messages_forbidden"
    template = "Your account may read here, but not send messages."


class UploadsForbidden(AccessError):
    code = "uploads_forbidden"
    template = "Your account may not send files."


class PriceUnknown(AccessError):
    """Money is limited, and nobody knows what the request would cost."""

    code = "price_unknown"
    template = (
        "The price of this language model is not known, so it can't be used where money is limited. "
        "The site's admin can enter its price."
    )


class RepliesAtOnceReached(AccessError):
    code = "replies_at_once_reached"
    template = "Replies of yours are still being written, as many as you may have at once. Wait for one or stop one."


class ReplyTooExpensive(AccessError):
    """It may cost more than a whole day or month allows, so no waiting helps."""

    code = "reply_too_expensive"
    template = (
        "This reply may cost more than is ever allowed here in a day or a month. "
        "Shorten your message or choose a cheaper scenario."
    )


class MoneyForbidden(AccessError):
    """The limit is 0, and the language model has a price."""

    code = "money_forbidden"
    template = "Your account may not spend money here, and this language model costs some. Choose another scenario."


class MoneyHeldBack(AccessError):
    """Nothing but the worst case of replies that are being written stands in the way; most of them cost less."""

    code = "money_held_back"
    template = (
        "What is left of your money is held back for replies of yours that are still being written. "
        "Wait for one or stop one."
    )


class SiteMoneyHeldBack(MoneyHeldBack):
    code = "site_money_held_back"
    template = (
        "What is left of this site's money is held back for replies that are still being written. "
        "Try again in a moment."
    )


class LimitReached(AccessError):
    """*opens_at* is when the same request will be accepted again."""

    code = "limit_reached"
    template = "Your limit is reached for now. It opens again at %(opens_at)s."

    def __init__(self, *, opens_at: dt.datetime) -> None:
        self.opens_at = opens_at
        super().__init__(opens_at=opens_at.astimezone(dt.UTC).isoformat())


class MessageRateReached(LimitReached):
    code = "message_rate_reached"
    template = "You have sent many messages in a short time. You can send again at %(opens_at)s."


class UploadsUsedUp(LimitReached):
    code = "uploads_used_up"
    template = "You have sent as many files as you may in a day. You can send again at %(opens_at)s."


class MoneyUsedUp(LimitReached):
    """What is left of the money does not cover what the request may cost at most."""

    code = "money_used_up"
    template = "What is left of your money for today does not cover this reply. It opens again at %(opens_at)s."


class MoneyOfMonthUsedUp(MoneyUsedUp):
    code = "money_of_month_used_up"
    template = "What is left of your money for this month does not cover this reply. It opens again at %(opens_at)s."


class SiteMoneyUsedUp(MoneyUsedUp):
    code = "site_money_used_up"
    template = "What is left of this site's money for today does not cover this reply. It opens again at %(opens_at)s."


class SiteMoneyOfMonthUsedUp(MoneyUsedUp):
    code = "site_money_of_month_used_up"
    template = (
        "What is left of this site's money for this month does not cover this reply. It opens again at %(opens_at)s."
    )


class ConversationNotFound(AccessError):
    code = "conversation_not_found"
    template = "There is no such conversation, or it is not yours."


class MessageNotFound(AccessError):
    code = "message_not_found"
    template = "There is no such message, or it is not yours."


class ScenarioNotFound(AccessError):
    code = "scenario_not_found"
    template = "That scenario is not offered any more. Choose another one; your text is kept."


# The browser sent nonsense


class FrameError(ConversationError):
    """*detail* names the field that is wrong."""

    code = "frame_invalid"
    template = "The page sent something that the server does not understand. Reload the page."

    def __init__(self, detail: str = "") -> None:
        self.detail = detail
        super().__init__()

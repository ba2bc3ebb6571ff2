"""Errors of access: not signed in, not admitted, over a limit, without money, or another user's object."""

from __future__ import annotations

import datetime as dt
from math import ceil

from .base import ConversationError


class AccessError(ConversationError):
    code = "not_allowed"
    template = "You are not allowed to do that."


class SignInRequired(AccessError):
    code = "sign_in_required"
    template = "You are signed out. Sign in again; your text is kept."


class GateClosed(AccessError):
    """The account is valid, and not admitted to this site now."""

    code = "gate_closed"
    template = "This site is closed to your account at the moment."


class GatePasswordRequired(GateClosed):
    code = "gate_password_required"
    template = "Enter this site’s password to continue. Your text is kept."


class SeatsTaken(GateClosed):
    code = "seats_taken"
    template = "All seats of this site are taken. You are on the waiting list; your text is kept."


class AccountBlocked(GateClosed):
    code = "account_blocked"
    template = "Your account is not allowed to use this site."


class MessagesForbidden(AccessError):
    """A limit of 0 allows nothing."""

    code = "messages_forbidden"
    template = "Your account can read here, but not send messages."


class LanguageModelNotOffered(AccessError):
    """The settings do not name it, or offer it to others alone."""

    code = "language_model_not_offered"
    template = "This language model is not on offer to you. Choose another one."


class UploadsForbidden(AccessError):
    code = "uploads_forbidden"
    template = "Your account is not allowed to upload files."


class PriceUnknown(AccessError):
    """Money is limited, and it is not known what the request would cost."""

    code = "price_unknown"
    template = (
        "The price of this language model is not known, so it can’t be used while spending is "
        "limited. An admin of this site can enter its price."
    )


class TooManyRepliesAtOnce(AccessError):
    code = "too_many_replies_at_once"
    template = "You already have as many replies in progress as you may. Wait for one to finish, or stop one."


class TooManyRequestsAtOnce(AccessError):
    """So many requests of this user wait for their turn that no more are kept waiting."""

    code = "too_many_requests_at_once"
    template = "You have sent very many requests at once. Wait a moment, then try again."


class TooManyAwaitingApproval(AccessError):
    """Each reserves the money for its longest loop while it awaits approval, so their number is limited."""

    code = "too_many_awaiting_approval"
    template = "Too many of your replies are waiting for your approval. Allow or refuse their tool calls, or stop one."


class ReplyTooExpensive(AccessError):
    """It may cost more than a whole day or month allows, so no waiting helps."""

    code = "reply_too_expensive"
    template = (
        "This reply may cost more than the limit for a whole day or month. Shorten your message "
        "or choose a cheaper scenario."
    )


class MoneyForbidden(AccessError):
    """The limit is 0, and the language model has a price."""

    code = "money_forbidden"
    template = "Your account has no allowance, and this language model costs money. Choose another scenario."


class MoneyReserved(AccessError):
    """Nothing but the worst case of replies that are being written stands in the way; most of them cost less."""

    code = "money_reserved"
    template = "The rest of your allowance is reserved for replies in progress. Wait for one to finish, or stop one."


class SiteMoneyReserved(MoneyReserved):
    code = "site_money_reserved"
    template = "The rest of this site’s budget is reserved for replies in progress. Try again in a moment."


class LimitReached(AccessError):
    """*opens_at* is when the same request will be accepted again."""

    code = "limit_reached"
    template = "You have reached your limit for now. It resets at %(opens_at)s."

    def __init__(self, *, opens_at: dt.datetime) -> None:
        super().__init__(opens_at=opens_at.astimezone(dt.UTC).isoformat())

    @property
    def opens_at(self) -> dt.datetime:
        return dt.datetime.fromisoformat(str(self.params["opens_at"]))

    def wait_seconds(self, now: dt.datetime) -> int:
        """Return how many seconds are to be waited from *now* on, at least one."""
        return wait_seconds(now, self.opens_at)


class RateReached(LimitReached):
    """Too many within a minute. It opens in *seconds*; a time of day would be up to a minute off."""

    code = "rate_reached"
    counted = "seconds"
    singular = "You have asked as often as you may in a minute. Try again in %(seconds)s second."
    template = "You have asked as often as you may in a minute. Try again in %(seconds)s seconds."

    def __init__(self, *, seconds: int) -> None:
        AccessError.__init__(self, seconds=seconds)

    def wait_seconds(self, now: dt.datetime) -> int:
        return int(str(self.params["seconds"]))


class MessageRateReached(RateReached):
    code = "message_rate_reached"
    singular = "You have sent many messages in a short time. You can send again in %(seconds)s second."
    template = "You have sent many messages in a short time. You can send again in %(seconds)s seconds."


class UploadsUsedUp(LimitReached):
    code = "uploads_used_up"
    template = "You have reached the daily upload limit. You can upload again at %(opens_at)s."


class MoneyUsedUp(LimitReached):
    """What is left of the money does not cover what the request may cost at most."""

    code = "money_used_up"
    template = "Your remaining allowance for today does not cover this reply. It resets at %(opens_at)s."


class MonthlyMoneyUsedUp(MoneyUsedUp):
    code = "monthly_money_used_up"
    template = "Your remaining allowance for the month does not cover this reply. It resets at %(opens_at)s."


class SiteMoneyUsedUp(MoneyUsedUp):
    code = "site_money_used_up"
    template = "This site’s remaining budget for today does not cover this reply. It resets at %(opens_at)s."


class SiteMonthlyMoneyUsedUp(MoneyUsedUp):
    code = "site_monthly_money_used_up"
    template = "This site’s remaining budget for the month does not cover this reply. It resets at %(opens_at)s."


class ConversationNotFound(AccessError):
    code = "conversation_not_found"
    template = "There is no such conversation, or it is not yours."


class MessageNotFound(AccessError):
    code = "message_not_found"
    template = "There is no such message, or it is not yours."


class ScenarioNotFound(AccessError):
    code = "scenario_not_found"
    template = "That scenario is no longer offered. Choose another one; your text is kept."


class SavedPromptNotFound(AccessError):
    code = "saved_prompt_not_found"
    template = "There is no such saved prompt any more."


class FolderNotFound(AccessError):
    code = "folder_not_found"
    template = "There is no such folder any more."


class ShareNotFound(AccessError):
    """Never made, over, revoked, or of a conversation or account that is gone: the same answer for all."""

    code = "share_not_found"
    template = "There is nothing at this address."


class DocumentNotFound(AccessError):
    code = "document_not_found"
    template = "This document could not be found."


class ConversationHeld(AccessError):
    """An admin has put a legal hold on it or on its owner: nothing of it may be permanently deleted."""

    code = "conversation_held"
    template = "An admin has put a legal hold on this conversation: nothing of it can be permanently deleted now."


class ReadingRefused(AccessError):
    """A reviewer may not read the content of a conversation now."""

    code = "reading_refused"
    template = "You are not allowed to read conversations."


class ReadingDisabled(ReadingRefused):
    """Reading others' content is switched off for the whole site."""

    code = "reading_disabled"
    template = "Reading other people’s conversations is switched off on this site."


class ReasonRequired(ReadingRefused):
    """The last reason has held for its time, or there was none."""

    code = "reason_required"
    template = "Give a reason for reading this conversation. It is valid for half an hour."


class CallNotFound(AccessError):
    code = "call_not_found"
    template = "There is no such tool call, or it is not yours."


def wait_seconds(now: dt.datetime, opens_at: dt.datetime) -> int:
    """Return how many whole seconds are left from *now* until *opens_at*, at least one."""
    return max(1, ceil((opens_at - now).total_seconds()))

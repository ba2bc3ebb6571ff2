"""Errors of completions: the provider failed, or the reply could not be made to its end."""

from __future__ import annotations

from typing import ClassVar

from .base import ConversationError


class CompletionError(ConversationError):
    """*retryable*: the same request may succeed if sent again; *may_be_billed*: tokens may have been used all the same.

    *detail* is for the log, never for the page.
    """

    code = "completion_failed"
    template = "The language model’s provider answered with an error."
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
    template = "The language model can’t be reached at the moment. Please try again in a minute."
    retryable = True


class ProviderUnavailableUntil(ProviderUnavailable):
    """The provider says when it takes requests again, and that is longer than we wait; *again_at* is in ISO 8601."""

    code = "provider_unavailable_until"
    template = "The language model can’t be reached at the moment: its provider takes requests again at %(again_at)s."
    retryable = False


class WorkerExhausted(ProviderUnavailable):
    """The process has no file descriptor or memory left for a connection, so nothing was sent: another one may have."""

    code = "worker_exhausted"
    template = ProviderUnavailable.template


class ProviderTimedOut(ProviderUnavailable):
    code = "provider_timed_out"
    template = "The language model took too long to answer. Please try again."
    may_be_billed = True


class StreamBroken(ProviderUnavailable):
    code = "stream_broken"
    template = "The connection to the language model was lost before the reply was finished."
    may_be_billed = True


class RateLimited(CompletionError):
    code = "provider_rate_limited"
    template = "The language model is busy: its provider limits requests. Please try again shortly."
    retryable = True


class RateLimitedUntil(RateLimited):
    """The provider says when it takes requests again, and that is longer than we wait; *again_at* is in ISO 8601."""

    code = "provider_rate_limited_until"
    template = "The language model is busy: its provider takes requests again at %(again_at)s."
    retryable = False


class ProviderRejected(CompletionError):
    code = "provider_rejected"
    template = "The provider rejected the request. Trying again unchanged will not help."


class CredentialsRejected(ProviderRejected):
    code = "credentials_rejected"
    template = "The provider rejected this site’s credentials. An admin of this site has to correct them."


class QuotaExhausted(ProviderRejected):
    code = "quota_exhausted"
    template = "This site’s account with the provider has no money left. An admin of this site has to add some."


class LanguageModelNotFound(ProviderRejected):
    code = "language_model_not_found"
    template = "The provider does not know this language model. An admin of this site has to choose another."


class ToolsNotSupported(ProviderRejected):
    code = "tools_not_supported"
    template = "This language model can’t call tools. Choose a scenario without tools or with another language model."


class DialectRejected(ProviderRejected):
    """The request has a field, or lacks one, that the provider does not take: the model's dialect is set up wrong.

    *word* is the option of LANGUAGE_MODELS that corrects it.
    """

    code = "dialect_rejected"
    template = (
        "The provider rejected the form of the request. An admin of this site has to correct how this language model "
        "is set up, by its option “%(word)s”."
    )


class ContextTooLong(ProviderRejected):
    """The provider says that the prompt is too long.

    *limit_tokens* is its limit and *prompt_tokens* its count of the prompt, where it names them.
    """

    code = "context_too_long"
    template = "The conversation is too long for the language model, according to its provider."

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
        self.names_a_number = limit_tokens is not None or prompt_tokens is not None
        super().__init__(detail=detail, request_id=request_id)


class MalformedStream(CompletionError):
    code = "malformed_stream"
    template = "The language model’s provider sent an invalid reply."
    may_be_billed = True


class EmptyReply(CompletionError):
    code = "empty_reply"
    template = "The language model sent an empty reply. Please try again."
    may_be_billed = True


class RoomUsedUpByReasoning(CompletionError):
    """The language model thought to the end of its room, and wrote nothing."""

    code = "room_used_up_by_reasoning"
    template = (
        "The model used all %(room_tokens)s tokens of the reply reserve for thinking, so there is no answer. "
        "The scenario sets the reply reserve."
    )
    may_be_billed = True

    def __init__(self, *, room_tokens: int) -> None:
        super().__init__(room_tokens=f"{room_tokens:,}")


class KeptReasoningTooLong(CompletionError):
    """The provider demands the reasoning back with the tool calls, and it is longer than what is kept."""

    code = "kept_reasoning_too_long"
    template = (
        "The language model’s reasoning before a tool call has %(characters)s characters. Its provider demands it "
        "back, but at most %(most)s can be sent, so the reply ends here."
    )
    may_be_billed = True

    def __init__(self, *, characters: int, most: int) -> None:
        super().__init__(characters=f"{characters:,}", most=f"{most:,}")


class ReplyInterrupted(CompletionError):
    """The process that made the reply ended in the middle of it."""

    code = "reply_interrupted"
    template = "The reply was interrupted before it was finished. The reply so far is kept."
    may_be_billed = True


class AnswerInterrupted(CompletionError):
    """The process that made an answer for a program ended in the middle of it."""

    code = "answer_interrupted"
    template = "The process that made this answer has ended. What was used is billed; ask again as a new request."
    may_be_billed = True


class ReplyStopped(CompletionError):
    """A program waits for it, and its owner has stopped it."""

    code = "reply_stopped"
    template = "The reply was stopped. What it says so far is in the conversation."
    may_be_billed = True


class ReplyAccessRevoked(CompletionError):
    """The user is no longer admitted: blocked, deactivated, or the gate was closed."""

    code = "reply_access_revoked"
    template = "This reply was stopped because your account lost access to this site. The reply so far is kept."
    may_be_billed = True


class MalformedEmbeddings(CompletionError):
    """Not one vector of numbers for each text, all of one length."""

    code = "embeddings_malformed"
    template = "The embeddings endpoint did not return one vector for each text."
    may_be_billed = True


class EmbeddingsChanged(CompletionError):
    """The vectors have another number of dimensions than those that are stored of the same document."""

    code = "embeddings_changed"
    template = "The embeddings endpoint changed the length of its vectors in the middle of a document."
    may_be_billed = True


class ToolStepsUsedUp(CompletionError):
    """The language model was told to answer with what it has."""

    code = "tool_steps_used_up"
    template = "The language model kept calling tools without reaching an answer."
    may_be_billed = True


class ApprovalTimedOut(CompletionError):
    code = "approval_timed_out"
    template = "The tool call was not approved in time. The reply so far is kept."


class UnusableSummary(CompletionError):
    """What was written can't stand for the messages that it was made of; the version before stays."""

    code = "summary_unusable"
    template = "The language model wrote nothing that can be used as a summary."
    may_be_billed = True


class UnusableTitle(CompletionError):
    """What was written is no title; the conversation keeps the one that it has."""

    code = "title_unusable"
    template = "The language model wrote nothing that can be used as a title."
    may_be_billed = True


class WrittenSummaryEmpty(UnusableSummary):
    code = "written_summary_empty"
    template = "The language model wrote an empty summary."


class WrittenSummaryTooLong(UnusableSummary):
    code = "written_summary_too_long"
    template = "The language model wrote a summary that is longer than it may be, or than what it replaces."


class WrittenSummaryCutOff(UnusableSummary):
    code = "written_summary_cut_off"
    template = "The language model stopped in the middle of the summary."


class WrittenSummaryForeign(UnusableSummary):
    code = "written_summary_foreign"
    template = "The language model wrote the summary in another language."


class SummaryAbandoned(UnusableSummary):
    code = "summary_abandoned"
    template = "Writing the summary was interrupted too often."

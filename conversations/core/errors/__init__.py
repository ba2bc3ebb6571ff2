"""Everything that can go wrong, as one tree.

    ConversationError                 code is stable, the message is fit for the user; details go to the log
    ├ InputError                      the person can mend it
    │ ├ EmptyMessage, RequestTooLarge, RequestTooSlow, UploadTooLarge, ReplyInProgress, NothingToRetry
    │ ├ MessageExcluded, MessageNotEditable, MessageNotPinnable, InvalidHistory, ReasonUnfit, CallNotAwaitingApproval
    │ └ DocumentTooLarge, TooManyDocuments, DocumentStorageFull, FileMissing, TooManyFiles, FilesTooLarge
    ├ PromptError                     nothing was sent
    │ ├ SystemPromptTooLong, PinsTooLong, ToolSchemasTooLong      our fixed part
    │ ├ ToolStepsTooLong                                          what the tools of this reply have answered
    │ ├ ConversationTooLong                                       the policy does not drop
    │ └ MessageTooLong                                            the person can shorten it
    │   └ MessageTooLongForScenario                               it would fit, but not beside the fixed part
    ├ PolicyFailed                    nothing was sent either: the policy itself is wrong
    ├ DocumentError                   a document can't be read; what else is there goes on
    │ ├ DocumentEmpty, DocumentEncrypted, DocumentScanned, DocumentDamaged, DocumentKindUnknown
    │ └ DocumentTooLong, DocumentTooCostly, DocumentReadingInterrupted
    ├ LookUpTooCostly                 too many passages; the reply goes on without
    ├ CompletionError                 the provider failed
    │ ├ ProviderUnavailable           retryable
    │ │ └ ProviderTimedOut, StreamBroken
    │ ├ RateLimited                   retryable
    │ ├ ProviderRejected              trying again will not help
    │ │ ├ CredentialsRejected, QuotaExhausted, LanguageModelNotFound, ContextTooLong
    │ │ └ ToolsNotSupported             another scenario does
    │ ├ MalformedStream               not a reply at all
    │ ├ MalformedEmbeddings, EmbeddingsChanged                    not vectors that can be used
    │ ├ EmptyReply, ReplyInterrupted, ReplyShutOut    nothing, or not all, came of it
    │ ├ ToolStepsUsedUp               the model goes on calling tools, though it was told not to
    │ └ CallUnanswered                nobody has said in time whether a tool may be called
    ├ ToolError                       a call of a tool came to nothing; the reply goes on
    │ ├ ToolUnknown, ArgumentsBroken, ArgumentsUnfit, TooManyCalls        the language model's mistake
    │ ├ ToolTimedOut, ToolBusy, ToolUnreachable, ToolChanged, ToolResultTooLarge
    │ └ CallRefused                   the person's decision
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
    │ ├ TooManyAwaitingApproval       opens when one of them is answered
    │ ├ MoneyHeldBack                 may open when one of them ends
    │ │ └ SiteMoneyHeldBack
    │ ├ ReadingRefused                the words of somebody else's conversation
    │ │ └ ReadingOff, ReasonRequired
    │ └ ConversationNotFound, MessageNotFound, CallNotFound, ScenarioNotFound, DocumentNotFound    also someone else's
    └ FrameError                      the browser sent nonsense

A class states its sentence as a template, so that the edge can translate it: `error.template % error.params`.
"""

from __future__ import annotations

from .access import (
    AccessError,
    AccountBlocked,
    CallNotFound,
    ConversationNotFound,
    DocumentNotFound,
    GatePasswordRequired,
    GateShut,
    LimitReached,
    MessageNotFound,
    MessageRateReached,
    MessagesForbidden,
    MoneyForbidden,
    MoneyHeldBack,
    MoneyOfMonthUsedUp,
    MoneyUsedUp,
    PriceUnknown,
    ReadingOff,
    ReadingRefused,
    ReasonRequired,
    RepliesAtOnceReached,
    ReplyTooExpensive,
    ScenarioNotFound,
    SeatsTaken,
    SignInRequired,
    SiteMoneyHeldBack,
    SiteMoneyOfMonthUsedUp,
    SiteMoneyUsedUp,
    TooManyAwaitingApproval,
    UploadsForbidden,
    UploadsUsedUp,
)
from .base import ConversationError
from .completions import (
    CallUnanswered,
    CompletionError,
    ContextTooLong,
    CredentialsRejected,
    EmbeddingsChanged,
    EmptyReply,
    LanguageModelNotFound,
    MalformedEmbeddings,
    MalformedStream,
    ProviderRejected,
    ProviderTimedOut,
    ProviderUnavailable,
    QuotaExhausted,
    RateLimited,
    ReplyInterrupted,
    ReplyShutOut,
    StreamBroken,
    ToolsNotSupported,
    ToolStepsUsedUp,
)
from .documents import (
    DocumentDamaged,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentError,
    DocumentKindUnknown,
    DocumentReadingInterrupted,
    DocumentScanned,
    DocumentStorageFull,
    DocumentTooCostly,
    DocumentTooLarge,
    DocumentTooLong,
    FileMissing,
    FilesTooLarge,
    LookUpTooCostly,
    TooManyDocuments,
    TooManyFiles,
)
from .frames import FrameError
from .inputs import (
    CallNotAwaitingApproval,
    EmptyMessage,
    InputError,
    InvalidHistory,
    MessageExcluded,
    MessageNotEditable,
    MessageNotPinnable,
    NothingToRetry,
    ReasonUnfit,
    ReplyInProgress,
    RequestTooLarge,
    RequestTooSlow,
    UploadTooLarge,
)
from .prompts import (
    ConversationTooLong,
    MessageTooLong,
    MessageTooLongForScenario,
    PinsTooLong,
    PolicyFailed,
    PromptError,
    SystemPromptTooLong,
    ToolSchemasTooLong,
    ToolStepsTooLong,
)
from .tools import (
    ArgumentsBroken,
    ArgumentsUnfit,
    CallRefused,
    ToolBusy,
    ToolChanged,
    ToolError,
    ToolResultTooLarge,
    ToolTimedOut,
    ToolUnknown,
    ToolUnreachable,
    TooManyCalls,
)

__all__ = [
    "AccessError",
    "AccountBlocked",
    "ArgumentsBroken",
    "ArgumentsUnfit",
    "CallNotAwaitingApproval",
    "CallNotFound",
    "CallRefused",
    "CallUnanswered",
    "CompletionError",
    "ContextTooLong",
    "ConversationError",
    "ConversationNotFound",
    "ConversationTooLong",
    "CredentialsRejected",
    "DocumentDamaged",
    "DocumentEmpty",
    "DocumentEncrypted",
    "DocumentError",
    "DocumentKindUnknown",
    "DocumentNotFound",
    "DocumentReadingInterrupted",
    "DocumentScanned",
    "DocumentStorageFull",
    "DocumentTooCostly",
    "DocumentTooLarge",
    "DocumentTooLong",
    "EmbeddingsChanged",
    "EmptyMessage",
    "EmptyReply",
    "FileMissing",
    "FilesTooLarge",
    "FrameError",
    "GatePasswordRequired",
    "GateShut",
    "InputError",
    "InvalidHistory",
    "LanguageModelNotFound",
    "LimitReached",
    "LookUpTooCostly",
    "MalformedEmbeddings",
    "MalformedStream",
    "MessageExcluded",
    "MessageNotEditable",
    "MessageNotFound",
    "MessageNotPinnable",
    "MessageRateReached",
    "MessageTooLong",
    "MessageTooLongForScenario",
    "MessagesForbidden",
    "MoneyForbidden",
    "MoneyHeldBack",
    "MoneyOfMonthUsedUp",
    "MoneyUsedUp",
    "NothingToRetry",
    "PinsTooLong",
    "PolicyFailed",
    "PriceUnknown",
    "PromptError",
    "ProviderRejected",
    "ProviderTimedOut",
    "ProviderUnavailable",
    "QuotaExhausted",
    "RateLimited",
    "ReadingOff",
    "ReadingRefused",
    "ReasonRequired",
    "ReasonUnfit",
    "RepliesAtOnceReached",
    "ReplyInProgress",
    "ReplyInterrupted",
    "ReplyShutOut",
    "ReplyTooExpensive",
    "RequestTooLarge",
    "RequestTooSlow",
    "ScenarioNotFound",
    "SeatsTaken",
    "SignInRequired",
    "SiteMoneyHeldBack",
    "SiteMoneyOfMonthUsedUp",
    "SiteMoneyUsedUp",
    "StreamBroken",
    "SystemPromptTooLong",
    "TooManyAwaitingApproval",
    "TooManyCalls",
    "TooManyDocuments",
    "TooManyFiles",
    "ToolBusy",
    "ToolChanged",
    "ToolError",
    "ToolResultTooLarge",
    "ToolSchemasTooLong",
    "ToolStepsTooLong",
    "ToolStepsUsedUp",
    "ToolTimedOut",
    "ToolUnknown",
    "ToolUnreachable",
    "ToolsNotSupported",
    "UploadTooLarge",
    "UploadsForbidden",
    "UploadsUsedUp",
]

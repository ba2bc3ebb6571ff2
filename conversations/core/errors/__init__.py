"""All errors of the product, as one tree, with a stable code and a sentence each.

    ConversationError                 code is stable, the message is fit for the user; details go to the log
    ├ InputError                      the user can correct it
    │ ├ EmptyMessage, RequestTooLarge, RequestTooSlow, UploadTooLarge, ReplyInProgress, NothingToRegenerate
    │ ├ NothingToContinue
    │ ├ MessageExcluded, MessageNotEditable, MessageNotPinnable, InvalidHistory, ReasonInvalid, CallNotAwaitingApproval
    │ ├ NotesHaveTooManyCharacters, NotesHaveTooManyTokens, EffortNotAccepted, TooManyPicturesForModel
    │ ├ PicturesTooLargeForModel, RemarkTooLong
    │ ├ TemporaryNotExported, ExportUnderWay, SharesOff, NothingToShare, SharedMessagesTooMany, TooManyShares
    │ ├ ShareStorageFull
    │ ├ SummaryEmpty, SummaryTooLong, SummaryChanged, WebSearchNotOffered
    │ ├ DocumentTooLarge, TooManyDocuments, DocumentStorageFull, FileMissing, TooManyFiles, FilesTooLarge
    │ ├ NameInvisible, SavedPromptIncomplete, SavedPromptTooLong, SavedPromptNameTaken, TooManySavedPrompts
    │ │ FolderNameTaken, TooManyFolders, FolderEmpty
    │ ├ ParameterInvalid, TooManyApiKeys, AppendedTextFull, IdempotencyKeyReused, AnswerNotKept    of the API
    │ ├ ImportsForbidden, ImportTooLarge, TooManyImports, ImportNotFound, ImportPieceMisplaced
    │ └ PictureTooLarge, TooManyPictures, PicturesGone, PictureAlreadySent
    ├ SiteBusy, DatabaseAway          the same request may be answered in a moment
    ├ FrameError                      the page sent what is not a frame
    ├ PromptError                     nothing was sent
    │ ├ SystemPromptTooLong, PinsTooLong, ToolSchemasTooLong      our fixed part
    │ ├ AboutMeTooLong, NotesTooLong                              the user's own notes
    │ ├ ToolStepsTooLong                                          the tool calls of this reply and their results
    │ ├ TextSoFarTooLong                                          what the reply says that is to be continued
    │ ├ ConversationTooLong                                       the policy does not drop
    │ └ MessageTooLong                                            the user can shorten it
    │   ├ MessageTooLongForScenario                               it would fit, but not beside the fixed part
    │   └ PicturesTooLong                                         it would fit with fewer pictures, or none
    ├ PolicyFailed                    nothing was sent either: the policy itself is wrong
    ├ DocumentError                   a document can't be parsed; the others can
    │ ├ DocumentEmpty, DocumentEncrypted, DocumentScanned, DocumentDamaged
    │ ├ DocumentKindUnknown
    │ │ └ DocumentIsPicture, DocumentIsDrawing
    │ └ DocumentTooLong, DocumentTooCostly, DocumentParsingInterrupted
    ├ PictureError                    a picture can't be read
    │ └ PictureEmpty, PictureDamaged, PictureKindUnknown, PictureTooManyPixels, PictureTooCostly
    ├ ExportError                     nothing of a file, or nothing more, can be imported
    │ ├ ExportEncrypted, ExportDamaged, ExportNotJson, ExportTooLarge
    │ ├ ExportUnknown, ExportForeign, ExportManifestOnly, ExportWithoutConversations
    │ └ ImportInterrupted, ImportedTextFull
    ├ LookUpTooCostly                 too much to look through in time; a reply is made without it
    ├ WebSearchError                  no results of the web; the reply is made without them
    │ ├ WebSearchUnreachable, WebSearchTimedOut, WebSearchBusy, WebSearchRefused
    │ └ WebSearchMalformed, WebSearchEnginesFailed
    ├ CompletionError                 the provider failed
    │ ├ ProviderUnavailable           retryable
    │ │ ├ ProviderTimedOut, StreamBroken
    │ │ ├ WorkerExhausted             this process could open no connection; another one may
    │ │ └ ProviderUnavailableUntil    not before the time that the provider names
    │ ├ RateLimited                   retryable
    │ │ └ RateLimitedUntil            not before the time that the provider names
    │ ├ ProviderRejected              trying again will not help
    │ │ ├ CredentialsRejected, QuotaExhausted, LanguageModelNotFound, ContextTooLong
    │ │ ├ DialectRejected               the settings of the language model are wrong
    │ │ └ ToolsNotSupported             another scenario does
    │ ├ MalformedStream               not a reply at all
    │ ├ MalformedEmbeddings, EmbeddingsChanged                    not vectors that can be used
    │ ├ EmptyReply, ReplyInterrupted, ReplyStopped, ReplyAccessRevoked    no reply, or not a whole one
    │ ├ AnswerInterrupted             the same for a program
    │ ├ RoomUsedUpByReasoning         no reply either; with more room there may be one
    │ ├ KeptReasoningTooLong          its tools can't be called: the provider demands more back than is kept
    │ ├ ToolStepsUsedUp               the model goes on calling tools, though it was told not to
    │ ├ UnusableSummary               the summary before it stays
    │ │ └ WrittenSummaryEmpty, WrittenSummaryTooLong, WrittenSummaryCutOff, WrittenSummaryForeign, SummaryAbandoned
    │ ├ UnusableTitle                 the conversation keeps the title that it has
    │ └ ApprovalTimedOut              no approval came in time
    ├ ToolError                       a tool call failed; the reply goes on
    │ ├ ToolUnknown, ArgumentsNotJson, ArgumentsInvalid, TooManyCalls   the language model's mistake
    │ ├ ToolTimedOut, ToolBusy, ToolUnreachable, ToolChanged, ToolResultTooLarge
    │ └ CallRefused                   the user's decision
    └ AccessError                     not allowed
      ├ SignInRequired
      ├ GateClosed                    the account is not enough
      │ └ GatePasswordRequired, SeatsTaken, AccountBlocked
      ├ MessagesForbidden, UploadsForbidden                       no waiting helps
      ├ LanguageModelNotOffered       another one is
      │ └ LanguageModelNotOfKey
      ├ PriceUnknown, MoneyForbidden, ReplyTooExpensive           nor here
      │ └ ApiKeyRequestTooExpensive
      ├ LimitReached                  says when it opens again
      │ ├ UploadsUsedUp, ApiKeyMoneyUsedUp
      │ ├ RateReached                 in some seconds
      │ │ └ MessageRateReached, ApiKeyRateReached
      │ └ MoneyUsedUp                 the user's, of a day
      │   └ MonthlyMoneyUsedUp, SiteMoneyUsedUp, SiteMonthlyMoneyUsedUp
      ├ TooManyRepliesAtOnce          opens when one of them ends
      ├ TooManyAwaitingApproval       opens when one of them is approved or refused
      ├ TooManyRequestsAtOnce         opens when some of them are answered
      ├ MoneyReserved                 may open when one of them ends
      │ └ SiteMoneyReserved, ApiKeyMoneyReserved
      ├ ConversationHeld              nothing of it is permanently deleted under a legal hold
      ├ ApiKeyInvalid                 it was never made, is over or revoked
      │ └ ApiKeyMissing
      ├ ReadingRefused                the content of others' conversations
      │ └ ReadingDisabled, ReasonRequired
      └ ConversationNotFound, MessageNotFound, CallNotFound, ScenarioNotFound, DocumentNotFound, PictureNotFound
        SavedPromptNotFound, FolderNotFound  also someone else's
        ApiScopeMissing, ApiOff, ApiKeyNotFound, WindowNotFound, ResponseNotFound, ItemNotFound
        ShareNotFound                 also one that is over, revoked or someone else's

A class states its sentence as a template, so that the edge can translate it: `error.template % error.params`.
"""

from __future__ import annotations

from .access import (
    AccessError,
    AccountBlocked,
    CallNotFound,
    ConversationHeld,
    ConversationNotFound,
    DocumentNotFound,
    FolderNotFound,
    GateClosed,
    GatePasswordRequired,
    LanguageModelNotOffered,
    LimitReached,
    MessageNotFound,
    MessageRateReached,
    MessagesForbidden,
    MoneyForbidden,
    MoneyReserved,
    MoneyUsedUp,
    MonthlyMoneyUsedUp,
    PriceUnknown,
    RateReached,
    ReadingDisabled,
    ReadingRefused,
    ReasonRequired,
    ReplyTooExpensive,
    SavedPromptNotFound,
    ScenarioNotFound,
    SeatsTaken,
    ShareNotFound,
    SignInRequired,
    SiteMoneyReserved,
    SiteMoneyUsedUp,
    SiteMonthlyMoneyUsedUp,
    TooManyAwaitingApproval,
    TooManyRepliesAtOnce,
    TooManyRequestsAtOnce,
    UploadsForbidden,
    UploadsUsedUp,
)
from .api import (
    AnswerNotKept,
    ApiKeyInvalid,
    ApiKeyMissing,
    ApiKeyMoneyReserved,
    ApiKeyMoneyUsedUp,
    ApiKeyNotFound,
    ApiKeyRateReached,
    ApiKeyRequestTooExpensive,
    ApiOff,
    ApiScopeMissing,
    AppendedTextFull,
    IdempotencyKeyReused,
    ItemNotFound,
    LanguageModelNotOfKey,
    ParameterInvalid,
    ResponseNotFound,
    TooManyApiKeys,
    WindowNotFound,
)
from .base import ConversationError, DatabaseAway, SiteBusy
from .completions import (
    AnswerInterrupted,
    ApprovalTimedOut,
    CompletionError,
    ContextTooLong,
    CredentialsRejected,
    DialectRejected,
    EmbeddingsChanged,
    EmptyReply,
    KeptReasoningTooLong,
    LanguageModelNotFound,
    MalformedEmbeddings,
    MalformedStream,
    ProviderRejected,
    ProviderTimedOut,
    ProviderUnavailable,
    ProviderUnavailableUntil,
    QuotaExhausted,
    RateLimited,
    RateLimitedUntil,
    ReplyAccessRevoked,
    ReplyInterrupted,
    ReplyStopped,
    RoomUsedUpByReasoning,
    StreamBroken,
    SummaryAbandoned,
    ToolsNotSupported,
    ToolStepsUsedUp,
    UnusableSummary,
    UnusableTitle,
    WorkerExhausted,
    WrittenSummaryCutOff,
    WrittenSummaryEmpty,
    WrittenSummaryForeign,
    WrittenSummaryTooLong,
)
from .documents import (
    DocumentDamaged,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentError,
    DocumentIsDrawing,
    DocumentIsPicture,
    DocumentKindUnknown,
    DocumentParsingInterrupted,
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
from .imports import (
    ExportDamaged,
    ExportEncrypted,
    ExportError,
    ExportForeign,
    ExportManifestOnly,
    ExportNotJson,
    ExportTooLarge,
    ExportUnknown,
    ExportWithoutConversations,
    ImportedTextFull,
    ImportInterrupted,
    ImportNotFound,
    ImportPieceMisplaced,
    ImportsForbidden,
    ImportTooLarge,
    TooManyImports,
)
from .inputs import (
    CallNotAwaitingApproval,
    EffortNotAccepted,
    EmptyMessage,
    ExportUnderWay,
    FolderEmpty,
    FolderNameTaken,
    FrameError,
    InputError,
    InvalidHistory,
    MessageExcluded,
    MessageNotEditable,
    MessageNotPinnable,
    NameInvisible,
    NotesHaveTooManyCharacters,
    NotesHaveTooManyTokens,
    NothingToContinue,
    NothingToRegenerate,
    NothingToShare,
    PicturesTooLargeForModel,
    ReasonInvalid,
    RemarkTooLong,
    ReplyInProgress,
    RequestTooLarge,
    RequestTooSlow,
    SavedPromptIncomplete,
    SavedPromptNameTaken,
    SavedPromptTooLong,
    SharedMessagesTooMany,
    SharesOff,
    ShareStorageFull,
    SummaryChanged,
    SummaryEmpty,
    SummaryTooLong,
    TemporaryNotExported,
    TooManyFolders,
    TooManyPicturesForModel,
    TooManySavedPrompts,
    TooManyShares,
    UploadTooLarge,
    WebSearchNotOffered,
)
from .pictures import (
    PictureAlreadySent,
    PictureDamaged,
    PictureEmpty,
    PictureError,
    PictureKindUnknown,
    PictureNotFound,
    PicturesGone,
    PictureTooCostly,
    PictureTooLarge,
    PictureTooManyPixels,
    TooManyPictures,
)
from .prompts import (
    AboutMeTooLong,
    ConversationTooLong,
    MessageTooLong,
    MessageTooLongForScenario,
    NotesTooLong,
    PicturesTooLong,
    PinsTooLong,
    PolicyFailed,
    PromptError,
    SystemPromptTooLong,
    TextSoFarTooLong,
    ToolSchemasTooLong,
    ToolStepsTooLong,
)
from .tools import (
    ArgumentsInvalid,
    ArgumentsNotJson,
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
from .web_search import (
    WebSearchBusy,
    WebSearchEnginesFailed,
    WebSearchError,
    WebSearchMalformed,
    WebSearchRefused,
    WebSearchTimedOut,
    WebSearchUnreachable,
)

__all__ = [
    "AboutMeTooLong",
    "AccessError",
    "AccountBlocked",
    "AnswerInterrupted",
    "AnswerNotKept",
    "ApiKeyInvalid",
    "ApiKeyMissing",
    "ApiKeyMoneyReserved",
    "ApiKeyMoneyUsedUp",
    "ApiKeyNotFound",
    "ApiKeyRateReached",
    "ApiKeyRequestTooExpensive",
    "ApiOff",
    "ApiScopeMissing",
    "AppendedTextFull",
    "ApprovalTimedOut",
    "ArgumentsInvalid",
    "ArgumentsNotJson",
    "CallNotAwaitingApproval",
    "CallNotFound",
    "CallRefused",
    "CompletionError",
    "ContextTooLong",
    "ConversationError",
    "ConversationHeld",
    "ConversationNotFound",
    "ConversationTooLong",
    "CredentialsRejected",
    "DatabaseAway",
    "DialectRejected",
    "DocumentDamaged",
    "DocumentEmpty",
    "DocumentEncrypted",
    "DocumentError",
    "DocumentIsDrawing",
    "DocumentIsPicture",
    "DocumentKindUnknown",
    "DocumentNotFound",
    "DocumentParsingInterrupted",
    "DocumentScanned",
    "DocumentStorageFull",
    "DocumentTooCostly",
    "DocumentTooLarge",
    "DocumentTooLong",
    "EffortNotAccepted",
    "EmbeddingsChanged",
    "EmptyMessage",
    "EmptyReply",
    "ExportDamaged",
    "ExportEncrypted",
    "ExportError",
    "ExportForeign",
    "ExportManifestOnly",
    "ExportNotJson",
    "ExportTooLarge",
    "ExportUnderWay",
    "ExportUnknown",
    "ExportWithoutConversations",
    "FileMissing",
    "FilesTooLarge",
    "FolderEmpty",
    "FolderNameTaken",
    "FolderNotFound",
    "FrameError",
    "GateClosed",
    "GatePasswordRequired",
    "IdempotencyKeyReused",
    "ImportInterrupted",
    "ImportNotFound",
    "ImportPieceMisplaced",
    "ImportTooLarge",
    "ImportedTextFull",
    "ImportsForbidden",
    "InputError",
    "InvalidHistory",
    "ItemNotFound",
    "KeptReasoningTooLong",
    "LanguageModelNotFound",
    "LanguageModelNotOfKey",
    "LanguageModelNotOffered",
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
    "MoneyReserved",
    "MoneyUsedUp",
    "MonthlyMoneyUsedUp",
    "NameInvisible",
    "NotesHaveTooManyCharacters",
    "NotesHaveTooManyTokens",
    "NotesTooLong",
    "NothingToContinue",
    "NothingToRegenerate",
    "NothingToShare",
    "ParameterInvalid",
    "PictureAlreadySent",
    "PictureDamaged",
    "PictureEmpty",
    "PictureError",
    "PictureKindUnknown",
    "PictureNotFound",
    "PictureTooCostly",
    "PictureTooLarge",
    "PictureTooManyPixels",
    "PicturesGone",
    "PicturesTooLargeForModel",
    "PicturesTooLong",
    "PinsTooLong",
    "PolicyFailed",
    "PriceUnknown",
    "PromptError",
    "ProviderRejected",
    "ProviderTimedOut",
    "ProviderUnavailable",
    "ProviderUnavailableUntil",
    "QuotaExhausted",
    "RateLimited",
    "RateLimitedUntil",
    "RateReached",
    "ReadingDisabled",
    "ReadingRefused",
    "ReasonInvalid",
    "ReasonRequired",
    "RemarkTooLong",
    "ReplyAccessRevoked",
    "ReplyInProgress",
    "ReplyInterrupted",
    "ReplyStopped",
    "ReplyTooExpensive",
    "RequestTooLarge",
    "RequestTooSlow",
    "ResponseNotFound",
    "RoomUsedUpByReasoning",
    "SavedPromptIncomplete",
    "SavedPromptNameTaken",
    "SavedPromptNotFound",
    "SavedPromptTooLong",
    "ScenarioNotFound",
    "SeatsTaken",
    "ShareNotFound",
    "ShareStorageFull",
    "SharedMessagesTooMany",
    "SharesOff",
    "SignInRequired",
    "SiteBusy",
    "SiteMoneyReserved",
    "SiteMoneyUsedUp",
    "SiteMonthlyMoneyUsedUp",
    "StreamBroken",
    "SummaryAbandoned",
    "SummaryChanged",
    "SummaryEmpty",
    "SummaryTooLong",
    "SystemPromptTooLong",
    "TemporaryNotExported",
    "TextSoFarTooLong",
    "TooManyApiKeys",
    "TooManyAwaitingApproval",
    "TooManyCalls",
    "TooManyDocuments",
    "TooManyFiles",
    "TooManyFolders",
    "TooManyImports",
    "TooManyPictures",
    "TooManyPicturesForModel",
    "TooManyRepliesAtOnce",
    "TooManyRequestsAtOnce",
    "TooManySavedPrompts",
    "TooManyShares",
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
    "UnusableSummary",
    "UnusableTitle",
    "UploadTooLarge",
    "UploadsForbidden",
    "UploadsUsedUp",
    "WebSearchBusy",
    "WebSearchEnginesFailed",
    "WebSearchError",
    "WebSearchMalformed",
    "WebSearchNotOffered",
    "WebSearchRefused",
    "WebSearchTimedOut",
    "WebSearchUnreachable",
    "WindowNotFound",
    "WorkerExhausted",
    "WrittenSummaryCutOff",
    "WrittenSummaryEmpty",
    "WrittenSummaryForeign",
    "WrittenSummaryTooLong",
]

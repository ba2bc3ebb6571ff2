"""Django models of conversations: one noun per file."""

from .activity import ActiveUsers, ConversationsOfDay
from .api_heartbeat import ApiHeartbeat
from .api_key import ApiKey, ApiScope
from .backup_schedule import BackupSchedule
from .calibration import Calibration
from .completion import Completion
from .conversation import Conversation
from .conversation_import import ConversationImport, ConversationOrigin, ImportFile, ImportPiece, MessageOrigin
from .document import Document, DocumentFile
from .export_lease import ExportLease
from .folder import Folder
from .idempotent_request import IdempotentRequest
from .kept_text import KeptText
from .legal_hold import LegalHold
from .list_change import ListChange
from .mcp_server import McpServer
from .message import Message
from .message_index import MessageIndex
from .message_passage import MessagePassage
from .message_postings import MessagePostings
from .message_vector import MessageVector
from .passage import Passage
from .path_change import PathChange
from .picture import Picture, PictureFile, ScaledPicture
from .price import Price
from .privacy_notice import PrivacyNotice
from .rating import Rating
from .reading import Reading, ReadingStep, ReadWhat, SearchHit
from .retention_mail import RetentionMail
from .retention_rule import RetentionRule
from .run import Run
from .saved_prompt import SavedPrompt
from .scenario import Scenario
from .share import Share, SharedMessage
from .spending import Spending, SpendingPeriod
from .summary import Summary
from .summary_state import SummaryState
from .sums import ConversationSum, LedgerSum, RolledUpSum, RunningSum
from .title_state import TitleState
from .tool_call import ToolCall
from .upload_count import UploadCount
from .webhook import Webhook, WebhookDelivery
from .worker_heartbeat import WorkerHeartbeat

__all__ = [
    "ActiveUsers",
    "ApiHeartbeat",
    "ApiKey",
    "ApiScope",
    "BackupSchedule",
    "Calibration",
    "Completion",
    "Conversation",
    "ConversationImport",
    "ConversationOrigin",
    "ConversationSum",
    "ConversationsOfDay",
    "Document",
    "DocumentFile",
    "ExportLease",
    "Folder",
    "IdempotentRequest",
    "ImportFile",
    "ImportPiece",
    "KeptText",
    "LedgerSum",
    "LegalHold",
    "ListChange",
    "McpServer",
    "Message",
    "MessageIndex",
    "MessageOrigin",
    "MessagePassage",
    "MessagePostings",
    "MessageVector",
    "Passage",
    "PathChange",
    "Picture",
    "PictureFile",
    "Price",
    "PrivacyNotice",
    "Rating",
    "ReadWhat",
    "Reading",
    "ReadingStep",
    "RetentionMail",
    "RetentionRule",
    "RolledUpSum",
    "Run",
    "RunningSum",
    "SavedPrompt",
    "ScaledPicture",
    "Scenario",
    "SearchHit",
    "Share",
    "SharedMessage",
    "Spending",
    "SpendingPeriod",
    "Summary",
    "SummaryState",
    "TitleState",
    "ToolCall",
    "UploadCount",
    "Webhook",
    "WebhookDelivery",
    "WorkerHeartbeat",
]

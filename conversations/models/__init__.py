"""What is stored: one noun per file."""

from .calibration import Calibration
from .completion import Completion
from .conversation import Conversation
from .conversation_sum import ConversationSum
from .document import Document, DocumentFile
from .export_lease import ExportLease
from .kept_text import KeptText
from .ledger_sum import LedgerSum
from .mcp_server import McpServer
from .message import Message
from .passage import Passage
from .price import Price
from .reading import Reading, ReadingStep, ReadWhat, SearchHit
from .rolled_up_sum import RolledUpSum
from .run import Run
from .running_sum import RunningSum
from .scenario import Scenario
from .spending import Period, Spending
from .tool_call import ToolCall
from .upload_count import UploadCount

__all__ = [
    "Calibration",
    "Completion",
    "Conversation",
    "ConversationSum",
    "Document",
    "DocumentFile",
    "ExportLease",
    "KeptText",
    "LedgerSum",
    "McpServer",
    "Message",
    "Passage",
    "Period",
    "Price",
    "ReadWhat",
    "Reading",
    "ReadingStep",
    "RolledUpSum",
    "Run",
    "RunningSum",
    "Scenario",
    "SearchHit",
    "Spending",
    "ToolCall",
    "UploadCount",
]

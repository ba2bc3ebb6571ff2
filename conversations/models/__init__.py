"""What is stored: one noun per file."""

from .calibration import Calibration
from .completion import Completion
from .conversation import Conversation
from .document import Document, DocumentFile
from .message import Message
from .passage import Passage
from .price import Price
from .run import Run
from .scenario import Scenario
from .spending import Period, Spending
from .system_prompt import SystemPrompt
from .upload_count import UploadCount

__all__ = [
    "Calibration",
    "Completion",
    "Conversation",
    "Document",
    "DocumentFile",
    "Message",
    "Passage",
    "Period",
    "Price",
    "Run",
    "Scenario",
    "Spending",
    "SystemPrompt",
    "UploadCount",
]

"""What is stored: one noun per file."""

from .completion import Completion
from .conversation import Conversation
from .message import Message
from .run import Run
from .scenario import Scenario

__all__ = ["Completion", "Conversation", "Message", "Run", "Scenario"]

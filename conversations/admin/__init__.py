"""The admin: what was said, what the language model saw of it, what it cost; and the scenarios."""

from . import (
    calibration,
    completion,
    conversation,
    document,
    mcp_server,
    message,
    price,
    reading,
    run,
    scenario,
    tool_call,
    user,
)
from . import spending as spent

__all__ = [
    "calibration",
    "completion",
    "conversation",
    "document",
    "mcp_server",
    "message",
    "price",
    "reading",
    "run",
    "scenario",
    "spent",
    "tool_call",
    "user",
]

"""The admin's pages: review of conversations, the ledger and its figures, retention, scenarios and their servers.

Django finds the pages by importing this package. `dashboard` is the first page; `base_admin` has the base classes.
"""

from . import privacy_notice, user
from .ledger import calibration, completion, price
from .ledger import spending as spent
from .retention import hold, rule
from .review import api_key, conversation, document, message, reading, run, share, tool_call, webhook
from .scenarios import mcp_server, scenario

__all__ = [
    "api_key",
    "calibration",
    "completion",
    "conversation",
    "document",
    "hold",
    "mcp_server",
    "message",
    "price",
    "privacy_notice",
    "reading",
    "rule",
    "run",
    "scenario",
    "share",
    "spent",
    "tool_call",
    "user",
    "webhook",
]

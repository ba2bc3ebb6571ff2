"""The admin: what was said, what the language model saw of it, what it cost; and the scenarios."""

from . import calibration, completion, conversation, document, message, price, reading, run, scenario, spent, user

__all__ = [
    "calibration",
    "completion",
    "conversation",
    "document",
    "message",
    "price",
    "reading",
    "run",
    "scenario",
    "spent",
    "user",
]

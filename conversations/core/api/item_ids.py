"""Ids at `/v1/responses`, made of ours, so that each is the same whenever it is told.

    conv_CONVERSATION                a conversation, by its public id; as a UUID it is in the address of its page
    resp_CONVERSATION NUMBER         a stored response: the reply with that number in it
    msg_, rs_ CONVERSATION NUMBER    a message with that number, and what was thought before it
    fc_, fco_                        the calls of a message, each with its number after it, and the result of one
    resp_, msg_, rs_, fc_ REQUEST    of a response that is not stored

Numbers have 16 hexadecimal digits, ids of ours 32. A number is looked for only in the conversation beside it.
"""

from __future__ import annotations

import re
import uuid
from typing import NamedTuple

CONVERSATION_FORM = "conv_[0-9a-f]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
CONVERSATION = re.compile(CONVERSATION_FORM)
RESPONSE = re.compile(r"resp_([0-9a-f]{32})([0-9a-f]{16})")
MESSAGE = re.compile(r"msg_([0-9a-f]{32})([0-9a-f]{16})")
ITEM = re.compile(r"(?:msg|fco|fc)_([0-9a-f]{32})([0-9a-f]{16})(?:[0-9a-f]{2})?")
LARGEST_NUMBER = 2**63 - 1


class StoredId(NamedTuple):
    """The id of a message that is stored in a conversation."""

    conversation: uuid.UUID
    message: int

    @property
    def suffix(self) -> str:
        """What follows the prefix."""
        return f"{self.conversation.hex}{self.message:016x}"


def conversation_id(public_id: uuid.UUID) -> str:
    """Return the id of a conversation as programs know it."""
    return f"conv_{public_id.hex}"


def response_id(conversation: uuid.UUID, reply: int) -> str:
    """Return the id of the stored response that a reply is."""
    return f"resp_{StoredId(conversation, reply).suffix}"


def read_conversation_id(text: str) -> uuid.UUID | None:
    """Return our id of the conversation, which is named by `conv_…` or as a UUID; None for what is no such id."""
    return uuid.UUID(text.removeprefix("conv_")) if CONVERSATION.fullmatch(text) else None


def read_response_id(text: str) -> StoredId | None:
    """Return where the reply is that *text* names, None for what is no id of a stored response."""
    return _read(RESPONSE, text)


def read_message_id(text: str) -> StoredId | None:
    """Return where the message is that *text* names, None for what is no id of a stored message."""
    return _read(MESSAGE, text)


def read_item_id(text: str) -> StoredId | None:
    """Return where the message is of which *text* names an item, None for what is no id of a stored item."""
    return _read(ITEM, text)


def _read(form: re.Pattern[str], text: str) -> StoredId | None:
    if (found := form.fullmatch(text)) is None or (number := int(found[2], 16)) > LARGEST_NUMBER:
        return None
    return StoredId(uuid.UUID(found[1]), number)

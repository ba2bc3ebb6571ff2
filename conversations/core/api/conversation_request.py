"""Read what begins a conversation, replaces its metadata or is added to it: `{items, metadata}`."""

from __future__ import annotations

from collections.abc import Sequence

from conversations.core.errors import ParameterInvalid
from conversations.core.prompt.messages import PromptMessage

from .fields import JsonSchema, nullable_fields, read_fields
from .response_items import ITEMS, read_items
from .response_request import METADATA, read_pairs

MOST_APPENDED = 20  # as OpenAI has it
APPENDED: JsonSchema = {"type": "array", "maxItems": MOST_APPENDED, "items": {"anyOf": list(ITEMS.values())}}
NEW_CONVERSATION = nullable_fields({"items": APPENDED, "metadata": METADATA}, title="ConversationRequest")
NEW_METADATA = nullable_fields({"metadata": METADATA}, required=("metadata",), title="MetadataRequest")
NEW_ITEMS = nullable_fields({"items": {**APPENDED, "minItems": 1}}, required=("items",), title="ItemsRequest")


def read_new_conversation(body: bytes) -> tuple[Sequence[PromptMessage], dict[str, str]]:
    """Return the messages and the metadata that a conversation begins with. Raises `ParameterInvalid`."""
    given = read_fields(body or b"{}", NEW_CONVERSATION)
    items = read_items(given.get("items", []), "items", most=MOST_APPENDED)
    return items, read_pairs(given.get("metadata", {}))


def read_metadata(body: bytes) -> dict[str, str]:
    """Return the metadata that takes the place of what a conversation has. Raises `ParameterInvalid`."""
    given = read_fields(body or b"{}", NEW_METADATA)
    if "metadata" not in given:
        raise ParameterInvalid("metadata", "it is missing")
    return read_pairs(given["metadata"])


def read_appended_items(body: bytes) -> Sequence[PromptMessage]:
    """Return the messages that are added to a conversation. Raises `ParameterInvalid`."""
    messages = read_items(read_fields(body or b"{}", NEW_ITEMS).get("items"), "items", most=MOST_APPENDED)
    if not messages:
        raise ParameterInvalid("items", "at least one is needed")
    return messages

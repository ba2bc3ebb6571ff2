"""A conversation as JSON, written in pieces while it is read: it may not fit into memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from conversations.models import Conversation
from conversations.selectors.conversations.exported_messages import exported_messages
from conversations.selectors.conversations.summary import exported_summaries


def conversation_json(conversation: Conversation, about: Mapping[str, Any]) -> Iterator[str]:
    """Yield one object in pieces: what *about* says, and under `messages` all of them, a message at a time.

    The versions of its summary come before them, as `summaries`, oldest first.
    """
    about = {**about, "summaries": exported_summaries(conversation)}
    yield as_json(about).removesuffix("}") + ', "messages": ['
    separator = "\n"
    for message in exported_messages(conversation):
        yield separator + as_json(message)
        separator = ",\n"
    yield "\n]}\n"


def as_json(value: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return *value*, in which there may be moments, amounts and ids, as people can read it."""
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False, indent=indent)

"""Export of a conversation as a file, JSON or CSV. The caller must have a reading."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase

from conversations.models import Conversation
from conversations.models.conversation import short_id
from conversations.selectors.conversations.exported_messages import exported_messages, known_cost
from conversations.services.portability.conversation_json import conversation_json
from conversations.views.usage.csv_response import csv_response, file_response

NUMBERS = ("position", "shown", "role", "state", "error", "created_at")
HEADER = (
    *NUMBERS,
    "content",
    "reasoning",
    "tool_calls",
    "grounding",
    "content_tokens",
    "grounding_tokens",
    "language_model",
    "cost_usd",
    "rating",
    "remark",
)


def csv_export(conversation: Conversation) -> HttpResponseBase:
    """Return a table, a row for each message; no cell is a formula."""
    rows = map(_row, exported_messages(conversation))
    return _never_stored(csv_response(_file_name(conversation, "csv"), HEADER, rows))


def json_export(conversation: Conversation) -> HttpResponseBase:
    """Return one object with the list of its messages."""
    about = {
        "id": conversation.public_id,
        "title": conversation.title,
        "owner": conversation.owner.email,
        "created_at": conversation.created_at,
    }
    pieces = conversation_json(conversation, about)
    return _never_stored(file_response(_file_name(conversation, "json"), pieces, content_type="application/json"))


def _row(message: dict[str, Any]) -> list[Any]:
    requests = message["requests"]
    passages = "\n\n".join(f"{passage.get('source', '')}: {passage['text']}" for passage in message["grounding"])
    models = ", ".join(dict.fromkeys(request["language_model"] for request in requests))
    tokens = [message["content_tokens"], message["grounding_tokens"]]
    contents = [message["content"], message["reasoning"], _calls(message), passages]
    rating = message["rating"] or {"verdict": "", "remark": ""}
    rated = [rating["verdict"], rating["remark"]]
    return [*(message[name] for name in NUMBERS), *contents, *tokens, models, known_cost(requests), *rated]


def _calls(message: dict[str, Any]) -> str:
    """Return the tool calls that the message asks for; for a reply also the outcome of those of its steps."""
    asked = [f"{call['function']['name']}({call['function']['arguments']})" for call in message["tool_calls"]]
    ended = [f"{call['tool']}: {call['state']}" for call in message["calls"]]
    return "\n".join([*asked, *ended])


def _file_name(conversation: Conversation, ending: str) -> str:
    return f"conversation-{short_id(conversation.public_id)}.{ending}"


def _never_stored(response: HttpResponseBase) -> HttpResponseBase:
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response

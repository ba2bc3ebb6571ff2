"""Tool calls among the messages of a long conversation. Import it when Django is set up."""

from __future__ import annotations

import json

from django.db import connection

from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from tests.benchmarks._long_conversations import LongConversation

# Questions have even positions and replies odd ones: of every six messages the last four are one turn from now on.
CALL, RESULT, TURN = 3, 4, 6
UPDATE = """
UPDATE conversations_message SET role = %(role)s, content = %(content)s, content_tokens = %(tokens)s,
       tool_calls = %(calls)s, tool_call_id = %(call_id)s
WHERE conversation_id = %(conversation)s AND position %% %(turn)s = %(place)s
"""


def call_tools(conversation: LongConversation, result: str) -> None:
    """Let every second reply have called a tool, which answered with *result*."""
    conversation.offer_tools("current_time")
    call = PromptToolCall("call_1_0", "current_time", '{"place": "Lisbon"}')
    messages = {
        CALL: PromptMessage("assistant", "", tool_calls=(call,)),
        RESULT: PromptMessage("tool", result, tool_call_id=call.id),
    }
    with connection.cursor() as cursor:
        for place, message in messages.items():
            cursor.execute(UPDATE, {**_columns(conversation, message), "turn": TURN, "place": place})


def _columns(conversation: LongConversation, message: PromptMessage) -> dict[str, object]:
    return {
        "conversation": conversation.id,
        "role": message.role,
        "content": message.content,
        "tokens": conversation.context.content_tokens(message),
        "calls": json.dumps([call.to_json() for call in message.tool_calls]),
        "call_id": message.tool_call_id or "",
    }

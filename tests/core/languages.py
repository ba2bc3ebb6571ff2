"""Languages whose tokens are easy to count by eye, and language models that speak them."""

import math
import re

from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.window.budget import ChatFormat, LanguageModel, content_tokens
from conversations.core.window.history import HistoryMessage

WITHOUT_OVERHEAD = ChatFormat(
    tokens_per_message=0, tokens_per_role=0, tokens_per_name=0, tokens_per_tool_call=0, priming_tokens=0
)
PIECE = re.compile(r" ?\w{1,4}|[^\w\s]{1,3}|\s+")


def by_character(text):
    """One character is one token."""
    return len(text)


def by_quarter(text):
    """Four characters are a token: a joined text has fewer tokens than its parts together."""
    return math.ceil(len(text) / 4)


def by_piece(text):
    """Pieces as a byte-pair encoding makes them: a space goes with the next word, so what is joined matters."""
    return sum(1 for _ in PIECE.finditer(text))


def language_model(context_window_tokens=200, *, reply_reserve_tokens=20, chat_format=WITHOUT_OVERHEAD):
    return LanguageModel("test", context_window_tokens, reply_reserve_tokens, "test", chat_format)


def message(position, content="", *, role=None, count_text=by_character, chat_format=WITHOUT_OVERHEAD, **fields):
    """Return a stored message; by its position a user's or an assistant's."""
    excluded = fields.pop("excluded", False)
    prompt_message = PromptMessage(role or ("user", "assistant")[position % 2], content, **fields)
    tokens = content_tokens(prompt_message, count_text=count_text, chat_format=chat_format)
    return HistoryMessage(position, prompt_message, tokens, id=1_000 + position, excluded=excluded)


def tool_call(position, *, ids=("a",), arguments="{}", **fields):
    calls = tuple(PromptToolCall(call_id, "f", arguments) for call_id in ids)
    return message(position, role="assistant", tool_calls=calls, **fields)


def tool_result(position, content="", *, call_id="a", **fields):
    return message(position, content, role="tool", tool_call_id=call_id, **fields)

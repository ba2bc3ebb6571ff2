"""What can be asked at each address of `/v1`, as the description has it: words, body, query and answer.

Methods and scopes are those of the views; a test finds an address or a method that stands in only one of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conversations.core.api import chat_request, conversation_request, recall_request, response_request, search_request
from conversations.core.api.fields import JsonSchema, said, text_schema
from conversations.core.api.idempotency import KEY_HEADER, MOST_KEY_CHARACTERS, RETRY_HEADER
from conversations.views.portability.exports import KINDS

from . import answer_schemas, exports, item_pages, responses, usage
from .chat_completions import SENT_AGAIN, WINDOW

JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Operation:
    """What is asked by one method at one address. *streams* says that the answer may be a stream of events, too."""

    group: str
    summary: str
    answer: JsonSchema
    body: JsonSchema | None = None
    may_be_empty: bool = False
    query: Mapping[str, JsonSchema] = field(default_factory=dict)
    required_query: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    streams: bool = False
    media_types: tuple[str, ...] = (JSON,)
    errors: tuple[int, ...] = ()


# Headers that are read, and headers that are told.
HEADERS: Mapping[str, JsonSchema] = {
    KEY_HEADER: {
        "type": "string",
        "pattern": rf"^[\x21-\x7e]{{1,{MOST_KEY_CHARACTERS}}}$",
        "description": "The same request with the same key is billed once, and gets the answer of the first.",
    },
    RETRY_HEADER: said(text_schema(), "How often the client has sent it before, as the openai package counts."),
    chat_request.CONVERSATION_HEADER: said(chat_request.CONVERSATION, "The request is a message of this conversation."),
}
TOLD: Mapping[str, str] = {
    WINDOW: "The id of the window record of the request.",
    SENT_AGAIN: "`true` where this is the answer to an earlier request.",
    chat_request.CONVERSATION_HEADER: "The conversation that it is a message of.",
}
# What every error says beside its sentence is in docs/api.md.
ERRORS: Mapping[int, str] = {
    400: "A parameter can't be taken: `param` names it. Or what must be sent is too long.",
    401: "The key was never made, is over or revoked.",
    403: "The scope is missing, the gate is closed, the account is blocked, money does not allow it, the API is off.",
    404: "The model, the record, the conversation, the response or the item is not for this key.",
    408: "The body of the request came too slowly.",
    409: "A reply is being written in the conversation, or what is asked for again is kept no longer.",
    413: "The request has more than 8 MB.",
    422: "This `Idempotency-Key` came with another request.",
    429: "A limit is reached; `Retry-After` says when it opens.",
    502: "The provider failed; it was tried again already where that could help.",
    503: "The site has too much to do, or can't reach its database.",
}
ALWAYS = (400, 401, 403, 404, 429, 503)  # addresses say which language model, conversation or record is asked for
OF_BODIES = (408, 413)
OF_REPLIES = (409, 422, 502)

Asked = tuple[str, str]  # the name of the address and the method
OPERATIONS: Mapping[Asked, Operation] = {
    ("api_models", "GET"): Operation("Models", "List the language models that the key may use", answer_schemas.MODELS),
    ("api_model", "GET"): Operation("Models", "Read one of them", answer_schemas.MODEL),
    ("api_chat_completions", "POST"): Operation(
        "Chat Completions",
        "Ask for a completion: stateless, or in a conversation",
        answer_schemas.CHAT_COMPLETION,
        body=chat_request.BODY,
        headers=(KEY_HEADER, RETRY_HEADER, chat_request.CONVERSATION_HEADER),
        told=(WINDOW, SENT_AGAIN, chat_request.CONVERSATION_HEADER),
        streams=True,
        errors=OF_REPLIES,
    ),
    ("api_responses", "POST"): Operation(
        "Responses",
        "Ask for a response",
        answer_schemas.RESPONSE,
        body=response_request.BODY,
        headers=(KEY_HEADER, RETRY_HEADER),
        told=(WINDOW, SENT_AGAIN),
        streams=True,
        errors=OF_REPLIES,
    ),
    ("api_input_tokens", "POST"): Operation(
        "Responses",
        "Count the tokens of the window that would be sent",
        answer_schemas.INPUT_TOKENS,
        body=response_request.COUNTED_BODY,
        errors=(409,),
    ),
    ("api_response", "GET"): Operation(
        "Responses",
        "Read a response as it stands, or the stream of one of the background",
        answer_schemas.RESPONSE,
        query=responses.QUERY,
        told=(WINDOW, SENT_AGAIN),
        streams=True,
    ),
    ("api_response", "DELETE"): Operation(
        "Responses",
        "Delete a response with its conversation, if that has no other reply",
        answer_schemas.DELETED_RESPONSE,
        errors=(409,),
    ),
    ("api_cancel_response", "POST"): Operation(
        "Responses", "Stop a response of the background", answer_schemas.RESPONSE, errors=(409,)
    ),
    ("api_input_items", "GET"): Operation(
        "Responses",
        "List what a response could read: the messages up to the one it answers",
        answer_schemas.ITEMS,
        query=item_pages.QUERY,
    ),
    ("api_conversations", "POST"): Operation(
        "Conversations",
        "Begin a conversation",
        answer_schemas.CONVERSATION,
        body=conversation_request.NEW_CONVERSATION,
        may_be_empty=True,
    ),
    ("api_conversation", "GET"): Operation("Conversations", "Read a conversation", answer_schemas.CONVERSATION),
    ("api_conversation", "POST"): Operation(
        "Conversations",
        "Replace the metadata of a conversation",
        answer_schemas.CONVERSATION,
        body=conversation_request.NEW_METADATA,
    ),
    ("api_conversation", "DELETE"): Operation(
        "Conversations", "Delete a conversation as the page does", answer_schemas.DELETED_CONVERSATION
    ),
    ("api_items", "GET"): Operation(
        "Conversations",
        "List the messages, calls and results of a conversation",
        answer_schemas.ITEMS,
        query=item_pages.QUERY,
    ),
    ("api_items", "POST"): Operation(
        "Conversations",
        "Store items, to which nothing replies",
        answer_schemas.ITEMS,
        body=conversation_request.NEW_ITEMS,
        errors=(409,),
    ),
    ("api_item", "GET"): Operation("Conversations", "Read one item", answer_schemas.ITEM),
    ("api_preview", "POST"): Operation(
        "Windowseat",
        "Tell the window of a chat completion before it is sent, and what it would cost at most",
        answer_schemas.PREVIEW,
        body=chat_request.BODY,
        headers=(chat_request.CONVERSATION_HEADER,),
        errors=(409,),
    ),
    ("api_window", "GET"): Operation(
        "Windowseat", "Read the record of a window that the same key asked for", answer_schemas.WINDOW_RECORD
    ),
    ("api_response_windows", "GET"): Operation(
        "Windowseat", "Read the records of all requests for a stored response", answer_schemas.WINDOW_RECORDS
    ),
    ("api_recall", "POST"): Operation(
        "Windowseat",
        "Tell which older messages recall would find for a question",
        answer_schemas.RECALL,
        body=recall_request.BODY,
    ),
    ("api_search", "POST"): Operation(
        "Windowseat",
        "Search your conversations, as the page does",
        answer_schemas.SEARCH,
        body=search_request.BODY,
    ),
    ("api_usage", "GET"): Operation("Windowseat", "Read usage and costs", answer_schemas.USAGE, query=usage.QUERY),
    ("api_export", "GET"): Operation(
        "Windowseat",
        "Export a conversation as a file",
        answer_schemas.OBJECT,
        query=exports.QUERY,
        required_query=("kind",),
        media_types=tuple(sorted({media_type.split(";")[0] for _, media_type, _ in KINDS.values()})),
        errors=(409,),
    ),
}

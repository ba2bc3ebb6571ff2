"""JSON Schemas of what is answered at `/v1`: the fields that are always there. Objects may get more of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from conversations.core.api.fields import BOOLEAN, NULL, TEXT, JsonSchema, object_schema, or_null, said
from conversations.core.window.window_record import WindowRecord
from conversations.views.usage.usage_files import FIGURES_IN_FILES

from .response_answers import DEFAULTS
from .windows import TOLD

COUNT: JsonSchema = {"type": "integer", "minimum": 0}
SECONDS = said(COUNT, "In seconds since 1970.")
MAYBE_COUNT = or_null(COUNT)
MAYBE_TEXT = or_null(TEXT)
MONEY = said(TEXT, "US dollars, to the last digit.")
OBJECT: JsonSchema = {"type": "object"}


def answer(properties: Mapping[str, JsonSchema], *, title: str = "", optional: Iterable[str] = ()) -> JsonSchema:
    """Return the schema of an object that has all of *properties*, without *optional* ones perhaps."""
    left_out = tuple(optional)
    named = {"title": title} if title else {}
    required = [name for name in properties if name not in left_out]
    return object_schema(properties, required=required, others=True, **named)


def constant(value: str | bool) -> JsonSchema:
    return {"const": value}


def list_of(item: JsonSchema, title: str) -> JsonSchema:
    return answer({"object": constant("list"), "data": {"type": "array", "items": item}}, title=title)


ERROR_FIELDS = answer({"message": TEXT, "type": TEXT, "param": MAYBE_TEXT, "code": MAYBE_TEXT})
ERROR = answer({"error": ERROR_FIELDS}, title="Error")
MODEL = answer(
    {
        **{"id": TEXT, "object": constant("model"), "created": COUNT, "owned_by": TEXT},
        "context_window": said(COUNT, "In tokens."),
        "max_output_tokens": said(COUNT, "In tokens."),
    },
    title="Model",
)
MODELS = list_of(MODEL, "Models")

TOOL_CALL = answer({"id": TEXT, "type": constant("function"), "function": answer({"name": TEXT, "arguments": TEXT})})
CHAT_MESSAGE = answer(
    {
        "role": constant("assistant"),
        "content": MAYBE_TEXT,
        "refusal": NULL,
        "reasoning_content": said(TEXT, "The thoughts of the language model."),
        "tool_calls": {"type": "array", "items": TOOL_CALL},
    },
    optional=("reasoning_content", "tool_calls"),
)
CHOICE = answer(
    {
        "index": COUNT,
        "message": CHAT_MESSAGE,
        "logprobs": NULL,
        "finish_reason": {"enum": ["stop", "length", "content_filter", "tool_calls"]},
    }
)
CHAT_USAGE = answer(
    {
        "prompt_tokens": COUNT,
        "completion_tokens": COUNT,
        "total_tokens": COUNT,
        "prompt_tokens_details": answer({"cached_tokens": COUNT}),
        "completion_tokens_details": answer({"reasoning_tokens": COUNT}),
    }
)
CHAT_COMPLETION = answer(
    {
        "id": TEXT,
        "object": constant("chat.completion"),
        "created": SECONDS,
        "model": TEXT,
        "system_fingerprint": NULL,
        "choices": {"type": "array", "minItems": 1, "maxItems": 1, "items": CHOICE},
        "usage": CHAT_USAGE,
    },
    title="ChatCompletion",
)

ITEM_STATUS: JsonSchema = {"enum": ["in_progress", "completed", "incomplete"]}
OUTPUT_TEXT = answer(
    {
        "type": constant("output_text"),
        "text": TEXT,
        "annotations": {"type": "array"},
        "logprobs": {"type": "array"},
    }
)
PART: JsonSchema = {
    "anyOf": [
        OUTPUT_TEXT,
        answer({"type": constant("input_text"), "text": TEXT}),
        answer({"type": constant("input_image"), "detail": TEXT, "image_url": NULL, "file_id": NULL}),
    ]
}
ITEM: JsonSchema = {
    "anyOf": [
        answer(
            {
                "id": TEXT,
                "type": constant("message"),
                "role": {"enum": ["user", "assistant", "system"]},
                "status": ITEM_STATUS,
                "content": {"type": "array", "items": PART},
            }
        ),
        answer(
            {
                "id": TEXT,
                "type": constant("reasoning"),
                "status": ITEM_STATUS,
                "summary": {"type": "array"},
                "content": {"type": "array", "items": answer({"type": constant("reasoning_text"), "text": TEXT})},
                "encrypted_content": NULL,
            }
        ),
        answer(
            {
                "id": TEXT,
                "type": constant("function_call"),
                "status": ITEM_STATUS,
                "call_id": TEXT,
                "name": TEXT,
                "arguments": TEXT,
            }
        ),
        answer(
            {
                "id": TEXT,
                "type": constant("function_call_output"),
                "status": ITEM_STATUS,
                "call_id": TEXT,
                "output": TEXT,
            }
        ),
    ],
    "title": "Item",
}
ITEMS = answer(
    {
        "object": constant("list"),
        "data": {"type": "array", "items": ITEM},
        "first_id": MAYBE_TEXT,
        "last_id": MAYBE_TEXT,
        "has_more": BOOLEAN,
    },
    title="Items",
)
RESPONSE_USAGE = answer(
    {
        "input_tokens": COUNT,
        "input_tokens_details": answer({"cached_tokens": COUNT, "cache_write_tokens": COUNT}),
        "output_tokens": COUNT,
        "output_tokens_details": answer({"reasoning_tokens": COUNT}),
        "total_tokens": COUNT,
    }
)
REPEATED = said({}, "As it was asked for, or what holds without that.")
RESPONSE = answer(
    {
        "id": TEXT,
        "object": constant("response"),
        "created_at": SECONDS,
        "completed_at": or_null(SECONDS),
        "status": {"enum": ["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]},
        "error": {"anyOf": [answer({"code": TEXT, "message": TEXT}), NULL]},
        "incomplete_details": {"anyOf": [answer({"reason": TEXT}), NULL]},
        "model": TEXT,
        "output": {"type": "array", "items": ITEM},
        "usage": {"anyOf": [RESPONSE_USAGE, NULL]},
        "store": BOOLEAN,
        "conversation": {"anyOf": [answer({"id": TEXT}), NULL]},
        **dict.fromkeys(DEFAULTS, REPEATED),
    },
    title="Response",
)
DELETED_RESPONSE = answer({"id": TEXT, "object": constant("response"), "deleted": constant(True)})
INPUT_TOKENS = answer({"object": constant("response.input_tokens"), "input_tokens": COUNT})
CONVERSATION = answer(
    {
        "id": TEXT,
        "object": constant("conversation"),
        "created_at": SECONDS,
        "metadata": {"type": "object", "additionalProperties": TEXT},
    },
    title="Conversation",
)
DELETED_CONVERSATION = answer({"id": TEXT, "object": constant("conversation.deleted"), "deleted": constant(True)})

FIELDS_OF_WINDOW: Mapping[str, JsonSchema] = {
    "str": TEXT,
    "int": COUNT,
    "int | None": MAYBE_COUNT,
}
WINDOW = answer({each.name: FIELDS_OF_WINDOW.get(str(each.type), {}) for each in fields(WindowRecord)}, title="Window")
KINDS_OF_TOLD: Mapping[str, JsonSchema] = {
    "language_model": TEXT,
    "usage_estimated": BOOLEAN,
    "cost_usd": or_null(MONEY),
    "finish_reason": TEXT,
    "error_code": TEXT,
}
WINDOW_RECORD = answer(
    {
        "id": TEXT,
        "object": constant("windowseat.window"),
        **{name: KINDS_OF_TOLD.get(name, MAYBE_COUNT) for name in TOLD},
        "window": said(OBJECT, "As it was stored; see `Window`."),
    },
    title="WindowRecord",
)
WINDOW_RECORDS = list_of(WINDOW_RECORD, "WindowRecords")
PREVIEW = answer(
    {
        "object": constant("windowseat.preview"),
        "language_model": TEXT,
        "input_tokens": COUNT,
        "most_output_tokens": COUNT,
        "most_cost_usd": said(MAYBE_TEXT, "US dollars, to the last digit; null where a price is unknown."),
        "error": {"anyOf": [ERROR_FIELDS, NULL], "description": "What the limits would refuse it with now."},
        "window": WINDOW,
    },
    title="Preview",
)
PASSAGE = answer(
    {
        "conversation": TEXT,
        "message": TEXT,
        "role": TEXT,
        "created_at": SECONDS,
        "text": TEXT,
        "is_whole": BOOLEAN,
        "tokens": COUNT,
        "score": or_null({"type": "number"}),
        "why": {"type": "array", "items": TEXT},
    }
)
RECALL = answer(
    {
        "object": constant("windowseat.recall"),
        "data": {"type": "array", "items": PASSAGE},
        "has_more": BOOLEAN,
        "error": MAYBE_TEXT,
    },
    title="Recall",
)
TITLE_HIT = answer({"conversation": TEXT, "title": TEXT, "last_active_at": SECONDS})
MESSAGE_HIT = answer(
    {
        "conversation": TEXT,
        "title": TEXT,
        "message": TEXT,
        "role": TEXT,
        "created_at": SECONDS,
        "excerpt": {"type": "array", "items": answer({"text": TEXT, "is_found": BOOLEAN})},
    }
)
SEARCH = answer(
    {
        "object": constant("windowseat.search"),
        "titles": {"type": "array", "items": TITLE_HIT},
        "messages": {"type": "array", "items": MESSAGE_HIT},
        "has_more": BOOLEAN,
        "is_partial": BOOLEAN,
        "have_typos": BOOLEAN,
        "problems": {"type": "array", "items": answer({"kind": TEXT, "part": TEXT})},
    },
    title="Search",
)
FIGURES = answer(dict.fromkeys(FIGURES_IN_FILES, COUNT) | {"cost_usd": MONEY})
USAGE = answer(
    {
        "object": constant("windowseat.usage"),
        "from": {"type": "string", "format": "date"},
        "to": {"type": "string", "format": "date"},
        "time_zone": TEXT,
        "by": TEXT,
        "data": {"type": "array", "items": FIGURES, "description": "Each row has the column that `by` names, too."},
        "total": FIGURES,
    },
    title="Usage",
)

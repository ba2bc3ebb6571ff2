"""The description of a body and the function that reads it agree: what one refuses, the other refuses.

Bodies are made by schemathesis, such as the description allows and such as it does not: FUZZ_EXAMPLES of each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from conversations.core.api import chat_request, conversation_request, recall_request, response_request, search_request
from conversations.core.api.fields import JsonSchema
from conversations.core.errors import ParameterInvalid
from conversations.core.prompt.messages import PromptMessage
from tests.support.api_rules import RULES

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "15"))
BODIES: dict[str, tuple[JsonSchema, Callable[[bytes], Any]]] = {
    "a chat completion": (chat_request.BODY, chat_request.read_chat_request),
    "a response": (response_request.BODY, lambda body: response_request.read_response_request(body, find)),
    "a conversation": (conversation_request.NEW_CONVERSATION, conversation_request.read_new_conversation),
    "items": (conversation_request.NEW_ITEMS, conversation_request.read_appended_items),
    "recall": (recall_request.BODY, recall_request.read_recall_request),
    "a search": (search_request.BODY, search_request.read_search_request),
}
# In place of what was made, so that its rules do not hide what is said of the other fields.
PLAIN = {
    "a chat completion": {"messages": [{"role": "user", "content": "Hello"}]},
    "a response": {"input": "Hello"},
    "items": {"items": [{"type": "message", "role": "user", "content": "Hello"}]},
}


def find(item_id: str) -> PromptMessage | None:
    return PromptMessage("user", "Hello") if item_id else None


def bodies(schema: JsonSchema, mode: schemathesis.GenerationMode) -> Any:
    described = {"application/json": {"schema": json.loads(json.dumps(schema))}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "One body", "version": "1"},
        "paths": {"/": {"post": {"requestBody": {"required": True, "content": described}, "responses": {}}}},
    }
    one_body = schemathesis.openapi.from_dict(document)
    one_body.config.generation.allow_x00 = False  # NUL is taken out before a text is looked at
    return one_body["/"]["POST"].as_strategy(generation_mode=mode)


def refusal_of(read: Callable[[bytes], Any], body: Any) -> str:
    try:
        read(body if isinstance(body, bytes) else json.dumps(body).encode())
    except ParameterInvalid as refusal:
        return str(refusal)
    return ""


@pytest.mark.parametrize("mode", schemathesis.GenerationMode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", BODIES)
def test_description_and_reader_agree(name, mode):
    schema, read = BODIES[name]
    fits = jsonschema_rs.validator_for(schema).is_valid
    seen = set()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(bodies(schema, mode))
    def agree(case: schemathesis.Case) -> None:
        plain = [{**case.body, **PLAIN[name]}] if name in PLAIN and isinstance(case.body, dict) else []
        for body in (case.body, *plain):
            refusal = refusal_of(read, body)
            is_described = not isinstance(body, bytes) and fits(body)
            seen.add((is_described, bool(refusal)))
            if is_described:
                assert not refusal or RULES.search(refusal), f"described, but refused: {refusal}"
            else:
                assert refusal, "not described, but taken"

    agree()
    assert (True, False) in seen if mode is schemathesis.GenerationMode.POSITIVE else (False, True) in seen

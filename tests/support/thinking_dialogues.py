"""Language models of the fake provider that think before they call a tool, and demand their reasoning back.

`thinks-FORM` calls the first tool of the request, thinking, then thinks and answers `It is done.`; FORM is one of those
below. It refuses by 400, as the providers do: a step of this turn whose reasoning has not come back byte for byte, and
any reasoning of an earlier turn.

| model | its reasoning |
| --- | --- |
| `thinks-deepseek` | `reasoning_content` |
| `thinks-openrouter` | `reasoning` with `reasoning_details`: a text, signed at its end, and one that is encrypted |
| `thinks-litellm` | `reasoning_content` with `thinking_blocks`, signed at their end |
| `thinks-gemini` | none in words; a `thought_signature` in `extra_content` of the call |
| `thinks-hidden` | none in words; a signature in the id of the call, as LiteLLM hides Gemini's |
| `thinks-endlessly` | `reasoning_content` of more than a megabyte, and nothing is demanded back |
| `thinks-strangely` | `reasoning_details` with a number that is none in JSON, and nothing is demanded back |
| `thinks-plain` | `reasoning`, and nothing is demanded back |
| `thinks-responses` | a reasoning item with encrypted content, over the Responses API |
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.tool_dialogues import wrong_with as wrong_order

PIECES = ("I need ", "the tool: “é” \u2028\n", "so I call it.")
SIGNATURE = {"google": {"thought_signature": "Sig/+é==\u2028"}}
DETAILS = [
    {"type": "reasoning.text", "text": "".join(PIECES), "index": 0, "format": "f1", "signature": "sig=="},
    {"type": "reasoning.encrypted", "data": "abc==", "id": "r1", "index": 1, "format": "f1"},
]
HIDDEN = "__thought__" + "CiQBjz1rXw+/é==" * 60
BLOCKS = [{"type": "thinking", "thinking": "".join(PIECES), "signature": "sig=="}]
DEMANDED: dict[str, dict[str, Any]] = {
    "deepseek": {"reasoning_content": "".join(PIECES)},
    "openrouter": {"reasoning_details": DETAILS},
    "litellm": {"thinking_blocks": BLOCKS},
    "gemini": {},
    "hidden": {},
    "plain": {},
    "responses": {},
}
FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")


async def answer_thinking(answer: Any) -> None:
    """Answer the request as its model does."""
    body, form = answer.exchange.body, answer.exchange.model.removeprefix("thinks-")
    if wrong := wrong_with(body, form):
        error = {"error": {"message": wrong, "type": "invalid_request_error", "param": None, "code": None}}
        await answer.whole(400, "application/json", json.dumps(error))
        return
    await answer.head()
    for number, piece in enumerate(["x" * 100_000] * 11 if form == "endlessly" else PIECES):
        await answer.chunk(_thought(form, piece, is_last=number == len(PIECES) - 1))
    if body["messages"][-1]["role"] == "user":
        function = {"name": body["tools"][0]["function"]["name"], "arguments": "{}"}
        signature = {"extra_content": SIGNATURE} if form == "gemini" else {}
        call = {
            "index": 0,
            "id": f"call_{len(body['messages'])}" + (HIDDEN if form == "hidden" else ""),
            "type": "function",
            "function": function,
            **signature,
        }
        await answer.chunk({"tool_calls": [call]})
        await answer.finish("tool_calls")
    else:
        await answer.texts(["It is", " done."])
        await answer.finish()


def _thought(form: str, piece: str, *, is_last: bool) -> dict[str, Any]:
    if form == "openrouter":
        details: list[dict[str, Any]] = [{"type": "reasoning.text", "text": piece, "index": 0, "format": "f1"}]
        if is_last:
            details[0]["signature"] = "sig=="
            details.append(DETAILS[1])
        return {"content": "", "reasoning": piece, "reasoning_details": details}
    if form == "litellm":
        block = {"type": "thinking", "thinking": piece} | ({"signature": "sig=="} if is_last else {})
        return {"reasoning_content": piece, "thinking_blocks": [block]}
    if form == "strangely":
        return {"reasoning_details": [{"type": "reasoning.text", "text": piece, "index": 0, "score": float("nan")}]}
    if form in ("gemini", "hidden"):
        return {"content": None}
    return {"reasoning" if form == "plain" else "reasoning_content": piece}


def wrong_with(body: dict[str, Any], form: str) -> str | None:
    """Return what is wrong with the reasoning of the steps."""
    if wrong := wrong_order(body):
        return wrong
    newest = max(place for place, message in enumerate(body["messages"]) if message["role"] == "user")
    for place, message in enumerate(body["messages"]):
        calls = message.get("tool_calls", ())
        fields = {name: message[name] for name in FIELDS if name in message}
        signatures = [call["extra_content"] for call in calls if "extra_content" in call]
        hidden = [call["id"] for call in calls if "__thought__" in call["id"]]
        items = message.get("items") or []
        if place < newest and (fields or signatures or hidden or items):
            return f"reasoning of an earlier turn: {fields} {signatures} {hidden} {items}"
        if place > newest and calls:
            if fields != DEMANDED.get(form, {}):
                return f"reasoning that was changed: {fields}"
            if form == "gemini" and signatures != [SIGNATURE] * len(calls):
                return "Function call is missing a thought_signature"
            if form == "hidden" and not all(call["id"].endswith(HIDDEN) for call in calls):
                return "Function call is missing a thought_signature"
            if form == "responses" and [item.get("encrypted_content") for item in items] != ["enc-0-é=="]:
                return f"no encrypted content: {items}"
    return None

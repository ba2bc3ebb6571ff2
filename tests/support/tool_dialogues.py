"""Language models of the fake provider that call tools. What they call stands in the newest user message, as JSON.

    {"calls": [[{"name": "clock", "arguments": {"zone": "UTC"}}], ...], "answer": "It is noon."}

Each list of `calls` is a step: one completion. Besides calls, which may name their own `id`, a step may have

| entry | result |
| --- | --- |
| `{"say": TEXT}` | text |
| `{"think": TEXT}` | reasoning |
| `{"finish": REASON}` | this finish reason in place of `tool_calls` |
| `{"status": CODE}` | no stream, but that HTTP status |
| `{"hang": true}`, `{"cut": true}` | nothing more; the connection closes |

Arguments that are text are sent as they are, others as JSON, in pieces; `$step` in them is the number of the step.
After the last step, or once it may call no more, the model answers: with `answer`, if it is there.

| model | what it does |
| --- | --- |
| `tools-script` | what the message says |
| `tools-forever` | the last step, again and again, until it may call no more |
| `tools-despite-none` | the same, and goes on even then |
| `tools-same-twice` | the first step twice |
| `tools-broken-json` | the first step with arguments that lack their end |
| `tools-unknown` | one call of `no_such_tool` |
| `tools-no-ids` | what the message says, without ids and indices |
| `tools-same-ids` | what the message says, each call with the id `call` |
| `tools-many-N` | the first call N times at once |
| `tools-long-N` | the first step's first call, with N digits as its argument `x` |
| `tools-silent-N` | what the message says; refuses as `context-silent-N` does |

Without JSON in the message the first tool of the request is called, without arguments. As OpenAI does, all of them
refuse a prompt in which a call has no result, a result no call, or calls stand in a request without tools.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from tests.support.sent_pictures import text_of

Step = list[dict[str, Any]]
Script = dict[str, Any]
ANSWER = "That is what the tools say."


async def answer_with_tools(answer: Any) -> None:
    """Answer the request as its model does."""
    body = answer.exchange.body
    if reason := wrong_with(body):
        error = {"error": {"message": reason, "type": "invalid_request_error", "param": "messages", "code": None}}
        await answer.whole(400, "application/json", json.dumps(error))
        return
    script, number = script_of(body), steps_taken(body["messages"]) + 1
    may_call = bool(body.get("tools")) and body.get("tool_choice") != "none"
    step = step_of(body["model"], script["calls"], number, may_call=may_call)
    if step is None:
        await _say_all(answer, script.get("answer", ANSWER))
    else:
        await _take(answer, json.loads(json.dumps(step).replace("$step", str(number))))


def wrong_with(body: dict[str, Any]) -> str | None:
    """Return what OpenAI would say to the order of the messages."""
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            waiting.remove(message["tool_call_id"])
        elif waiting:
            break
        waiting += [call["id"] for call in message.get("tool_calls", ())]
    if waiting:
        return f"tool_call_ids did not have response messages: {waiting}"
    has_calls = any(message.get("tool_calls") for message in body["messages"])
    return "calls of tools, but no tools" if has_calls and not body.get("tools") else None


def script_of(body: dict[str, Any]) -> Script:
    """Return what the newest user message says; what was looked up for it stands before it."""
    newest = [text_of(message["content"]) for message in body["messages"] if message["role"] == "user"][-1]
    if (begin := newest.rfind('{"calls"')) >= 0:
        script: Script = json.JSONDecoder().raw_decode(newest[begin:])[0]
        return script
    tools = body.get("tools") or [{"function": {"name": "no_tools_here"}}]
    return {"calls": [[{"name": tools[0]["function"]["name"], "arguments": {}}]]}


def steps_taken(messages: list[dict[str, Any]]) -> int:
    """Return how often the model has called tools since the newest user message."""
    newest = max(place for place, message in enumerate(messages) if message["role"] == "user")
    return sum(bool(message.get("tool_calls")) for message in messages[newest:])


def step_of(model: str, steps: list[Step], number: int, *, may_call: bool) -> Step | None:
    """Return what the model does as step *number*; None if it answers."""
    if model == "tools-despite-none":
        return steps[-1]
    if not may_call:
        return None
    if model == "tools-forever":
        return steps[-1]
    if model == "tools-same-twice":
        return steps[0] if number <= 2 else None
    if model == "tools-unknown":
        return [{"name": "no_such_tool", "arguments": {}}] if number == 1 else None
    if model == "tools-broken-json":
        return [_broken(entry) for entry in steps[0]] if number == 1 else None
    if many := re.fullmatch(r"tools-many-(\d+)", model):
        return [steps[0][0]] * int(many[1]) if number == 1 else None
    if long := re.fullmatch(r"tools-long-(\d+)", model):
        digits = "".join(str(place % 10) for place in range(int(long[1])))
        return [steps[0][0] | {"arguments": {"x": digits}}] if number == 1 else None
    if number > len(steps):
        return None
    return [entry | ID_OF.get(model, {}) for entry in steps[number - 1]]


ID_OF: dict[str, dict[str, Any]] = {"tools-no-ids": {"id": None}, "tools-same-ids": {"id": "call"}}


def _broken(entry: dict[str, Any]) -> dict[str, Any]:
    return entry | {"arguments": _arguments(entry)[:-1]} if "name" in entry else entry


def _arguments(call: dict[str, Any]) -> str:
    arguments = call.get("arguments", {})
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


async def _take(answer: Any, step: Step) -> None:
    """Make one step of calls."""
    if refused := [entry["status"] for entry in step if "status" in entry]:
        error = {"error": {"message": "as it was told", "type": "fake_error", "param": None, "code": refused[0]}}
        await answer.whole(refused[0], "application/json", json.dumps(error))
        return
    await answer.head()
    finish, index = "tool_calls", 0
    for entry in step:
        finish = entry.get("finish", finish)
        if "say" in entry:
            await answer.chunk({"content": entry["say"]})
        elif "think" in entry:
            await answer.chunk({"reasoning_content": entry["think"]})
        elif "hang" in entry:
            await asyncio.Event().wait()
        elif "cut" in entry:
            await answer.cut()
        elif "name" in entry:
            await _call(answer, entry, index)
            index += 1
    await answer.finish(finish)


async def _call(answer: Any, entry: dict[str, Any], index: int) -> None:
    """Say one call: first its name, then its arguments in two pieces. A call whose id is None is said in one, bare."""
    arguments, half = _arguments(entry), len(_arguments(entry)) // 2
    answer.exchange.called.append({"name": entry["name"], "arguments": arguments})
    if "id" in entry and entry["id"] is None:
        await answer.chunk({"tool_calls": [{"function": {"name": entry["name"], "arguments": arguments}}]})
        return
    call_id = entry.get("id", f"call_{len(answer.exchange.body['messages'])}_{index}")
    begun = {"index": index, "id": call_id, "type": "function", "function": {"name": entry["name"], "arguments": ""}}
    await answer.chunk({"tool_calls": [begun]})
    for piece in (arguments[:half], arguments[half:]):
        await answer.chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


async def _say_all(answer: Any, text: str) -> None:
    await answer.head()
    await answer.texts(re.findall(r"\s*\S+", text))
    await answer.finish()

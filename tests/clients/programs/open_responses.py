"""The cases of Open Responses' compliance suite, each answer checked against the types made from its specification.

They are written after openresponses/openresponses, src/lib/compliance-tests.ts, by its names; what is left out is in
docs/known-limits.md: what goes over WebSocket, and compaction. A case goes on where the suite only looks at the status:
the events of streams come in order, and ids are the same in all of them. Prints what is wrong, by case, as JSON.
"""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import httpx
from openresponses_types import types
from pydantic import BaseModel, ValidationError

Item = dict[str, Any]
TYPES_OF_EVENTS: dict[str, type[BaseModel]] = {
    str(next(iter(kind.model_fields["type"].annotation))): kind
    for name, kind in vars(types).items()
    if name.endswith("StreamingEvent")
}
# OpenAI's own package reads these by other names or in another form than the specification has: its form is written.
AS_OPENAI_HAS_THEM = {"response.reasoning_text.delta", "response.reasoning_text.done"}
RED_SQUARE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP8z4AdMOEQH6QSAM1BAQ/oQeJvAAAA"
    "AElFTkSuQmCC"
)
TOOL = {
    "type": "function",
    "name": "get_time",
    "description": "Return the time somewhere.",
    "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": []},
}
client = httpx.Client(
    base_url=os.environ["BASE_URL"] + "/", headers={"Authorization": f"Bearer {os.environ['KEY']}"}, timeout=60
)
wrong: dict[str, list[str]] = {}


def case(name: str) -> Callable[[Callable[[], None]], None]:
    """Run a case, and note under its *name* what is wrong."""

    def run(function: Callable[[], None]) -> None:
        wrong[name] = []
        try:
            function()
        except (AssertionError, ValidationError, httpx.HTTPError) as error:
            wrong[name].append(f"{type(error).__name__}: {error}")

    return run


def said(role: str, content: Any, **fields: str) -> Item:
    return {"type": "message", "role": role, "content": content, **fields}


def create(**fields: Any) -> types.ResponseResource:
    answer = client.post("responses", json={"model": "ok", **fields})
    assert answer.status_code == 200, answer.text
    response = types.ResponseResource.model_validate(answer.json())
    assert response.status == "completed", response.status
    assert response.output, "there are no output items"
    return response


def stream(**fields: Any) -> list[Item]:
    """Return the events of a stream, each of which is as the specification has it."""
    with client.stream("POST", "responses", json={"model": "ok", "stream": True, **fields}) as answer:
        answer.read()
    assert answer.status_code == 200, answer.text
    *written, done, rest = answer.text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", ""), answer.text[-200:]
    events = list(read_events(written))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    assert events[-1]["type"] == "response.completed"
    check_items(events)
    return events


def read_events(written: list[str]) -> Iterator[Item]:
    for lines in written:
        name, data = lines.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        if event["type"] not in AS_OPENAI_HAS_THEM:
            TYPES_OF_EVENTS[event["type"]].model_validate(event)
        yield event


def check_items(events: list[Item]) -> None:
    """Each item is added, filled and done under one id, and is in the response at the end as it was done."""
    added = [event["item"]["id"] for event in events if event["type"] == "response.output_item.added"]
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert added == [item["id"] for item in done]
    assert events[-1]["response"]["output"] == done
    assert len({event["response"]["id"] for event in events if "response" in event}) == 1
    for event in events:
        assert event.get("item_id") in (None, *added)


def kinds(response: types.ResponseResource) -> list[str]:
    return [item.type for item in response.output]


@case("basic-response")
def _() -> None:
    create(input=[said("user", "Say hello in exactly 3 words.")])


@case("assistant-phase")
def _() -> None:
    earlier = [said("assistant", "I look.", phase="commentary"), said("assistant", "Four.", phase="final_answer")]
    create(input=[*earlier, said("user", "Repeat only the number.")])


@case("streaming-response")
def _() -> None:
    for store in (True, False):
        events = stream(input=[said("user", "Count from 1 to 5.")], store=store)
        text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        assert text == events[-1]["response"]["output"][0]["content"][0]["text"]


@case("streaming-reasoning")
def _() -> None:
    events = stream(model="reasoning", input="Think first.")
    assert [item["type"] for item in events[-1]["response"]["output"]] == ["reasoning", "message"]


@case("system-prompt")
def _() -> None:
    create(input=[said("system", "You are a pirate."), said("user", "Say hello.")])


@case("tool-calling")
def _() -> None:
    assert "function_call" in kinds(
        create(model="tools-script", input=[said("user", "What time is it?")], tools=[TOOL])
    )


@case("tool-calling-streaming")
def _() -> None:
    events = stream(model="tools-script", input=[said("user", "What time is it?")], tools=[TOOL])
    told = [event["type"] for event in events]
    assert "response.function_call_arguments.delta" in told
    assert "response.function_call_arguments.done" in told
    assert events[-1]["response"]["output"][-1]["type"] == "function_call"


@case("function-call-roundtrip")
def _() -> None:
    choice = {"type": "function", "name": "get_time"}
    asked = create(model="tools-script", input="What time is it?", tools=[TOOL], tool_choice=choice)
    [call] = [item for item in asked.output if item.type == "function_call"]
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "noon"}
    by_id = create(model="tools-script", input=[output], previous_response_id=asked.id, tools=[TOOL])
    assert kinds(by_id) == ["message"]
    again = {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments}
    by_history = create(model="tools-script", input=[said("user", "What time is it?"), again, output], tools=[TOOL])
    assert kinds(by_history) == ["message"]


@case("image-input")
def _() -> None:
    image = {"type": "input_image", "image_url": RED_SQUARE}
    create(input=[said("user", [{"type": "input_text", "text": "What is this?"}, image])])


@case("multi-turn")
def _() -> None:
    create(input=[said("user", "My name is Alice."), said("assistant", "Hello Alice!"), said("user", "What is it?")])


@case("previous-response-id")
def _() -> None:
    first = create(input="Remember this code word: papaya. Reply with only OK.")
    second = create(input="What code word did I ask you to remember?", previous_response_id=first.id)
    assert second.previous_response_id == first.id


print(json.dumps(wrong))

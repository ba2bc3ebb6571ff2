"""`/v1/responses` as programs use it: the openai package, over a real port, and pages and ledger afterwards."""

from __future__ import annotations

import json
import uuid
from itertools import pairwise

import openai
import pytest
from openai.types.responses import Response

from tests.support.api_clients import (
    ANSWER,
    TOOL,
    client_of,
    conversation_of,
    make_key,
    post_raw,
    revoke,
    rows_of,
    sent_messages,
)
from tests.support.patience import wait_for

HELLO = "Say hello."
# Open Responses wants each of these in every response, also where it is null.
KEYS = {
    *("id", "object", "created_at", "completed_at", "status", "incomplete_details", "model", "previous_response_id"),
    *("instructions", "output", "error", "tools", "tool_choice", "truncation", "parallel_tool_calls", "text", "top_p"),
    *("presence_penalty", "frequency_penalty", "top_logprobs", "temperature", "reasoning", "usage"),
    *("max_output_tokens", "max_tool_calls", "store", "background", "service_tier", "metadata", "safety_identifier"),
    "prompt_cache_key",
}


@pytest.fixture(scope="module")
def key(shared_site):
    return make_key(shared_site, scopes=("chat", "read", "manage"))


@pytest.fixture
def client(site, key):
    return client_of(site, key)


# Not stored


def test_a_response_that_is_not_stored_comes_whole(site, client, key):
    raw = client.responses.with_raw_response.create(
        model="ok",
        input=[
            {"role": "user", "content": "One."},
            {"role": "assistant", "content": "Two."},
            {"role": "user", "content": HELLO},
        ],
        instructions="Be brief.",
        temperature=0.5,
        store=False,
        metadata={"from": "a test"},
    )
    body = json.loads(raw.text)
    assert body.keys() >= KEYS
    assert type(body["created_at"]) is int
    response = raw.parse()
    assert (response.output_text, response.status, response.store) == (ANSWER, "completed", False)
    [message] = body["output"]
    assert (message["status"], message["content"][0]["annotations"]) == ("completed", [])
    row = rows_of(site, key)[-1]
    assert (row["purpose"], row["conversation_id"]) == ("api", None)
    assert (response.usage.input_tokens, response.usage.output_tokens) == (row["input_tokens"], row["output_tokens"])
    assert raw.headers["x-windowseat-window"] == str(row["opening_key"])
    assert sent_messages(site) == [("system", "Be brief."), ("user", "One."), ("assistant", "Two."), ("user", HELLO)]
    with pytest.raises(openai.NotFoundError) as refusal:
        client.responses.retrieve(response.id)
    assert refusal.value.code == "response_not_found"


@pytest.mark.parametrize("store", [True, False])
def test_who_asks_is_told_again_and_to_no_provider(site, client, store):
    hints = {"prompt_cache_key": "a-session", "safety_identifier": "a-person", "user": "an-older-name"}
    extra = {"client_metadata": {"session": "1"}}
    response = client.responses.create(model="ok", input=HELLO, store=store, extra_body=extra, **hints)
    assert {name: getattr(response, name) for name in hints} == hints
    if store:
        assert client.responses.retrieve(response.id).prompt_cache_key == "a-session"
    assert not any(value in json.dumps(site.upstream.log()[-1]["body"]) for value in hints.values())


def test_functions_of_the_client_are_called_both_ways(site, client):
    with client.responses.stream(model="tool-calls", input=HELLO, tools=[TOOL], store=False) as stream:
        events = list(stream)
        response = stream.get_final_response()
    [call] = [item for item in response.output if item.type == "function_call"]
    assert (call.name, call.status) == ("get_time", "completed")
    kinds = [event.type for event in events]
    assert kinds.index("response.function_call_arguments.delta") < kinds.index("response.function_call_arguments.done")
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "noon"}
    again = [{"role": "user", "content": HELLO}, *(item.model_dump() for item in response.output), output]
    assert client.responses.create(model="ok", input=again, tools=[TOOL], store=False).output_text == ANSWER
    body = site.upstream.log()[-1]["body"]
    assert body["messages"][-2]["tool_calls"][0]["id"] == call.call_id
    assert body["messages"][-1]["content"] == "noon"
    assert body["tools"][0]["function"]["name"] == "get_time"


def test_what_is_too_long_is_windowed_or_refused(site, client):
    turns = [{"role": ("user", "assistant")[at % 2], "content": f"{at} " + "word " * 400} for at in range(100)]
    items = [*turns, {"role": "user", "content": HELLO}]
    for store in (False, True):
        response = client.responses.create(model="ok", input=items, store=store)
        assert response.truncation == "auto"
        assert 2 < len(sent_messages(site)) < 50
        with pytest.raises(openai.BadRequestError) as refusal:
            client.responses.create(model="ok", input=items, store=store, truncation="disabled")
        assert (refusal.value.code, refusal.value.param) == ("context_length_exceeded", "input")


def test_functions_are_called_in_stored_responses_too(site, client):
    asked = client.responses.create(model="tool-calls", input=HELLO, tools=[TOOL], instructions="Be brief.")
    [call] = asked.output
    assert (call.type, call.name, asked.status) == ("function_call", "get_time", "completed")
    assert client.responses.retrieve(asked.id).output == asked.output
    status, page = site.browser.request(f"/c/{conversation_of(asked)}/")
    assert (status, "No answer from the program" in page) == (200, True)
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "noon"}
    for wrong in ([{**output, "call_id": "other"}], [{"role": "user", "content": "x"}, output]):
        with pytest.raises(openai.BadRequestError):
            client.responses.create(model="ok", input=wrong, previous_response_id=asked.id, tools=[TOOL])
    twice = client.responses.create(model="tool-calls", input=[output], previous_response_id=asked.id, tools=[TOOL])
    again = {**output, "call_id": twice.output[0].call_id, "output": "one"}
    answered = client.responses.create(model="ok", input=[again], previous_response_id=twice.id)
    assert answered.output_text == ANSWER
    assert [role for role, _ in sent_messages(site)] == ["user", "assistant", "tool", "assistant", "tool"]
    assert [content for _, content in sent_messages(site)][2::2] == ["noon", "one"]
    assert site.upstream.log()[-1]["body"]["tools"][0]["function"]["name"] == "get_time"
    for response in (asked, twice, answered):
        assert client.responses.retrieve(response.id).output == response.output
    client.responses.create(model="ok", input="Thanks.", previous_response_id=answered.id)
    assert [role for role, _ in sent_messages(site)] == ["user", "assistant", "user"]
    _, page = site.browser.request(f"/c/{conversation_of(asked)}/")
    assert ("get_time" in page, "No answer from the program" in page) == (True, False)


def test_a_history_that_ends_with_calls_is_stored_and_goes_on(site, client):
    asked = client.responses.create(model="tool-calls", input=HELLO, tools=[TOOL], store=False)
    output = {"type": "function_call_output", "call_id": asked.output[0].call_id, "output": "noon"}
    items = [{"role": "user", "content": HELLO}, *(item.model_dump() for item in asked.output), output]
    answered = client.responses.create(model="ok", input=items, tools=[TOOL])
    assert answered.output_text == ANSWER
    assert [role for role, _ in sent_messages(site)] == ["user", "assistant", "tool"]
    client.responses.create(model="ok", input="Thanks.", previous_response_id=answered.id)
    assert [role for role, _ in sent_messages(site)] == ["user", "assistant", "user"]


def test_calls_without_outputs_are_in_no_later_prompt(site, client):
    asked = client.responses.create(model="tool-calls", input=HELLO, tools=[TOOL])
    client.responses.create(model="ok", input="Never mind.", previous_response_id=asked.id)
    assert sent_messages(site) == [("user", HELLO), ("user", "Never mind.")]


# Streams


def events_of(stream):
    """Return the events of a stream, after a look at their order: numbers grow by one, and ids are the same."""
    events = list(stream)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    check_ids(events)
    return events


def check_ids(events):
    assert events[0].type == "response.created"
    told = [event.response for event in events if hasattr(event, "response")]
    assert len({response.id for response in told}) == 1
    added = [event.item.id for event in events if event.type == "response.output_item.added"]
    done = [event.item.id for event in events if event.type == "response.output_item.done"]
    assert added == done == [item.id for item in told[-1].output]
    for event in events:
        if hasattr(event, "item_id"):
            assert event.item_id == added[event.output_index]


@pytest.mark.parametrize("store", [True, False])
def test_events_come_in_order_with_the_same_ids(client, store):
    events = events_of(client.responses.create(model="reasoning", input=HELLO, stream=True, store=store))
    kinds = [each.type for each, following in pairwise([*events, events[-1]]) if each.type != following.type]
    item = ["response.output_item.added", "response.content_part.added"]
    end = ["response.content_part.done", "response.output_item.done"]
    assert [*kinds, events[-1].type] == [
        "response.created",
        "response.in_progress",
        *item,
        "response.reasoning_text.delta",
        "response.reasoning_text.done",
        *end,
        *item,
        "response.output_text.delta",
        "response.output_text.done",
        *end,
        "response.completed",
    ]
    response = events[-1].response
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text == response.output_text
    assert response.output[0].content[0].text == "They greet me."
    assert all(event.logprobs == [] for event in events if event.type.startswith("response.output_text"))


async def test_an_asynchronous_client_streams_too(site, key):
    client = openai.AsyncOpenAI(base_url=f"{site.address}/v1", api_key=key)
    async with client.responses.stream(model="tokens-20000", input=HELLO, store=False) as stream:
        response = await stream.get_final_response()
    assert len(response.output_text.split()) == 20_000


def test_a_stream_ends_with_done(site, key):
    status, text, headers = post_raw_text(site, key, {"model": "ok", "input": HELLO, "stream": True, "store": False})
    assert status == 200
    assert headers["Content-Type"].startswith("text/event-stream")
    assert text.endswith("data: [DONE]\n\n")
    for event in text.split("\n\n")[:-2]:
        name, data = event.split("\n")
        assert name.removeprefix("event: ") == json.loads(data.removeprefix("data: "))["type"]


def post_raw_text(site, key, body):
    import http.client
    from urllib.parse import urlsplit

    connection = http.client.HTTPConnection(urlsplit(site.address).netloc, timeout=60)
    connection.request("POST", "/v1/responses", json.dumps(body), {"Authorization": f"Bearer {key}"})
    response = connection.getresponse()
    return response.status, response.read().decode(), response.headers


@pytest.mark.parametrize("store", [True, False])
def test_a_stream_that_breaks_off_ends_with_an_error_and_a_failed_response(client, store):
    events = events_of(client.responses.create(model="cut-after-5", input=HELLO, stream=True, store=store))
    error, failed = events[-2:]
    assert (error.type, error.code) == ("error", "stream_broken")
    assert (failed.type, failed.response.status) == ("response.failed", "failed")
    assert failed.response.error.code == "server_error"
    assert failed.response.output[0].status == "incomplete"


@pytest.mark.parametrize("store", [True, False])
def test_an_answer_that_was_cut_off_is_incomplete(client, store):
    response = client.responses.create(model="length", input=HELLO, store=store)
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert response.output[0].status == "incomplete"
    events = events_of(client.responses.create(model="length", input=HELLO, store=store, stream=True))
    assert events[-1].type == "response.incomplete"


# Stored


def test_a_stored_response_is_on_the_page_and_goes_on(site, client, key):
    first = client.responses.create(model="ok", input="First of all.", metadata={"a": "b"})
    assert (first.output_text, first.store, first.status) == (ANSWER, True, "completed")
    second = client.responses.create(model="ok", input="And then?", previous_response_id=first.id)
    assert second.conversation.id == first.conversation.id
    assert second.previous_response_id == first.id
    assert sent_messages(site)[-3:] == [("user", "First of all."), ("assistant", ANSWER), ("user", "And then?")]
    row = rows_of(site, key)[-1]
    assert row["purpose"] == "reply"
    assert second.usage.input_tokens == row["input_tokens"]
    page = site.open_page(conversation=conversation_of(first))
    asked = client.responses.create(model="ok", input="Once more.", conversation=first.conversation.id)
    assert page.wait_for("message.stored")["reply"] == int(asked.id[-16:], 16)
    page.wait_for("reply.done")


def test_what_the_page_asked_for_is_a_response_too(site, client):
    site.answer_with("ok")
    page = site.open_page()
    reply = site.ask(page, "ok")
    site.wait_for_end(reply)
    response = client.responses.retrieve(f"resp_{uuid.UUID(page.conversation).hex}{reply:016x}")
    assert response.output_text == ANSWER
    following = client.responses.create(model="ok", input="And then?", previous_response_id=response.id)
    assert following.conversation.id == f"conv_{uuid.UUID(page.conversation).hex}"


def test_a_response_that_others_follow_already_goes_on_in_a_branch(site, client):
    first = client.responses.create(model="ok", input="First.")
    second = client.responses.create(model="ok", input="Second.", previous_response_id=first.id)
    other = client.responses.create(model="ok", input="Another second.", previous_response_id=first.id)
    assert sent_messages(site)[-3:] == [("user", "First."), ("assistant", ANSWER), ("user", "Another second.")]
    assert other.conversation.id != second.conversation.id == first.conversation.id
    client.responses.create(model="ok", input="Third.", previous_response_id=second.id)
    assert sent_messages(site)[-3:] == [("user", "Second."), ("assistant", ANSWER), ("user", "Third.")]


def test_a_history_in_the_input_is_stored_before_it(site, client):
    call = {"type": "function_call", "call_id": "call_1", "name": "get_time", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "noon"}
    said = {"role": "assistant", "content": "It is noon."}
    items = [
        {"role": "user", "content": "What time is it?"},
        call,
        output,
        said,
        {"role": "user", "content": "Thanks."},
    ]
    first = client.responses.create(model="ok", input=[{"role": "system", "content": "Be brief."}, *items])
    assert [role for role, _ in sent_messages(site)] == [
        "system",
        "user",
        "assistant",
        "user",
    ]  # old steps are left out
    client.responses.create(model="ok", input="Bye.", previous_response_id=first.id, instructions="Be polite.")
    assert sent_messages(site)[0] == ("system", "Be brief.\n\nBe polite.")
    assert [content for _, content in sent_messages(site)[-4:]] == ["It is noon.", "Thanks.", ANSWER, "Bye."]
    title = "SELECT title FROM conversations_conversation WHERE public_id = %s"
    assert site.database.value(title, conversation_of(first)) == "What time is it?"


def test_what_is_asked_for_holds_for_one_response_alone(site, client):
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    first = client.responses.create(
        model="ok",
        input="First.",
        instructions="Be brief.",
        temperature=0.25,
        top_p=0.5,
        max_output_tokens=50,
        text={"format": {"type": "json_schema", "name": "a", "schema": schema, "strict": True}},
    )
    body = site.upstream.log()[-1]["body"]
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (body["temperature"], body["top_p"]) == (0.25, 0.5)
    assert 50 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert (first.instructions, first.temperature, first.max_output_tokens) == ("Be brief.", 0.25, 50)
    assert client.responses.retrieve(first.id).temperature == 0.25
    client.responses.create(model="ok", input="Second.", previous_response_id=first.id)
    body = site.upstream.log()[-1]["body"]
    assert body["messages"][0]["role"] == "user"
    assert not body.keys() & {"temperature", "top_p", "response_format"}


def test_another_model_may_answer_in_the_same_conversation(site, client):
    first = client.responses.create(model="ok", input="First.")
    second = client.responses.create(model="reasoning", input="Second.", previous_response_id=first.id)
    assert second.model == "reasoning"
    assert site.upstream.log()[-1]["model"] == "reasoning"
    chosen = "SELECT language_model FROM conversations_conversation WHERE public_id = %s"
    assert site.database.value(chosen, conversation_of(first)) == "ok"


def test_what_is_referred_to_is_found(site, client):
    first = client.responses.create(model="ok", input="First.")
    [message] = first.output
    items = [{"role": "user", "content": "First."}, {"type": "item_reference", "id": message.id}]
    client.responses.create(model="ok", input=[*items, {"role": "user", "content": "Second."}], store=False)
    assert sent_messages(site)[-2:] == [("assistant", ANSWER), ("user", "Second.")]
    unknown = {"type": "item_reference", "id": f"msg_{uuid.uuid4().hex}{1:016x}"}
    with pytest.raises(openai.BadRequestError) as refusal:
        client.responses.create(model="ok", input=[unknown, {"role": "user", "content": "Second."}], store=False)
    assert refusal.value.param == "input[0].id"


# Read, cancelled, deleted


def test_a_response_is_made_in_the_background_and_read_while_it_is(site, client):
    response = client.responses.create(model="held-60", input=HELLO, background=True)
    assert response.status == "queued"
    wait_for(lambda: client.responses.retrieve(response.id).output_text.endswith("word59"), "its text is stored")
    assert client.responses.retrieve(response.id).status == "in_progress"
    site.upstream.release()
    wait_for(lambda: client.responses.retrieve(response.id).status == "completed", "it is whole")
    whole = client.responses.retrieve(response.id)
    assert whole.usage.output_tokens > 0
    assert whole.background is True
    assert whole.completed_at >= whole.created_at


def test_a_stream_of_the_background_is_read_again_from_where_it_broke_off(site, client):
    stream = client.responses.create(model="held-60", input=HELLO, background=True, stream=True)
    seen = []
    for event in stream:
        seen.append(event)
        if event.type == "response.output_text.delta":
            break
    stream.close()
    response_id, delta = seen[0].response.id, seen[-1]
    read = delta.delta[:10]  # the connection broke off in the middle of it
    after = delta.sequence_number - len(delta.delta) + len(read)
    again = iter(client.responses.retrieve(response_id, stream=True, starting_after=after))
    following = [next(again)]
    site.upstream.release()
    following += again
    numbers = [event.sequence_number for event in (*seen[:-1], *following)]
    assert numbers == sorted(set(numbers))
    text = read + "".join(event.delta for event in following if event.type == "response.output_text.delta")
    assert text == following[-1].response.output_text
    assert text.endswith("word59")
    whole = list(client.responses.retrieve(response_id, stream=True))
    check_ids(whole)
    assert whole[-1].sequence_number == numbers[-1]
    later = (
        "UPDATE conversations_run SET ended_at = ended_at + interval '1 hour' WHERE reply_id = %s RETURNING ended_at"
    )
    ended = site.database.value(later, int(response_id[-16:], 16))
    *_, last = client.responses.retrieve(response_id, stream=True)
    assert last.response.completed_at == int(ended.timestamp())
    with client.responses.stream(response_id=response_id) as stream:
        assert stream.get_final_response().output_text == text


def test_closing_a_connection_ends_no_stored_response(site, client):
    stream = client.responses.create(model="held-60", input=HELLO, stream=True)
    response_id = next(iter(stream)).response.id
    stream.close()
    with pytest.raises(openai.ConflictError):
        client.with_options(max_retries=0).responses.create(model="ok", input="x", previous_response_id=response_id)
    site.upstream.release()
    wait_for(lambda: client.responses.retrieve(response_id).status == "completed", "it is whole")
    with pytest.raises(openai.BadRequestError) as refusal:
        client.responses.retrieve(response_id, stream=True)
    assert refusal.value.param == "stream"


def test_a_response_of_the_background_is_cancelled(site, client):
    response = client.responses.create(model="endless", input=HELLO, background=True)
    wait_for(lambda: client.responses.retrieve(response.id).output_text, "it has begun")
    client.responses.cancel(response.id)
    wait_for(lambda: client.responses.retrieve(response.id).status == "cancelled", "it is cancelled")
    assert client.responses.cancel(response.id).status == "cancelled"
    whole = client.responses.create(model="ok", input=HELLO)
    with pytest.raises(openai.BadRequestError):
        client.responses.cancel(whole.id)


def test_a_response_is_deleted_with_a_conversation_that_has_no_other(site, client):
    first = client.responses.create(model="ok", input=HELLO)
    second = client.responses.create(model="ok", input=HELLO, previous_response_id=first.id)
    with pytest.raises(openai.BadRequestError):
        client.responses.delete(second.id)
    alone = client.responses.create(model="ok", input=HELLO)
    client.responses.delete(alone.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(alone.id)
    with pytest.raises(openai.NotFoundError) as refusal:
        client.responses.create(model="ok", input=HELLO, previous_response_id=alone.id)
    assert refusal.value.param == "previous_response_id"


def test_a_revoked_key_stops_what_it_asked_for(site):
    own = make_key(site)
    stream = client_of(site, own, max_retries=0).responses.create(model="endless", input=HELLO, stream=True)
    events = iter(stream)
    next(events)
    revoke(site, own)
    *_, error, failed = events
    assert (error.code, failed.type) == ("invalid_api_key", "response.failed")


@pytest.mark.parametrize("store", [True, False])
def test_a_response_that_is_asked_for_again_is_billed_once(site, client, key, store):
    again = {"extra_headers": {"Idempotency-Key": uuid.uuid4().hex}}
    before = len(rows_of(site, key))
    first = client.responses.create(model="ok", input=HELLO, store=store, **again)
    raw = client.responses.with_raw_response.create(model="ok", input=HELLO, store=store, **again)
    assert raw.headers["Idempotent-Replayed"] == "true"
    assert (raw.parse().id, raw.parse().output) == (first.id, first.output)
    streamed = events_of(client.responses.create(model="ok", input=HELLO, store=store, stream=True, **again))
    assert streamed[-1].response.output_text == ANSWER
    assert len(rows_of(site, key)) == before + 1
    with pytest.raises(openai.UnprocessableEntityError):
        client.responses.create(model="ok", input="Something else.", store=store, **again)


# Bad input


@pytest.mark.parametrize(
    ("parameter", "fields"),
    [
        ("frob", {"extra_body": {"frob": 1}}),
        ("client_metadata", {"extra_body": {"client_metadata": {"turn": 1}}}),
        ("prompt_cache_key", {"prompt_cache_key": "x" * 65}),
        ("safety_identifier", {"extra_body": {"safety_identifier": 1}}),
        ("tools[0].type", {"tools": [{"type": "web_search"}], "store": False}),
        ("tools[0].type", {"tools": [{"type": "custom", "name": "apply_patch"}], "store": False}),
        ("max_output_tokens", {"max_output_tokens": 10**8}),
        ("reasoning.effort", {"reasoning": {"effort": "high"}, "store": False}),
        ("input", {"input": "word " * 100_000}),
        (
            "input[0].content[0].type",
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "1"}]}]},
        ),
    ],
)
def test_what_is_not_supported_is_named(client, parameter, fields):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.responses.create(**{"model": "ok", "input": HELLO, **fields})
    assert refusal.value.param == parameter


def test_what_is_another_users_is_not_found(site, client):
    theirs = uuid.UUID(site.begin(site.sign_up()))
    for fields in (
        {"conversation": f"conv_{theirs.hex}"},
        {"conversation": "conv_1"},
        {"previous_response_id": f"resp_{theirs.hex}{1:016x}"},
        {"previous_response_id": "resp_1"},
    ):
        with pytest.raises(openai.NotFoundError) as refusal:
            client.responses.create(model="ok", input=HELLO, **fields)
        assert refusal.value.param == next(iter(fields))


def test_nothing_is_stored_of_what_is_refused(site, client):
    count = "SELECT count(*) FROM conversations_message"
    first = client.responses.create(model="ok", input="First.")
    client.responses.create(model="ok", input="Second.", previous_response_id=first.id)
    before = site.database.value(count)
    items = [{"role": "user", "content": "x"}, {"role": "user", "content": "word " * 100_000}]
    with pytest.raises(openai.BadRequestError):
        client.responses.create(model="ok", input=items, previous_response_id=first.id)
    assert site.database.value(count) == before


def test_all_that_is_told_is_a_response_as_the_package_knows_it(site, key):
    status, body, _ = post_raw(site, key, json.dumps({"model": "ok", "input": HELLO}).encode(), path="/v1/responses")
    assert status == 200
    assert Response.model_validate(body, strict=False).output_text == ANSWER

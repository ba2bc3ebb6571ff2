"""The API at `/v1` as programs use it: the openai package, over a real port, and the ledger afterwards."""

from __future__ import annotations

import http.client
import json
import re
import socket
import uuid
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import openai
import pytest

from tests.support.api_clients import HELLO, client_of, in_conversation, make_key, post_raw, revoke, rows_of
from tests.support.patience import PATIENCE_SECONDS, wait_for

from .conftest import checked


@pytest.fixture(scope="module")
def key(shared_site):
    return make_key(shared_site)


@pytest.fixture
def client(site, key):
    return client_of(site, key)


# What works


def test_a_client_lists_the_models(site, client):
    assert "ok" in [model.id for model in client.models.list()]
    assert client.models.retrieve("ok").id == "ok"
    with pytest.raises(openai.NotFoundError) as refusal:
        client.models.retrieve("no-such-model")
    assert refusal.value.code == "model_not_found"


def test_an_answer_comes_whole_with_its_usage_and_its_window(site, client, key):
    asker = {"user": "a-person", "prompt_cache_key": "a-session"}
    raw = client.chat.completions.with_raw_response.create(model="ok", messages=HELLO, temperature=0.5, n=1, **asker)
    answer = raw.parse()
    assert answer.choices[0].message.content == "Hello from the upstream."
    assert answer.choices[0].finish_reason == "stop"
    row = rows_of(site, key)[-1]
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (row["input_tokens"], row["output_tokens"])
    assert raw.headers["x-windowseat-window"] == str(row["opening_key"])
    assert (row["purpose"], row["key_name"], row["conversation_id"]) == ("api", "a program", None)
    assert row["window"]["prompt_tokens"] == row["estimated_input_tokens"]
    assert (row["system_prompt_id"], row["tool_schemas_id"]) == (None, None)
    assert "Set-Cookie" not in raw.headers


def test_an_answer_is_streamed(site, client, key):
    options = {"include_usage": True}
    chunks = list(
        client.chat.completions.create(model="tokens-20000", messages=HELLO, stream=True, stream_options=options)
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.split() == [f"word{number}" for number in range(20_000)]
    assert chunks[-2].choices[0].finish_reason == "stop"
    row = rows_of(site, key)[-1]
    assert chunks[-1].usage.completion_tokens == row["output_tokens"]
    assert len({chunk.id for chunk in chunks}) == 1


async def test_an_asynchronous_client_is_answered_too(site, key):
    client = openai.AsyncOpenAI(base_url=f"{site.address}/v1", api_key=key)
    async with client.chat.completions.stream(model="ok", messages=HELLO) as stream:
        answer = await stream.get_final_completion()
    assert answer.choices[0].message.content == "Hello from the upstream."


def test_a_history_that_is_too_long_is_windowed(site, client, key):
    turns = [{"role": ("user", "assistant")[at % 2], "content": f"{at} " + "word " * 400} for at in range(100)]
    system = {"role": "system", "content": "Be brief."}
    client.chat.completions.create(model="ok", messages=[system, *turns, *HELLO])
    row = rows_of(site, key)[-1]
    assert row["window"]["prompt_tokens"] <= row["window"]["budget_tokens"]
    sent = site.upstream.log()[-1]["body"]["messages"]
    assert sent[0] == system
    assert sent[-1] == HELLO[0]
    assert sent[1:-1] == turns[-len(sent[1:-1]) :]
    assert 2 < len(sent) < 50


# Bad input


@pytest.mark.parametrize(
    ("parameter", "fields"),
    [
        ("n", {"n": 2}),
        ("temperature", {"temperature": 3}),
        ("audio", {"extra_body": {"audio": {}}}),
        ("frob", {"extra_body": {"frob": 1}}),
        ("user", {"user": "x" * 513}),
        ("logprobs", {"logprobs": True}),
        ("max_completion_tokens", {"max_completion_tokens": 10**8}),
        ("stream_options", {"stream_options": {"include_usage": True}}),
        ("tool_choice", {"tool_choice": "required"}),
        ("tools[0]", {"tools": [{"type": "custom", "custom": {"name": "x"}}]}),
        ("response_format.type", {"response_format": {"type": "grammar"}}),
        ("messages[1].role", {"messages": [*HELLO, {"role": "critic", "content": "x"}]}),
        ("messages", {"messages": []}),
        ("messages", {"messages": [{"role": "system", "content": "x"}]}),
        ("messages[1]", {"messages": [*HELLO, {"role": "assistant", "content": "x"}]}),
        ("messages[1].tool_call_id", {"messages": [*HELLO, {"role": "tool", "tool_call_id": "1", "content": "x"}]}),
        ("messages[0].content[0].type", {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}),
    ],
)
def test_what_is_not_supported_is_named(site, client, parameter, fields):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(**{"model": "ok", "messages": HELLO, **fields})
    assert refusal.value.param == parameter
    assert refusal.value.code == "parameter_invalid"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"model": "ok", "messages": [{"role": "user", "content": "x"}], "temperature": NaN}',
        b'{"model": "ok", "messages": [{"role": "user", "content": "x"}], "temperature": 1e999}',
        b'{"model": "ok", "model": "ok", "messages": [{"role": "user", "content": "x"}]}',
        b'{"model": "ok", "messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"model": "ok", "messages": [{"role": "user", "content": "\xff"}]}',
        b'{"model": "ok", "messages": [{"role": "user", "content": "x"}], "seed": 1' + b"0" * 5_000 + b"}",
    ],
)
def test_what_is_no_json_is_refused(site, key, body):
    status, answer, _ = post_raw(site, key, body)
    assert (status, answer["error"]["code"]) == (400, "parameter_invalid")


def test_ten_megabytes_are_refused_and_a_long_message_is_not_counted_to_its_end(site, key):
    def asking(*messages):
        return json.dumps({"model": "ok", "messages": messages}).encode()

    status, answer, _ = post_raw(site, key, asking({"role": "user", "content": "x" * 10_000_000}))
    assert (status, answer["error"]["code"]) == (413, "request_too_large")
    status, answer, _ = post_raw(site, key, asking({"role": "user", "content": "word " * 1_000_000}))
    assert (status, answer["error"]["code"]) == (400, "context_length_exceeded")
    status, answer, _ = post_raw(site, key, asking({"role": "system", "content": "word " * 1_000_000}, *HELLO))
    assert (status, answer["error"]["code"]) == (400, "context_length_exceeded")
    older = {"role": "user", "content": "word " * 1_000_000}
    status, answer, _ = post_raw(site, key, asking(older, *HELLO))
    assert status == 200


def test_a_cookie_opens_nothing_and_a_key_no_page(site, key):
    status, answer, headers = post_raw(site, "", b"{}", Cookie=site.browser.cookie_header)
    assert (status, answer["error"]["code"]) == (401, "invalid_api_key")
    assert headers["WWW-Authenticate"] == "Bearer"
    assert headers["Set-Cookie"] is None
    for header in ("", "Bearer  ", key, f"Basic {key}"):
        status, answer, _ = post_raw(site, "", b"{}", Authorization=header)
        assert (status, answer["error"]["code"]) == (401, "invalid_api_key")
        assert "“Bearer” and the key" in answer["error"]["message"]
    connection = http.client.HTTPConnection(urlsplit(site.address).netloc, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/account/", headers={"Authorization": f"Bearer {key}"})
    assert connection.getresponse().status == 302


def test_a_wrong_key_opens_nothing(site, key):
    for wrong in ("sk-other", key[:-1] + ("A" if key[-1] != "A" else "B"), "wsk_" + "0" * 12 + "_" + "a" * 43):
        with pytest.raises(openai.AuthenticationError) as refusal:
            client_of(site, wrong, max_retries=0).models.list()
        assert refusal.value.code == "invalid_api_key"


def test_an_address_where_nothing_is_answers_in_the_same_form(site, client):
    with pytest.raises(openai.NotFoundError) as refusal:
        client.embeddings.create(model="ok", input="hello")
    assert refusal.value.code == "not_found"
    with pytest.raises(openai.NotFoundError, match="begin with /v1"):
        client.with_options(base_url=site.address).chat.completions.create(model="ok", messages=HELLO)


# Ends


def test_what_the_provider_refuses_is_told_and_not_asked_again(site, client, key):
    before = len(rows_of(site, key))
    with pytest.raises(openai.InternalServerError) as refusal:
        client.chat.completions.create(model="status-401", messages=HELLO, stream=True)
    assert refusal.value.code == "credentials_rejected"
    assert len(rows_of(site, key)) == before + 1


def test_a_stream_that_breaks_off_says_so(site, client, key):
    with pytest.raises(openai.APIError, match="lost before"):
        list(client.chat.completions.create(model="cut-after-5", messages=HELLO, stream=True))
    assert rows_of(site, key)[-1]["error_code"] == "stream_broken"


def test_a_client_that_goes_away_ends_the_request(site, client, key):
    stream = client.chat.completions.create(model="endless", messages=HELLO, stream=True)
    next(iter(stream))
    stream.close()
    wait_for(lambda: rows_of(site, key)[-1]["ended_at"], "the row is settled")
    assert rows_of(site, key)[-1]["finish_reason"] == "stopped"
    wait_for(lambda: site.upstream.log()[-1]["ended"] == "disconnected", "the provider is let go")


def test_a_client_that_goes_away_before_a_whole_answer_ends_the_request(site, key):
    before = len(rows_of(site, key))
    connection = http.client.HTTPConnection(urlsplit(site.address).netloc, timeout=PATIENCE_SECONDS)
    body = json.dumps({"model": "endless", "messages": HELLO})
    connection.request("POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {key}"})
    wait_for(lambda: len(rows_of(site, key)) > before, "the row is opened")
    connection.close()
    wait_for(lambda: rows_of(site, key)[-1]["ended_at"], "the row is settled")
    assert rows_of(site, key)[-1]["finish_reason"] == "stopped"


def test_a_client_that_stops_reading_keeps_nothing_open(site, key):
    address = urlsplit(site.address)
    before = len(rows_of(site, key))
    body = json.dumps({"model": "tokens-20000", "messages": HELLO, "stream": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {key}\r\n"
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        wait_for(lambda: len(rows := rows_of(site, key)) > before and rows[-1]["ended_at"], "the row is settled")
    assert rows_of(site, key)[-1]["finish_reason"] == "stop"


def test_a_key_that_is_revoked_ends_its_running_stream(site):
    own = make_key(site)
    client = client_of(site, own, max_retries=0)
    stream = iter(client.chat.completions.create(model="endless", messages=HELLO, stream=True))
    next(stream)
    revoke(site, own)
    with pytest.raises(openai.APIError, match="opens nothing"):
        list(stream)
    wait_for(lambda: rows_of(site, own)[-1]["ended_at"], "the row is settled")
    assert rows_of(site, own)[-1]["error_code"] == "invalid_api_key"
    with pytest.raises(openai.AuthenticationError):
        client.models.list()


# Limits


def test_a_key_never_spends_more_than_its_own_money(site):
    """A request may cost 4,096 tokens at $2 a million and its prompt: a cent is for one at a time, and few of them."""
    own = make_key(site, per_day_usd="0.01")
    first, second = (client_of(site, own, max_retries=0) for _ in range(2))
    stream = first.chat.completions.create(model="held-60", messages=HELLO, stream=True)
    with pytest.raises(openai.RateLimitError) as refusal:
        second.chat.completions.create(model="ok", messages=HELLO)
    assert refusal.value.code == "key_money_reserved"
    assert refusal.value.response.headers["x-should-retry"] == "true"
    site.upstream.release()
    list(stream)
    assert second.chat.completions.create(model="ok", messages=HELLO).choices
    assert site.database.value("SELECT count(*) FROM conversations_completion WHERE reserved_usd IS NULL") == 0


def test_a_key_may_ask_so_often_in_a_minute(site):
    own = make_key(site, per_minute=2)
    client = client_of(site, own, max_retries=0)
    for _ in range(2):
        client.chat.completions.create(model="ok", messages=HELLO)
    with pytest.raises(openai.RateLimitError) as refusal:
        client.chat.completions.create(model="ok", messages=HELLO)
    assert refusal.value.code == "key_rate_reached"
    assert int(refusal.value.response.headers["retry-after"]) <= 60


def test_the_owners_limits_hold_for_programs_too(make_site):
    with make_site(MESSAGES_PER_MINUTE="2", REPLIES_PER_USER="1") as site, checked(site):
        site.serve()
        client = client_of(site, make_key(site), max_retries=0)
        stream = client.chat.completions.create(model="held-60", messages=HELLO, stream=True)
        with pytest.raises(openai.RateLimitError) as refusal:
            client.chat.completions.create(model="ok", messages=HELLO)
        assert refusal.value.code == "too_many_replies_at_once"
        site.upstream.release()
        list(stream)
        client.chat.completions.create(model="ok", messages=HELLO)
        with pytest.raises(openai.RateLimitError) as refusal:
            client.chat.completions.create(model="ok", messages=HELLO)
        assert refusal.value.code == "message_rate_reached"


def test_a_key_uses_the_models_that_it_names(site):
    own = make_key(site, language_models=["ok"])
    client = client_of(site, own)
    assert [model.id for model in client.models.list()] == ["ok"]
    with pytest.raises(openai.NotFoundError) as refusal:
        client.chat.completions.create(model="endless", messages=HELLO)
    assert refusal.value.param == "model"


def test_what_a_key_may_not_do_is_in_the_security_log(site):
    own = make_key(site, scopes=["read"])
    with pytest.raises(openai.PermissionDeniedError):
        client_of(site, own).chat.completions.create(model="ok", messages=HELLO)
    number = site.database.value("SELECT id FROM conversations_apikey WHERE public_part = %s", own.split("_")[1])
    [event] = site.database.rows(
        "SELECT person.email FROM accounts_securityevent event JOIN accounts_user person ON person.id = event.user_id"
        " WHERE kind = 'access_refused' AND about = %s",
        f"conversations:api_chat_completions, key {number}",
    )
    assert event["email"] == site.browser.person


def test_a_key_reads_the_record_of_its_own_windows(site, key):
    own = make_key(site, scopes=["read"])
    with pytest.raises(openai.PermissionDeniedError) as refusal:
        client_of(site, own).chat.completions.create(model="ok", messages=HELLO)
    assert refusal.value.code == "scope_missing"
    with pytest.raises(openai.PermissionDeniedError):
        client_of(site, key).get("/windowseat/windows/7b0b6f2e-6b7d-4a39-9a44-5a8e1f1b9f10", cast_to=object)
    with pytest.raises(openai.NotFoundError):
        client_of(site, own).get("/windowseat/windows/7b0b6f2e-6b7d-4a39-9a44-5a8e1f1b9f10", cast_to=object)


# The client's own tools


TOOLS = [{"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}]


def test_calls_come_back_to_the_client_and_results_are_taken(site, client, key):
    answer = client.chat.completions.create(model="tool-calls", messages=HELLO, tools=TOOLS)
    message = answer.choices[0].message
    assert answer.choices[0].finish_reason == "tool_calls"
    [call] = message.tool_calls
    assert call.function.name == "get_time"
    assert rows_of(site, key)[-1]["purpose"] == "api"
    result = {"role": "tool", "tool_call_id": call.id, "content": "noon"}
    again = [*HELLO, message.model_dump(), result]
    assert client.chat.completions.create(model="ok", messages=again, tools=TOOLS).choices[0].message.content
    sent = site.upstream.log()[-1]["body"]
    assert sent["messages"][-2]["tool_calls"][0]["id"] == call.id
    assert sent["messages"][-1]["content"] == "noon"
    assert sent["tools"] == TOOLS


def test_calls_are_streamed(site, client):
    with client.chat.completions.stream(model="tool-calls", messages=HELLO, tools=TOOLS) as stream:
        answer = stream.get_final_completion()
    assert answer.choices[0].message.tool_calls[0].function.name == "get_time"
    assert answer.choices[0].finish_reason == "tool_calls"


# The demo model


def test_the_demo_model_answers_too(make_site):
    with make_site(OPENAI_BASE_URL="", OPENAI_API_KEY="", LANGUAGE_MODELS="", DEMO_TOKENS_PER_SECOND="1000") as site:
        site.serve()
        client = client_of(site, make_key(site))
        model = client.models.list().data[0].id
        told = [{"role": "user", "content": "My name is Ada."}, {"role": "assistant", "content": "Hello Ada."}]
        asked = [*told, {"role": "user", "content": "What is my name?"}]
        whole = client.chat.completions.create(model=model, messages=asked).choices[0].message.content
        assert "Ada" in whole
        chunks = client.chat.completions.create(model=model, messages=asked, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole


# Many at once


def test_money_that_is_used_up_says_when_there_is_more(site):
    """20,000 tokens cost four cents, and a request may cost one."""
    own = make_key(site, per_day_usd="1")
    client = client_of(site, own, max_retries=0)
    client.chat.completions.create(model="tokens-20000", messages=HELLO)
    lower = "UPDATE conversations_apikey SET money_per_day_usd = 0.04 WHERE public_part = %s"
    site.database.rows(lower, own.split("_")[1])
    with pytest.raises(openai.RateLimitError) as refusal:
        client.chat.completions.create(model="ok", messages=HELLO)
    assert refusal.value.code == "key_money_used_up"
    assert int(refusal.value.response.headers["Retry-After"]) > 0
    assert refusal.value.response.headers["x-should-retry"] == "false"


def test_of_twenty_at_once_with_the_keys_money_for_one_one_goes_out(site):
    """A request to "held-60" may cost 4,096 tokens at $2 a million and its prompt: 0.0083 is less than for two."""
    own = make_key(site, per_day_usd="0.01")
    before = len(site.upstream.log())

    def ask():
        status, answer, _ = post_raw(site, own, json.dumps({"model": "held-60", "messages": HELLO}).encode())
        return answer["error"]["code"] if status != 200 else status

    with ThreadPoolExecutor(20) as senders:
        asked = [senders.submit(ask) for _ in range(20)]
        wait_for(lambda: sum(each.done() for each in asked) >= 19, "all but one are refused")
        site.upstream.release()
        answers = [each.result() for each in asked]
    assert sorted(map(str, answers)) == ["200", *["key_money_reserved"] * 19]
    assert len(site.upstream.log()) == before + 1


# In a conversation


def test_a_program_and_the_page_are_in_one_conversation(site, client, key):
    site.answer_with("ok")
    page = site.open_page()
    raw = client.chat.completions.with_raw_response.create(
        model="ok", messages=HELLO, **in_conversation(page.conversation)
    )
    assert raw.parse().choices[0].message.content == "Hello from the upstream."
    assert raw.headers["x-windowseat-conversation"] == page.conversation
    reply = page.wait_for("message.stored")["reply"]
    page.wait_for("reply.done")
    row = rows_of(site, key)[-1]
    assert (row["reply_id"], row["purpose"]) == (reply, "reply")
    assert raw.headers["x-windowseat-window"] == str(row["opening_key"])
    assert raw.parse().usage.prompt_tokens == row["input_tokens"]


def test_a_conversation_begins_with_its_first_message_and_only_what_is_new_is_sent(site, client):
    conversation = str(uuid.uuid4())
    for content in ("First of all.", "And then?"):
        message = [{"role": "user", "content": content}]
        chunks = client.chat.completions.create(
            model="ok", messages=message, stream=True, metadata={"conversation": conversation}
        )
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello from the upstream."
    sent = [each["content"] for each in site.upstream.log()[-1]["body"]["messages"]]
    assert sent[-3:] == ["First of all.", "Hello from the upstream.", "And then?"]


def test_a_client_that_goes_away_leaves_the_reply_to_live_on(site, client):
    conversation = str(uuid.uuid4())
    stream = client.chat.completions.create(
        model="held-60", messages=HELLO, stream=True, **in_conversation(conversation)
    )
    next(iter(stream))
    stream.close()
    with pytest.raises(openai.ConflictError) as refusal:
        client.with_options(max_retries=0).chat.completions.create(
            model="held-60", messages=HELLO, **in_conversation(conversation)
        )
    assert refusal.value.code == "reply_in_progress"
    running = re.search(r"resp_[0-9a-f]{48}", refusal.value.message)[0]
    assert client.responses.retrieve(running).status == "in_progress"
    site.upstream.release()
    ended = "SELECT state FROM conversations_message WHERE role = 'assistant' ORDER BY id DESC LIMIT 1"
    wait_for(lambda: site.database.value(ended) == "complete", "the reply is whole")


def test_a_reply_that_is_stopped_on_the_page_is_no_whole_answer(site, client):
    site.answer_with("endless")
    page = site.open_page()
    asked = client.chat.completions.create(
        model="endless", messages=HELLO, stream=True, **in_conversation(page.conversation)
    )
    stream = iter(asked)
    next(stream)
    page.stop(page.wait_for("message.stored")["reply"])
    with pytest.raises(openai.APIError, match="was stopped"):
        list(stream)


def test_a_revoked_key_stops_the_reply_that_it_asked_for(site):
    own = make_key(site)
    client, conversation = client_of(site, own, max_retries=0), str(uuid.uuid4())
    stream = iter(
        client.chat.completions.create(model="endless", messages=HELLO, stream=True, **in_conversation(conversation))
    )
    next(stream)
    revoke(site, own)
    with pytest.raises(openai.APIError, match="opens nothing"):
        list(stream)
    ended = "SELECT state FROM conversations_message WHERE role = 'assistant' ORDER BY id DESC LIMIT 1"
    wait_for(lambda: site.database.value(ended) == "stopped", "the reply is stopped")


def test_another_users_conversation_is_not_found(site, client):
    other = site.sign_up()
    theirs = site.begin(other)
    with pytest.raises(openai.NotFoundError) as refusal:
        client.chat.completions.create(model="ok", messages=HELLO, **in_conversation(theirs))
    assert refusal.value.code == "conversation_not_found"


def test_the_keys_money_holds_in_conversations_too(site):
    own = make_key(site, per_day_usd="0.0001")
    with pytest.raises(openai.PermissionDeniedError) as refusal:
        client_of(site, own, max_retries=0).chat.completions.create(
            model="ok", messages=HELLO, **in_conversation(str(uuid.uuid4()))
        )
    assert refusal.value.code == "key_request_too_expensive"
    assert not rows_of(site, own)


@pytest.mark.parametrize(
    ("parameter", "fields"),
    [
        ("x-windowseat-conversation", in_conversation("1")),
        ("messages", {"messages": [{"role": "system", "content": "x"}, *HELLO]}),
        ("messages", {"messages": [*HELLO, *HELLO]}),
        ("temperature", {"temperature": 1}),
        ("tools", {"tools": TOOLS}),
        ("max_tokens", {"max_tokens": 5}),
        ("metadata.x", {"metadata": {"x": "1"}}),
        ("metadata.conversation", {"metadata": {"conversation": str(uuid.UUID(int=5))}}),
    ],
)
def test_what_the_conversation_sets_is_named(site, client, parameter, fields):
    asked = {"model": "ok", "messages": HELLO, **in_conversation(str(uuid.UUID(int=7))), **fields}
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(**asked)
    assert refusal.value.param == parameter

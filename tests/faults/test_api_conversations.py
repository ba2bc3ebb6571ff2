"""`/v1/conversations` as programs use it: the openai package, over a real port, and the pages of the same person."""

from __future__ import annotations

import http.client
import json
import uuid
from urllib.parse import urlsplit

import openai
import pytest

from tests.support.api_clients import ANSWER, TOOL, client_of, make_key, sent_messages
from tests.support.patience import PATIENCE_SECONDS, wait_for

HELLO = {"type": "message", "role": "user", "content": "My name is Ada."}
SAID = {"type": "message", "role": "assistant", "content": "Hello Ada."}
CALL = {"type": "function_call", "call_id": "call_1", "name": "get_time", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "noon"}


@pytest.fixture(scope="module")
def key(shared_site):
    return make_key(shared_site, scopes=("chat", "read", "manage"))


@pytest.fixture
def client(site, key):
    return client_of(site, key)


def public_id(conversation_id):
    return str(uuid.UUID(conversation_id.removeprefix("conv_")))


def test_a_conversation_begins_with_items_and_goes_on_with_a_response(site, client):
    conversation = client.conversations.create(items=[HELLO, SAID], metadata={"a": "b"})
    assert (conversation.object, conversation.metadata) == ("conversation", {"a": "b"})
    response = client.responses.create(model="ok", input="What is my name?", conversation=conversation.id)
    assert sent_messages(site) == [
        ("user", "My name is Ada."),
        ("assistant", "Hello Ada."),
        ("user", "What is my name?"),
    ]
    items = list(client.conversations.items.list(conversation.id, order="asc"))
    assert [(item.role, item.content[0].text, item.status) for item in items] == [
        ("user", "My name is Ada.", "completed"),
        ("assistant", "Hello Ada.", "completed"),
        ("user", "What is my name?", "completed"),
        ("assistant", ANSWER, "completed"),
    ]
    assert items[-1].id == response.output[0].id
    assert [item.id for item in client.responses.input_items.list(response.id, order="asc")] == [
        item.id for item in items[:-1]
    ]
    title = "SELECT title FROM conversations_conversation WHERE public_id = %s"
    assert site.database.value(title, public_id(conversation.id)) == "My name is Ada."


def test_a_conversation_that_is_begun_here_is_on_the_page_and_the_other_way_round(site, client):
    site.answer_with("ok")
    conversation = client.conversations.create(items=[HELLO])
    page = site.open_page(conversation=public_id(conversation.id))
    reply = site.ask(page, "ok")
    site.wait_for_end(reply)
    newest = client.conversations.items.list(conversation.id).data[0]
    assert (newest.role, newest.content[0].text) == ("assistant", ANSWER)
    begun = site.open_page()
    site.wait_for_end(site.ask(begun, "ok"))
    mine = f"conv_{uuid.UUID(begun.conversation).hex}"
    assert len(list(client.conversations.items.list(mine))) == 2
    client.conversations.items.create(mine, items=[HELLO, CALL, OUTPUT, SAID])
    client.responses.create(model="ok", input="And?", conversation=mine)
    assert sent_messages(site)[-3:] == [("user", "My name is Ada."), ("assistant", "Hello Ada."), ("user", "And?")]


def test_items_come_in_pages_and_one_by_one(client):
    items = [HELLO, CALL, OUTPUT, SAID, *[HELLO, SAID] * 8]
    conversation = client.conversations.create(items=items)
    oldest_first = [item.id for item in client.conversations.items.list(conversation.id, limit=3, order="asc")]
    newest_first = [item.id for item in client.conversations.items.list(conversation.id, limit=7)]
    assert oldest_first == newest_first[::-1]
    assert len(set(oldest_first)) == 20
    kinds = [client.conversations.items.retrieve(each, conversation_id=conversation.id).type for each in oldest_first]
    assert kinds[:4] == ["message", "function_call", "function_call_output", "message"]
    page = client.conversations.items.list(conversation.id, limit=20)
    assert (page.has_more, page.last_id) == (False, oldest_first[0])
    assert client.conversations.items.list(conversation.id, limit=19).has_more


def test_metadata_is_replaced_and_a_conversation_is_deleted(client):
    conversation = client.conversations.create(metadata={"a": "b"})
    assert client.conversations.update(conversation.id, metadata={"c": "d"}).metadata == {"c": "d"}
    assert client.conversations.retrieve(conversation.id).metadata == {"c": "d"}
    assert client.conversations.delete(conversation.id).deleted is True
    with pytest.raises(openai.NotFoundError) as refusal:
        client.conversations.retrieve(conversation.id)
    assert refusal.value.code == "conversation_not_found"


def test_a_key_that_asks_deletes_and_changes_nothing(site, client):
    conversation = client.conversations.create(metadata={"a": "b"})
    response = client.responses.create(model="ok", input="Say hello.", conversation=conversation.id)
    asks = client_of(site, make_key(site, scopes=("chat", "read")))
    for ask in (
        lambda: asks.conversations.delete(conversation.id),
        lambda: asks.conversations.update(conversation.id, metadata={}),
        lambda: asks.responses.delete(response.id),
    ):
        with pytest.raises(openai.PermissionDeniedError) as refusal:
            ask()
        assert refusal.value.code == "scope_missing"
    assert asks.conversations.retrieve(conversation.id).metadata == {"a": "b"}
    assert asks.responses.retrieve(response.id).output_text == ANSWER
    manages = client_of(site, make_key(site, scopes=("manage",)))
    with pytest.raises(openai.PermissionDeniedError):
        manages.conversations.items.list(conversation.id)
    assert manages.conversations.delete(conversation.id).deleted is True


@pytest.mark.parametrize(
    ("parameter", "fields"),
    [
        ("items", {"items": [HELLO] * 21}),
        ("items", {"items": [{"type": "message", "role": "system", "content": "x"}]}),
        ("items[0].call_id", {"items": [OUTPUT]}),
        ("items[0].call_id", {"items": [CALL]}),
        ("items[0].type", {"items": [{"type": "web_search_call", "id": "1"}]}),
        ("metadata.a", {"metadata": {"a": "x" * 513}}),
        ("frob", {"extra_body": {"frob": 1}}),
    ],
)
def test_what_can_not_be_stored_is_named(client, parameter, fields):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.conversations.create(**fields)
    assert refusal.value.param == parameter


def test_what_is_another_users_or_nowhere_is_not_found(site, client):
    theirs = f"conv_{uuid.UUID(site.begin(site.sign_up())).hex}"
    mine = client.conversations.create(items=[HELLO])
    other = client.conversations.create(items=[HELLO])
    [item] = client.conversations.items.list(other.id)
    for ask in (
        lambda: client.conversations.retrieve(theirs),
        lambda: client.conversations.update(theirs, metadata={}),
        lambda: client.conversations.delete(theirs),
        lambda: client.conversations.items.list(theirs),
        lambda: client.conversations.items.create(theirs, items=[HELLO]),
        lambda: client.conversations.items.retrieve(item.id, conversation_id=mine.id),
        lambda: client.conversations.items.list(mine.id, after=item.id),
        lambda: client.conversations.retrieve("conv_1"),
    ):
        with pytest.raises(openai.NotFoundError):
            ask()


@pytest.mark.parametrize(
    ("method", "path", "answered"),
    [
        ("DELETE", "/v1/conversations/conv_1/items/msg_1", "GET"),
        ("POST", "/v1/responses/compact", "GET, DELETE"),
        ("PUT", "/v1/conversations/conv_1", "GET, POST, DELETE"),
    ],
)
def test_what_is_not_done_at_an_address_says_what_is(site, key, method, path, answered):
    connection = http.client.HTTPConnection(urlsplit(site.address).netloc, timeout=PATIENCE_SECONDS)
    connection.request(method, path, b"{}", {"Authorization": f"Bearer {key}"})
    refusal = connection.getresponse()
    assert (refusal.status, refusal.headers["Allow"]) == (405, answered)
    told = json.loads(refusal.read())["error"]["message"]
    assert told == f"Only {answered.replace(', ', ' and ')} is answered at this address."


# Counting


def test_what_is_counted_is_what_is_sent(client):
    asked = {"model": "ok", "input": "What time is it?", "instructions": "Be brief.", "tools": [TOOL]}
    counted = client.responses.input_tokens.count(**asked)
    assert counted.object == "response.input_tokens"
    window = client.responses.with_raw_response.create(**asked, store=False).headers["x-windowseat-window"]
    assert counted.input_tokens == estimated(client, window)
    first = client.responses.create(model="ok", input="First.")
    following = {"model": "ok", "input": "Second.", "previous_response_id": first.id, "instructions": "Be brief."}
    tokens = client.responses.input_tokens.count(**following).input_tokens
    window = client.responses.with_raw_response.create(**following).headers["x-windowseat-window"]
    assert tokens == estimated(client, window)


def estimated(client, window):
    return client.get(f"/windowseat/windows/{window}", cast_to=object)["window"]["prompt_tokens"]


def test_counting_names_what_it_does_not_take(client):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.responses.input_tokens.count(model="ok", input="x", extra_body={"stream": True})
    assert refusal.value.param == "stream"


@pytest.mark.parametrize(
    ("parameter", "path"),
    [
        ("starting_after", "{response}?stream=true&starting_after=" + "1" * 5_000),
        ("starting_after", "{response}?stream=true&starting_after=9" + "9" * 18),
        ("stream", "{response}?stream=true&stream=false"),
        ("limit", "{response}/input_items?limit=1&limit=2"),
        ("after", "{conversation}/items?after=a&after=b"),
        ("kind", "windowseat/{conversation}/export?kind=json&kind=html"),
        ("by", "windowseat/usage?by=day&by=purpose"),
    ],
)
def test_what_a_query_string_says_twice_or_too_long_is_named(client, parameter, path):
    response = client.responses.create(model="ok", input="Say hello.", background=True)
    named = {"response": f"responses/{response.id}", "conversation": f"conversations/{response.conversation.id}"}
    with pytest.raises(openai.BadRequestError) as refusal:
        client.get(f"/{path.format(**named)}", cast_to=object)
    assert refusal.value.param == parameter


def test_what_a_keys_own_money_does_not_cover_is_not_stored(site):
    """Or each try would leave a message with a reply that failed on the page."""
    own = client_of(site, make_key(site, per_day_usd="0.0001"), max_retries=0)
    conversation = own.conversations.create(items=[HELLO, SAID])
    count = "SELECT count(*) FROM conversations_message"
    before = site.database.value(count)
    for ask in (
        lambda: own.responses.create(model="ok", input="Say hello."),
        lambda: own.responses.create(model="ok", input=[HELLO, CALL, OUTPUT]),
        lambda: own.responses.create(model="ok", input="Say hello.", conversation=conversation.id),
        lambda: own.chat.completions.create(
            model="ok",
            messages=[{"role": "user", "content": "Say hello."}],
            extra_headers={"x-windowseat-conversation": public_id(conversation.id)},
        ),
    ):
        with pytest.raises(openai.PermissionDeniedError) as refusal:
            ask()
        assert refusal.value.code == "key_request_too_expensive"
    assert site.database.value(count) == before


def test_a_limit_that_is_reached_while_a_reply_waits_is_told_as_one(parted_site):
    """The money is spent after it was asked for, and before the worker asks the provider."""
    site = parted_site
    key = make_key(site, per_day_usd="0.05")
    client = client_of(site, key, max_retries=0)
    response = client.responses.create(model="ok", input="Say hello.", background=True)
    spend = "UPDATE conversations_apikey SET money_per_day_usd = 0.0001 WHERE public_part = %s"
    site.database.rows(spend, key.split("_")[1])
    site.run_worker()
    wait_for(lambda: client.responses.retrieve(response.id).status == "failed", "it is refused")
    assert client.responses.retrieve(response.id).error.code == "rate_limit_exceeded"

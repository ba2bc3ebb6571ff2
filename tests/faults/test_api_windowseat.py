"""`/v1/windowseat/…` as programs use it: windows before and after they are sent, recall, search, usage and export."""

from __future__ import annotations

import http.client
import json
import uuid
from decimal import Decimal
from urllib.parse import urlsplit

import openai
import pytest

from tests.support.api_clients import ANSWER, client_of, conversation_of, make_key, revoke, rows_of
from tests.support.patience import wait_for

FACT = "The spare key lies beneath the blue flowerpot."
FILLER = "word " * 300


@pytest.fixture(scope="module")
def key(shared_site):
    shared_site.answer_with("ok")  # other files leave another model
    return make_key(shared_site, scopes=("chat", "read"))


@pytest.fixture
def client(site, key):
    return client_of(site, key)


def get(client, path, **query):
    return client.get(f"/windowseat/{path}", cast_to=object, options={"params": query})


def post(client, path, body, **headers):
    return client.post(f"/windowseat/{path}", cast_to=object, body=body, options={"headers": headers})


def read(site, key, path):
    """Return status, type and bytes of an answer, as they come over the wire."""
    connection = http.client.HTTPConnection(urlsplit(site.address).netloc, timeout=60)
    connection.request("GET", f"/v1/windowseat/{path}", headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    found = answer.status, answer.headers["Content-Type"], answer.read()
    connection.close()
    return found


def bind(site, key, scenario=None):
    """Bind a key to a scenario that its owner does not have conversations of."""
    made = """
    INSERT INTO conversations_scenario (SELECT (jsonb_populate_record(s, jsonb_build_object('id', nextval(
      pg_get_serial_sequence('conversations_scenario', 'id')), 'name', 'Another', 'is_default', false))).*
      FROM conversations_scenario s ORDER BY id LIMIT 1) RETURNING id
    """
    scenario = scenario or site.database.value(made)
    site.database.rows(
        "UPDATE conversations_apikey SET is_bound = true, scenario_id = %s WHERE public_part = %s",
        scenario,
        key.split("_")[1],
    )


# Windows


def test_a_window_is_told_before_it_is_sent(site, client, key):
    asked = {
        "model": "ok",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi."}],
    }
    before, sent_before = len(rows_of(site, key)), len(site.upstream.log())
    found = post(client, "windows", asked)
    assert (len(rows_of(site, key)), len(site.upstream.log())) == (before, sent_before)
    client.chat.completions.create(**asked)
    row = rows_of(site, key)[-1]
    assert found["window"] == row["window"]
    assert (found["input_tokens"], found["error"]) == (row["estimated_input_tokens"], None)
    assert Decimal(found["most_cost_usd"]) == row["reserved_usd"]


def test_a_window_in_a_conversation_is_told_before_it_is_sent(site, client):
    first = client.responses.create(model="ok", input=FACT)
    named = {"x-windowseat-conversation": conversation_of(first)}
    asked = {"model": "ok", "messages": [{"role": "user", "content": "Where is it?"}]}
    messages = "SELECT count(*) FROM conversations_message"
    before, sent_before = site.database.value(messages), len(site.upstream.log())
    found = post(client, "windows", asked, **named)
    assert (site.database.value(messages), len(site.upstream.log())) == (before, sent_before)
    client.chat.completions.create(**asked, extra_headers=named)
    newest = 'SELECT * FROM conversations_completion WHERE "window" IS NOT NULL ORDER BY id DESC LIMIT 1'
    window = site.database.rows(newest)[0]["window"]
    assert found["input_tokens"] == window["prompt_tokens"]
    assert [entry["tokens"] for entry in found["window"]["entries"]] == [each["tokens"] for each in window["entries"]]
    new = post(client, "windows", asked, **{"x-windowseat-conversation": str(uuid.uuid4())})
    assert new["input_tokens"] < found["input_tokens"]


@pytest.mark.parametrize(
    ("parameter", "body"),
    [
        ("frob", {"model": "ok", "messages": [{"role": "user", "content": "x"}], "frob": 1}),
        ("model", {"messages": [{"role": "user", "content": "x"}]}),
        ("messages", {"model": "ok"}),
        ("messages", {"model": "ok", "messages": [{"role": "user", "content": "word " * 100_000}]}),
    ],
)
def test_what_can_not_be_sent_has_no_window(client, parameter, body):
    with pytest.raises(openai.BadRequestError) as refusal:
        post(client, "windows", body)
    assert refusal.value.param == parameter


def test_a_response_has_the_records_of_its_requests(site, client):
    response = client.responses.create(model="ok", input="Say hello.")
    [record] = get(client, f"responses/{response.id}/windows")["data"]
    assert (record["input_tokens"], record["output_tokens"]) == (
        response.usage.input_tokens,
        response.usage.output_tokens,
    )
    assert record["window"]["entries"][-1]["kind"] == "newest"
    assert "Say hello." not in json.dumps(record)
    theirs = client_of(site, make_key(site, scopes=("read",)))
    assert get(theirs, f"responses/{response.id}/windows")["data"] == [record]  # another key of the same person
    with pytest.raises(openai.NotFoundError) as refusal:
        get(client, f"responses/resp_{uuid.uuid4().hex}{1:016x}/windows")
    assert refusal.value.code == "response_not_found"


# Lookups


@pytest.fixture(scope="module")
def long_conversation(shared_site, key):
    """A conversation whose beginning has left the window."""
    client = client_of(shared_site, key)
    said = [{"role": "user", "content": FACT}, {"role": "assistant", "content": "I will remember."}]
    filler = [{"role": ("user", "assistant")[at % 2], "content": f"{at} {FILLER}"} for at in range(18)]
    conversation = client.conversations.create(items=[{"type": "message", **each} for each in (*said, *filler)])
    for _ in range(3):
        client.conversations.items.create(conversation.id, items=[{"type": "message", **each} for each in filler])
    return conversation.id


def test_recall_tells_what_it_would_find(client, long_conversation):
    question = {"conversation": long_conversation, "question": "Where is the spare key?"}
    wait_for(lambda: post(client, "recall", question)["data"], "what was said is indexed")
    found = post(client, "recall", question)
    assert found["error"] is None
    best = found["data"][0]
    assert (best["text"], best["role"], best["conversation"]) == (FACT, "user", long_conversation)
    item = client.conversations.items.retrieve(best["message"], conversation_id=long_conversation)
    assert item.content[0].text == FACT


def test_search_finds_what_the_page_finds(client, long_conversation):
    found = post(client, "search", {"query": '"blue flowerpot" from:me', "limit": 5})
    [hit] = [each for each in found["messages"] if each["conversation"] == long_conversation]
    assert [piece["text"] for piece in hit["excerpt"] if piece["is_found"]] == ["blue flowerpot"]
    assert (
        client.conversations.items.retrieve(hit["message"], conversation_id=long_conversation).content[0].text == FACT
    )
    assert post(client, "search", {"query": "spare key lies"})["titles"][0]["conversation"] == long_conversation
    assert post(client, "search", {"query": "zeppelin"})["messages"] == []


@pytest.mark.parametrize(
    ("path", "parameter", "body"),
    [
        ("recall", "question", {"conversation": "conv_1"}),
        ("recall", "frob", {"conversation": "conv_1", "question": "x", "frob": 1}),
        ("search", "query", {"query": " "}),
        ("search", "query", {"query": ["x"]}),
        ("search", "limit", {"query": "x", "limit": 51}),
        ("search", "limit", {"query": "x", "limit": True}),
        ("search", "frob", {"query": "x", "frob": 1}),
    ],
)
def test_a_look_up_that_can_not_be_made_is_named(client, path, parameter, body):
    with pytest.raises(openai.BadRequestError) as refusal:
        post(client, path, body)
    assert refusal.value.param == parameter


# Usage


def test_usage_says_what_a_conversation_cost_by_either_of_its_ids(client):
    own_id = conversation_of(client.responses.create(model="ok", input="Say hello."))
    conversation = f"conv_{uuid.UUID(own_id).hex}"
    client.responses.create(model="ok", input="Say hello.", conversation=own_id)
    client.chat.completions.create(
        model="ok",
        messages=[{"role": "user", "content": "Say hello."}],
        extra_headers={"x-windowseat-conversation": conversation},
    )
    rows = {row["conversation"]: row for row in get(client, "usage", by="conversation")["data"]}
    assert (rows[conversation]["replies"], rows[conversation]["title"]) == (3, "Say hello.")


def test_usage_is_the_ledgers_to_the_last_digit(site, client, key):
    client.chat.completions.create(model="ok", messages=[{"role": "user", "content": "Say hello."}])
    other = make_key(site, scopes=("chat",))
    client_of(site, other).chat.completions.create(model="ok", messages=[{"role": "user", "content": "Say hello."}])
    site.wait_until_quiet()
    rows = site.database.rows(
        "SELECT row.* FROM conversations_completion row JOIN accounts_user person ON person.id = row.user_id"
        " WHERE person.email = %s",
        site.browser.person,
    )
    for by in ("day", "conversation", "language_model", "purpose", "api_key"):
        found = get(client, "usage", by=by)
        cost = sum((row["cost_usd"] or 0 for row in rows), Decimal(0))
        assert (found["total"]["completions"], Decimal(found["total"]["cost_usd"])) == (len(rows), cost)
        for figure in ("completions", "input_tokens", "output_tokens", "unknown_costs"):
            assert sum(row[figure] for row in found["data"]) == found["total"][figure]
        assert sum(Decimal(row["cost_usd"]) for row in found["data"]) == cost
        assert not any("E" in row["cost_usd"] for row in [*found["data"], found["total"]])
    assert len({row["api_key"] for row in found["data"]} - {None}) >= 2
    # One that is bound to language models reads only what was asked for with it.
    own = make_key(site, scopes=("chat", "read"), language_models=("ok",))
    bound = client_of(site, own)
    bound.chat.completions.create(model="ok", messages=[{"role": "user", "content": "Say hello."}])
    for by in ("day", "api_key"):
        found = get(bound, "usage", by=by)
        assert (found["total"]["completions"], sum(row["completions"] for row in found["data"])) == (1, 1)


@pytest.mark.parametrize(
    ("parameter", "query"),
    [
        ("by", {"by": "user"}),
        ("from", {"from": "yesterday"}),
        ("from", {"from": "2026-02-02", "to": "2026-02-01"}),
        ("from", {"from": "2020-02-02", "to": "2026-02-01"}),
        ("to", {"to": "0001-01-01"}),
        ("user", {"user": "1"}),
    ],
)
def test_usage_that_can_not_be_told_is_named(client, parameter, query):
    with pytest.raises(openai.BadRequestError) as refusal:
        get(client, "usage", **query)
    assert refusal.value.param == parameter


# Export


def test_a_conversation_is_exported_in_three_formats(site, client, key):
    response = client.responses.create(model="ok", input="What is <b>this</b>?")
    at = f"conversations/{response.conversation.id}/export"
    status, kind, body = read(site, key, f"{at}?kind=json")
    assert (status, kind) == (200, "application/json")
    assert [each["content"] for each in json.loads(body)["messages"]] == ["What is <b>this</b>?", ANSWER]
    status, kind, body = read(site, key, f"{at}?kind=markdown")
    assert (status, kind.partition(";")[0]) == (200, "text/markdown")
    assert ANSWER in body.decode()
    status, kind, body = read(site, key, f"{at}?kind=html")
    assert (status, kind.partition(";")[0]) == (200, "text/html")
    assert "<b>this</b>" not in body.decode()
    for query in ("", "?kind=pdf"):
        status, _, body = read(site, key, f"{at}{query}")
        assert (status, json.loads(body)["error"]["param"]) == (400, "kind")


# Bounds


def test_a_key_with_a_scenario_finds_nothing_of_others(site, client, long_conversation):
    first = client.responses.create(model="ok", input="Say hello.")
    bound = make_key(site, scopes=("chat", "read"))
    bind(site, bound)
    bounded = client_of(site, bound)
    assert post(bounded, "search", {"query": "flowerpot"})["messages"] == []
    assert post(bounded, "search", {"query": "spare key lies"})["titles"] == []
    assert get(bounded, "usage")["total"]["completions"] == 0
    for ask in (
        lambda: post(bounded, "recall", {"conversation": long_conversation, "question": "Where is the spare key?"}),
        lambda: get(bounded, f"conversations/{long_conversation}/export"),
        lambda: get(bounded, f"responses/{first.id}/windows"),
        lambda: post(
            bounded,
            "windows",
            {"model": "ok", "messages": [{"role": "user", "content": "x"}]},
            **{"x-windowseat-conversation": conversation_of(first)},
        ),
    ):
        with pytest.raises(openai.NotFoundError):
            ask()


@pytest.fixture
def recalls_other_conversations(site):
    """Switch recall of other conversations on, and off again: other files ask as the same person."""
    switch = "UPDATE accounts_user SET recalls_other_conversations = %s WHERE email = %s RETURNING email"
    assert site.database.rows(switch, True, site.browser.person)
    yield
    site.database.rows(switch, False, site.browser.person)


@pytest.mark.usefixtures("recalls_other_conversations")
def test_a_key_with_a_scenario_recalls_nothing_of_other_conversations(site, client, long_conversation):
    bound = make_key(site, scopes=("chat", "read"))
    bind(site, bound)
    begun = client_of(site, bound).conversations.create(items=[{"type": "message", "role": "user", "content": "Hi."}])
    asked = {"conversation": begun.id, "question": "Where is the spare key, beneath the blue flowerpot?"}

    def recalled(client):
        return {passage["conversation"] for passage in post(client, "recall", asked)["data"]}

    wait_for(lambda: long_conversation in recalled(client), "the other conversation is recalled")
    assert long_conversation not in recalled(client_of(site, bound))


@pytest.mark.usefixtures("recalls_other_conversations")
def test_a_reply_to_a_key_with_a_scenario_recalls_nothing_of_other_conversations(site, client, long_conversation):
    """Or a program that is bound to one subject would be told of all others by the language model."""
    bound = make_key(site, scopes=("chat", "read"))
    bind(site, bound)
    question = "Where is the spare key, beneath the blue flowerpot?"

    def sent_to(client):
        client.responses.create(model="ok", input=question)
        return FACT in json.dumps(site.upstream.log()[-1]["body"])

    def recalled_in_preview(client):
        asked = {"model": "ok", "messages": [{"role": "user", "content": question}]}
        named = {"x-windowseat-conversation": str(uuid.uuid4())}
        return bool(post(client, "windows", asked, **named)["window"]["recall"]["included"])

    wait_for(lambda: sent_to(client), "the other conversation is recalled")
    assert recalled_in_preview(client)
    other = client_of(site, bound)
    assert (sent_to(other), recalled_in_preview(other)) == (False, False)


def test_a_key_without_the_scope_looks_nothing_up(site, long_conversation):
    chats = client_of(site, make_key(site, scopes=("chat",)))
    for ask in (
        lambda: post(chats, "search", {"query": "flowerpot"}),
        lambda: post(chats, "recall", {"conversation": long_conversation, "question": "x"}),
        lambda: get(chats, "usage"),
        lambda: get(chats, f"conversations/{long_conversation}/export"),
    ):
        with pytest.raises(openai.PermissionDeniedError) as refusal:
            ask()
        assert refusal.value.code == "scope_missing"


def test_an_export_ends_with_its_key(site):
    """A client may read it as slowly as it likes; what it has not read by then it does not get."""
    key = make_key(site, scopes=("chat", "read"))
    client = client_of(site, key)
    items = [{"type": "message", "role": "user", "content": "word " * 150_000}] * 10
    conversation = client.conversations.create(items=items)
    client.conversations.items.create(conversation.id, items=items)
    connection = http.client.HTTPConnection(urlsplit(site.address).netloc, timeout=60)
    path = f"/v1/windowseat/conversations/{conversation.id}/export?kind=json"
    connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    assert answer.status == 200
    answer.read(1_000)
    revoke(site, key)
    with pytest.raises(http.client.IncompleteRead):
        answer.read()
    connection.close()

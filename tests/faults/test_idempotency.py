"""Requests of programs that are sent again: one bill and one answer, across processes, and when one is killed."""

from __future__ import annotations

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import openai
import pytest

from tests.support.api_clients import HELLO, client_of, in_conversation, make_key, post_raw, rows_of
from tests.support.patience import wait_for

from .processes import SiteProcess

KEPT = "SELECT * FROM conversations_idempotentrequest WHERE api_key_id = (SELECT id FROM conversations_apikey"
KEPT += " WHERE public_part = %s) ORDER BY created_at"
NEWEST_REPLY = "SELECT state FROM conversations_message WHERE role = 'assistant' ORDER BY id DESC LIMIT 1"


def kept(site, key):
    return site.database.rows(KEPT, key.split("_")[1])


def said(stream):
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def with_key(idempotency_key=None):
    return {"extra_headers": {"Idempotency-Key": idempotency_key or uuid.uuid4().hex}}


def asked(site, model="ok"):
    """Return how often the provider was asked for a completion of *model*."""
    return sum(each["model"] == model for each in site.upstream.log())


@pytest.fixture
def key(site):
    return make_key(site)


@pytest.fixture
def client(site, key):
    return client_of(site, key, max_retries=0)


@contextmanager
def begun(client, site, **fields):
    """A request to a model that is held, sent by a thread; what it was answered is in its result."""
    before = len(site.upstream.log())
    with ThreadPoolExecutor(1) as sender:
        answer = sender.submit(client.chat.completions.create, messages=HELLO, **fields)
        wait_for(lambda: len(site.upstream.log()) > before or answer.done(), "the provider was asked")
        yield answer


def test_the_same_key_gets_the_same_answer_and_no_second_bill(site, client, key):
    same = with_key()
    first = client.chat.completions.create(model="ok", messages=HELLO, **same)
    raw = client.chat.completions.with_raw_response.create(model="ok", messages=HELLO, **same)
    again = raw.parse()
    assert (again.id, again.choices[0].message.content) == (first.id, "Hello from the upstream.")
    assert again.usage == first.usage
    assert raw.headers["Idempotent-Replayed"] == "true"
    assert said(client.chat.completions.create(model="ok", messages=HELLO, stream=True, **same)) == (
        "Hello from the upstream."
    )
    assert len(rows_of(site, key)) == asked(site) == 1


def test_a_key_is_that_of_its_api_key_alone(site, client, key):
    same, other = with_key(), make_key(site)
    client.chat.completions.create(model="ok", messages=HELLO, **same)
    client_of(site, other).chat.completions.create(model="ok", messages=HELLO, **same)
    assert len(rows_of(site, other)) == len(rows_of(site, key)) == 1


def test_a_key_with_another_request_is_refused(site, client, key):
    same = with_key()
    client.chat.completions.create(model="ok", messages=HELLO, **same)
    with pytest.raises(openai.UnprocessableEntityError) as refusal:
        client.chat.completions.create(model="ok", messages=HELLO, temperature=1, **same)
    assert refusal.value.code == "idempotency_key_reused"
    assert len(rows_of(site, key)) == 1


@pytest.mark.parametrize("wrong", ["", "two words", "x" * 256])
def test_a_key_that_is_none_is_named(site, key, wrong):
    body = json.dumps({"model": "ok", "messages": HELLO}).encode()
    status, answer, _ = post_raw(site, key, body, **{"Idempotency-Key": wrong})
    assert (status, answer["error"]["param"]) == (400, "Idempotency-Key")


def test_what_was_refused_before_it_left_may_be_sent_again(site):
    own = make_key(site, per_day_usd="0.0001")
    client, same = client_of(site, own, max_retries=0), with_key()
    with pytest.raises(openai.PermissionDeniedError, match="this API key’s own limit"):
        client.chat.completions.create(model="ok", messages=HELLO, **same)
    site.database.rows(
        "UPDATE conversations_apikey SET money_per_day_usd = NULL WHERE public_part = %s", own.split("_")[1]
    )
    assert client.chat.completions.create(model="ok", messages=HELLO, **same).choices


def test_an_error_that_may_have_cost_is_the_answer_and_one_that_cost_nothing_is_not(site, client, key):
    same = with_key()
    for _ in range(2):
        with pytest.raises(openai.InternalServerError) as refusal:
            client.chat.completions.create(model="cut-after-5", messages=HELLO, **same)
        assert refusal.value.code == "stream_broken"
    assert len(rows_of(site, key)) == 1
    free = with_key()
    for _ in range(2):
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="status-401", messages=HELLO, **free)
    assert len(rows_of(site, key)) == 3


def test_the_same_request_joins_the_one_that_runs(site, client, key):
    same = with_key()
    with begun(client, site, model="held-60", **same) as first:
        stream = client.chat.completions.create(model="held-60", messages=HELLO, stream=True, **same)
        pieces = iter(stream)
        while "word59" not in (next(pieces).choices[0].delta.content or ""):  # while the first one runs
            pass
        assert not first.done()
        site.upstream.release()
        list(pieces)
        assert first.result().choices[0].message.content.endswith("word59")
    assert len(rows_of(site, key)) == asked(site, "held-60") == 1


def test_twenty_at_once_with_one_key_are_one_request(site, key):
    body = json.dumps({"model": "held-60", "messages": HELLO}).encode()
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    with ThreadPoolExecutor(20) as senders:
        answers = [senders.submit(post_raw, site, key, body, **headers) for _ in range(20)]
        wait_for(lambda: asked(site, "held-60"), "one has reached the provider")
        site.upstream.release()
        told = {(status, answer["id"]) for status, answer, _ in (each.result() for each in answers)}
    assert len(told) == 1
    assert [status for status, _ in told] == [200]
    assert len(rows_of(site, key)) == asked(site, "held-60") == 1


# What the openai package does by itself


def test_the_openai_package_retries_after_a_timeout_and_is_billed_once(site, key):
    client = client_of(site, key, max_retries=2).with_options(timeout=1)
    releasing = threading.Timer(2.5, site.upstream.release)
    releasing.start()
    answer = client.chat.completions.create(model="held-before", messages=HELLO)
    releasing.join()
    assert answer.choices[0].message.content == "Hello from the upstream."
    assert len(rows_of(site, key)) == asked(site, "held-before") == 1
    assert rows_of(site, key)[0]["error_code"] == ""


def test_of_equal_requests_at_once_each_retry_has_an_answer_of_its_own(site, key):
    client = client_of(site, key, max_retries=2).with_options(timeout=2)
    releasing = threading.Timer(5, site.upstream.release)
    releasing.start()
    with ThreadPoolExecutor(5) as senders:
        sent = [senders.submit(client.chat.completions.create, model="held-before", messages=HELLO) for _ in range(5)]
        ids = {each.result().id for each in sent}
    releasing.join()
    assert len(ids) == len(rows_of(site, key)) == asked(site, "held-before") == 5


def test_requests_that_are_no_retries_are_two(site, client, key):
    for _ in range(2):
        client.chat.completions.create(model="ok", messages=HELLO)
    assert len(rows_of(site, key)) == 2


def test_what_is_kept_for_a_retry_can_be_read_by_no_one_without_the_request(site, client, key):
    client.chat.completions.create(model="ok", messages=HELLO)
    list(client.chat.completions.create(model="ok", messages=HELLO, stream=True))  # such a one is not sent again
    wait_for(lambda: [bool(row["answer"]) for row in kept(site, key)] == [True], "one is kept, the stream is forgotten")
    [row] = kept(site, key)
    assert row["answer"]
    assert "Hello" not in str(row)
    assert row["ended_at"]


def test_a_client_that_does_not_come_back_ends_the_request(site, key):
    client = client_of(site, key, max_retries=0).with_options(timeout=1)
    with pytest.raises(openai.APITimeoutError):
        client.chat.completions.create(model="endless", messages=HELLO)
    wait_for(lambda: [row["client_has_gone"] for row in kept(site, key)] == [True], "the client is known to be gone")
    assert rows_of(site, key)[0]["ended_at"] is None
    site.database.rows("UPDATE conversations_idempotentrequest SET wanted_until = now() WHERE ended_at IS NULL")
    wait_for(lambda: rows_of(site, key)[0]["ended_at"], "it was ended")
    assert rows_of(site, key)[0]["finish_reason"] == "stopped"
    assert not kept(site, key)


# In a conversation


def test_in_a_conversation_the_same_request_is_the_same_message(site, client, key):
    conversation, sent = str(uuid.uuid4()), uuid.uuid4().hex
    headers = in_conversation(conversation)["extra_headers"] | {"Idempotency-Key": sent}
    with begun(client, site, model="held-60", extra_headers=headers) as first:
        stream = client.chat.completions.create(model="held-60", messages=HELLO, stream=True, extra_headers=headers)
        site.upstream.release()
        whole = said(stream)
        assert whole.split()[-1] == "word59"
        assert first.result().choices[0].message.content == whole
    raw = client.chat.completions.with_raw_response.create(model="held-60", messages=HELLO, extra_headers=headers)
    assert raw.parse().choices[0].message.content == whole
    assert raw.headers["Idempotent-Replayed"] == "true"
    assert len(rows_of(site, key)) == asked(site, "held-60") == 1
    sql = "SELECT count(*) FROM conversations_message m JOIN conversations_conversation c ON c.id = m.conversation_id"
    assert site.database.value(f"{sql} WHERE c.public_id = %s", conversation) == 2


def test_in_a_conversation_the_package_retries_without_a_second_message(site, key):
    client = client_of(site, key, max_retries=2).with_options(timeout=1)
    releasing = threading.Timer(2.5, site.upstream.release)
    releasing.start()
    answer = client.chat.completions.create(model="held-before", messages=HELLO, **in_conversation(str(uuid.uuid4())))
    releasing.join()
    assert answer.choices[0].message.content == "Hello from the upstream."
    assert len(rows_of(site, key)) == 1


# Several processes, and one that dies


@pytest.fixture
def beside(mortal_site):
    """The address of a second process of the mortal site."""
    before = set(mortal_site._processes)
    yield mortal_site.serve_beside()
    for process in set(mortal_site._processes) - before:
        if process is not mortal_site.process:
            process.end()


def client_at(address, key, **options):
    return openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0, timeout=60, **options)


def test_another_process_joins_the_answer_without_redis(mortal_site, beside):
    site, own, same = mortal_site, make_key(mortal_site), with_key()
    with begun(client_of(site, own), site, model="held-60", **same) as first:
        stream = client_at(beside, own).chat.completions.create(model="held-60", messages=HELLO, stream=True, **same)
        pieces = iter(stream)
        while "word59" not in (next(pieces).choices[0].delta.content or ""):
            pass
        site.upstream.release()
        list(pieces)
        assert first.result().choices
    assert len(rows_of(site, own)) == asked(site, "held-60") == 1


def test_a_killed_process_leaves_no_second_bill_and_no_reservation(mortal_site, beside):
    site, own, same = mortal_site, make_key(mortal_site, per_day_usd="0.05"), with_key()
    assert isinstance(site.process, SiteProcess)
    with begun(client_of(site, own, max_retries=0), site, model="held-60", **same) as first:
        site.process.kill()
        with pytest.raises(openai.APIConnectionError):
            first.result()
    other = client_at(beside, own)
    with pytest.raises(openai.InternalServerError) as refusal:
        other.chat.completions.create(model="held-60", messages=HELLO, **same)
    assert refusal.value.code == "answer_interrupted"
    wait_for(lambda: rows_of(site, own)[0]["ended_at"], "the row of the dead process is settled")
    [row] = rows_of(site, own)
    assert row["error_code"] == "answer_interrupted"
    assert asked(site, "held-60") == 1
    assert other.chat.completions.create(model="ok", messages=HELLO, **with_key()).choices
    site.serve()


@pytest.mark.parametrize("released", [True, False])
def test_a_process_that_is_told_to_end_lets_answers_end_whose_clients_have_gone(mortal_site, released):
    site, own, same = mortal_site, make_key(mortal_site), with_key()
    with pytest.raises(openai.APITimeoutError):
        client_of(site, own, max_retries=0).with_options(timeout=1).chat.completions.create(
            model="held-60", messages=HELLO, **same
        )
    wait_for(lambda: [row["client_has_gone"] for row in kept(site, own)] == [True], "the client is known to be gone")
    site.process.terminate()
    wait_for(lambda: site.process.has_said("Stopping."), "it has heard that it is to stop")
    if released:
        site.upstream.release()
    site.process.wait()
    site.serve()
    again = client_of(site, own, max_retries=0)
    if released:
        answer = again.chat.completions.create(model="held-60", messages=HELLO, **same)
        assert answer.choices[0].message.content.endswith("word59")
    else:
        with pytest.raises(openai.InternalServerError) as refusal:
            again.chat.completions.create(model="held-60", messages=HELLO, **same)
        assert refusal.value.code == "answer_interrupted"
    [row] = rows_of(site, own)
    assert row["ended_at"]
    assert asked(site, "held-60") == 1


def test_any_order_of_sending_leaving_and_ending_is_one_bill_for_each_key(mortal_site, beside, chance):
    """Programs send three requests again and again, to two processes, and go away; one process is killed on the way."""
    site, own = mortal_site, make_key(mortal_site)
    keys = [uuid.uuid4().hex for _ in range(3)]
    told: dict[str, set[str]] = {each: set() for each in keys}

    def send(address, sent, streams, patience):
        body = {"model": "paced-20-60", "messages": [{"role": "user", "content": sent}]}
        client = client_at(address, own).with_options(timeout=patience)
        same = {"extra_headers": {"Idempotency-Key": sent}}
        try:
            if streams:
                told[sent].add(said(client.chat.completions.create(**body, stream=True, **same)))
            else:
                told[sent].add(client.chat.completions.create(**body, **same).choices[0].message.content)
        except openai.APIConnectionError:  # it went away, or the process was killed
            return
        except openai.APIError as error:
            told[sent].add(error.code)

    kills_at = chance.choice([None, 5, 10])
    with ThreadPoolExecutor(8) as senders:
        sending = []
        for turn in range(16):
            if turn == kills_at:
                site.process.kill()
            patience = chance.choice([0.2, 0.5, 30])
            address = chance.choice([site.address, beside])
            sending.append(senders.submit(send, address, chance.choice(keys), chance.random() < 0.5, patience))
            wait_for(lambda many=turn: sum(not each.done() for each in sending) < 4 or many < 4, "some were answered")
        for each in sending:
            each.result()
    if kills_at is not None:
        site.serve()
    wait_for(lambda: all(row["ended_at"] for row in rows_of(site, own)), "all rows are settled")
    whole = "".join(f"word{number} " for number in range(20)).strip()
    questions = [each["body"]["messages"][-1]["content"] for each in site.upstream.log()]
    for sent in keys:
        assert questions.count(sent) <= 1
        assert len(told[sent]) <= 1
        assert told[sent] <= {whole, "answer_interrupted"}
    assert len(rows_of(site, own)) == len(questions)

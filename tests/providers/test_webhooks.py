"""The client of webhooks against a receiver that may be hostile: what becomes of each, and where it never asks."""

from __future__ import annotations

import time

import pytest

from conversations.providers.clients.webhooks import WebhookAnswer, send_webhook
from tests.support.hostile_addresses import Rebinding
from tests.support.ports import free_port
from tests.support.webhook_receiver import serve_receiver

BODY = b'{"type":"response.completed"}'
NAMED = ("127.0.0.1", "hooks.example.org")


@pytest.fixture
def receiver():
    with serve_receiver() as running:
        yield running


async def send(url, *, named_hosts=NAMED, seconds=3.0, **options):
    return await send_webhook(url, BODY, {"webhook-id": "evt_1"}, named_hosts=named_hosts, seconds=seconds, **options)


async def test_it_posts_the_body_with_its_headers(receiver):
    assert await send(receiver.url + "?a=1") == WebhookAnswer(204)
    [sent] = receiver.received
    assert (sent.path, sent.body) == ("/hook?a=1", BODY)
    assert (sent.headers["webhook-id"], sent.headers["content-type"]) == ("evt_1", "application/json")
    assert not {"cookie", "authorization", "referer"} & set(sent.headers)


@pytest.mark.parametrize(
    ("fault", "answer"),
    {
        "status-201": WebhookAnswer(201),
        "status-410": WebhookAnswer(410, "status"),
        "status-500": WebhookAnswer(500, "status"),
        "redirect": WebhookAnswer(302, "redirect"),
        "enormous": WebhookAnswer(200),
        "hang-body": WebhookAnswer(200),
        "compressed": WebhookAnswer(200),
    }.items(),
)
async def test_only_the_status_counts(receiver, fault, answer):
    receiver.fault = fault
    began = time.monotonic()
    assert await send(receiver.url, seconds=30.0) == answer
    assert time.monotonic() - began < 20  # nothing was waited for


async def test_a_redirect_is_not_followed(receiver):
    with serve_receiver() as elsewhere:
        receiver.fault, receiver.elsewhere = "redirect", elsewhere.url
        await send(receiver.url)
        assert elsewhere.received == []


@pytest.mark.parametrize("fault", ["hang", "drip"])
async def test_one_that_never_answers_is_left(receiver, fault):
    receiver.fault = fault
    assert await send(receiver.url, seconds=0.3) == WebhookAnswer(error="timeout")


async def test_endless_headers_are_not_read(receiver):
    receiver.fault = "enormous-head"
    assert (await send(receiver.url, seconds=30.0)).error == "unreachable"


async def test_one_that_is_not_there_is_unreachable():
    assert (await send(f"http://127.0.0.1:{free_port()}/")).error == "unreachable"


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254"])
async def test_a_name_that_leads_inside_is_refused_at_the_connection(receiver, address):
    port = receiver.url.split(":")[2].split("/")[0]
    url = f"https://rebinding.example.org:{port}/"
    answer = await send(url, resolver=Rebinding(address))
    assert answer.error in ("inside", "refused")
    assert receiver.received == []


@pytest.mark.parametrize(
    "url", ["http://example.org/", "https://10.0.0.1/", "https://user@example.org/", "ftp://a/", ""]
)
async def test_an_address_that_may_not_be_sent_to_is_refused(url):
    assert (await send(url)).error in ("inside", "refused")


async def test_one_that_the_operator_wrote_may_be_inside(receiver):
    assert await send(receiver.url, named_hosts=()) != WebhookAnswer(204)
    assert await send(receiver.url, named_hosts=(), is_named=True) == WebhookAnswer(204)

"""What passes the limit of bodies, and who waits there. Real uploads are in tests/faults/test_uploads.py."""

from __future__ import annotations

import asyncio
import json
from io import BytesIO

import pytest
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.test import Client

from chatsite.accounts.models import Session
from conversations.views.http import body_limit
from conversations.views.http.body_limit import (
    LARGE_BODIES_AT_ONCE,
    LARGE_BODIES_OF_ONE_USER,
    MARK,
    BodyLimit,
    declared_bytes,
    sender_of_files,
    takes_files,
)
from conversations.views.http.user_share import read_session_key, session_user
from tests.support.people import make_user
from tests.support.waiting import in_thread

MANY = b"20000000"


def scope_with(**headers):
    named = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    return {"type": "http", "path": "/", "headers": named}


@pytest.mark.parametrize(
    ("headers", "declared"),
    [
        ({}, 0),
        ({"content_length": b"17"}, 17),
        ({"transfer_encoding": b"chunked"}, None),
        ({"transfer_encoding": b"chunked", "content_length": b"17"}, None),
        ({"content_length": b"-1"}, None),
        ({"content_length": b"x"}, None),
    ],
)
def test_a_length_is_believed_only_where_it_is_one(headers, declared):
    assert declared_bytes(scope_with(**headers)) == declared


@pytest.mark.parametrize(
    ("path", "takes"),
    [
        ("/c/7b0b6f2e-6b7d-4a39-9a44-5a8e1f1b9f10/documents/add/", True),
        ("/scenarios/5/documents/add/", True),
        ("/c/7b0b6f2e-6b7d-4a39-9a44-5a8e1f1b9f10/messages/post/", True),
        ("/scenarios/5/documents/", False),
        ("/scenarios/from-file/", False),
        ("/nowhere", False),
    ],
)
def test_few_addresses_take_files(path, takes):
    assert takes_files(path) is takes


async def answer_of(scope, *bodies):
    """Let a request come in pieces through the limit; return the body that got through."""
    pieces = [{"type": "http.request", "body": body, "more_body": True} for body in bodies]
    coming = iter([*pieces, {"type": "http.request", "body": b"", "more_body": False}])
    read = []

    async def receive():
        return next(coming)

    async def application(scope, receive, send):
        while (message := await receive())["more_body"]:
            read.append(message["body"])

    await BodyLimit(application)(scope, receive, None)
    return b"".join(read)


async def test_what_is_small_enough_passes_as_it_is(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 6
    scope = scope_with(transfer_encoding=b"chunked")
    assert await answer_of(scope, b"abc", b"def") == b"abcdef"
    assert MARK not in scope


async def test_what_gets_too_large_ends_before_the_piece_that_is_too_much(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 5
    scope = scope_with(transfer_encoding=b"chunked")
    assert await answer_of(scope, b"abc", b"def", b"ghi") == b"abc"
    assert scope[MARK]


async def test_of_what_says_that_it_is_too_large_nothing_is_read(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 5
    scope = scope_with(content_length=b"6")
    assert await answer_of(scope, b"abcdef") == b""
    assert scope[MARK]


async def test_only_so_many_large_requests_are_read_at_once(monkeypatch):
    inside = await _inside(monkeypatch, [str(number) for number in range(LARGE_BODIES_AT_ONCE + 1)])
    assert len(inside) == LARGE_BODIES_AT_ONCE + 1
    assert [scope for scope in inside if not scope["headers"]]


async def test_one_person_does_not_take_all_turns(monkeypatch):
    inside = await _inside(monkeypatch, ["eve"] * (LARGE_BODIES_AT_ONCE + 1) + ["alice"])
    assert [scope["person"] for scope in inside if scope["headers"]] == ["eve"] * LARGE_BODIES_OF_ONE_USER + ["alice"]


async def _inside(monkeypatch, people):
    """Let a large request of each of *people* come, and a small one; return those that are read at once."""
    inside, way_out = [], asyncio.Event()

    async def sender_of_files(scope):
        return scope["person"]

    async def application(scope, receive, send):
        inside.append(scope)
        await way_out.wait()

    monkeypatch.setattr(body_limit, "sender_of_files", sender_of_files)
    limit = BodyLimit(application)
    scopes = [scope_with(content_length=MANY) | {"person": person} for person in people]
    requests = [asyncio.create_task(limit(scope, None, None)) for scope in [*scopes, scope_with()]]
    for _ in range(10):
        await asyncio.sleep(0)
    read = list(inside)
    way_out.set()
    await asyncio.gather(*requests)
    assert len(inside) == len(requests)
    return read


@pytest.mark.parametrize("drip", [b"", b"x"])
async def test_what_hardly_comes_is_not_waited_for(monkeypatch, drip):
    monkeypatch.setattr(body_limit, "SHORTEST_SECONDS", 0.1)
    scope, ended = scope_with(transfer_encoding=b"chunked"), []

    async def receive():
        await asyncio.sleep(0.04 if drip else 60)
        return {"type": "http.request", "body": drip, "more_body": True}

    async def application(scope, receive, send):
        while (message := await receive())["more_body"]:
            pass
        ended.append(message)

    async with asyncio.timeout(30):  # a body that is waited for takes a minute
        await BodyLimit(application)(scope, receive, None)
    assert ended == [body_limit.END]
    assert scope[MARK] == "slow"


@pytest.mark.parametrize(("mark", "status"), [("slow", 408), ("large", 413)])
def test_a_program_whose_body_was_refused_is_told_why(mark, status):
    request = ASGIRequest(scope_with() | {"path": "/v1/responses", "method": "POST", MARK: mark}, BytesIO())
    refusal = body_limit.body_refusal(request)
    assert (refusal.status_code, refusal["x-should-retry"]) == (status, "false")
    assert json.loads(refusal.content)["error"]["type"] == "invalid_request_error"


async def test_who_has_sent_all_is_waited_for(monkeypatch):
    """Django asks on, to hear that the visitor has gone."""
    coming = [{"type": "http.disconnect"}, {"type": "http.request", "body": b"abc", "more_body": False}]

    async def receive():
        await asyncio.sleep(0.01)
        return coming.pop()

    async def application(scope, receive, send):
        heard.append(await receive())
        monkeypatch.setattr(body_limit, "SHORTEST_SECONDS", 0)
        heard.append(await receive())

    heard, scope = [], scope_with(transfer_encoding=b"chunked")
    await BodyLimit(application)(scope, receive, None)
    assert heard[1] == {"type": "http.disconnect"}
    assert MARK not in scope


async def test_a_session_that_has_ended_sends_no_files(transactional_db):
    browser = Client()
    await in_thread(browser.force_login, await in_thread(make_user, "ada"))
    cookie = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"
    path = "/c/7b0b6f2e-6b7d-4a39-9a44-5a8e1f1b9f10/documents/add/"
    scope = scope_with(cookie=cookie.encode()) | {"path": path}
    sender = await sender_of_files(scope)
    assert sender == await session_user(read_session_key(scope))
    await in_thread(Session.objects.all().delete)
    assert await session_user(read_session_key(scope)) == sender  # which only tells queues apart
    assert await sender_of_files(scope) is None

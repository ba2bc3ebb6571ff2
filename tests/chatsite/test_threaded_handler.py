"""Requests with a synchronous view run in one thread, and are answered as Django's own handler answers them."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.core.signals import request_finished, request_started
from django.http import HttpResponse, StreamingHttpResponse
from django.urls import path
from django.utils.deprecation import MiddlewareMixin

from chatsite.middleware.threaded_handler import ThreadedHandler
from tests.support.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.urls(__name__)
seen: list[tuple[str, int]] = []  # what was called, and in which thread


def note(name):
    seen.append((name, threading.get_ident()))


class Noting(MiddlewareMixin):
    def process_request(self, _request):
        note("request")

    def process_view(self, *_):
        note("view middleware")

    def process_response(self, _request, response):
        note("response")
        return response


class Page(HttpResponse):
    def close(self):
        note("close")
        super().close()


def page(request):
    note("view")
    return Page(request.body or b"page", status=201)


async def asynchronous(_request):
    note("view")
    return HttpResponse("asynchronous")


class Stream(StreamingHttpResponse):
    def close(self):
        note("close")
        super().close()


def stream(request):
    """A stream of as many pieces as the address says; of none it fails."""
    count = int(request.GET["pieces"])

    async def pieces():
        try:
            for number in range(count):
                yield str(number)
                await asyncio.sleep(0)
            if not count:
                raise ValueError("no piece")
        finally:
            note("end of pieces")

    return Stream(pieces())


def broken(_request):
    raise ValueError("broken")


def nothing(request, exception):
    return HttpResponse(status=404)


handler404 = nothing
urlpatterns = [
    path("page/", page),
    path("asynchronous/", asynchronous),
    path("stream/", stream),
    path("broken/", broken),
]


class Handler(ThreadedHandler):
    in_thread = staticmethod(lambda function: partial(asyncio.to_thread, function))


@pytest.fixture(autouse=True)
def _notes(settings):
    settings.MIDDLEWARE = [f"{__name__}.Noting"]
    seen.clear()
    receivers = {request_started: "started", request_finished: "finished"}
    connected = {signal: partial(lambda name, **_: note(name), name) for signal, name in receivers.items()}
    for signal, receiver in connected.items():
        signal.connect(receiver)
    yield
    for signal, receiver in connected.items():
        signal.disconnect(receiver)


def communicate(address, *, body=b"", **scope):
    where, _, query = address.partition("?")
    http = {"type": "http", "http_version": "1.1", "method": "POST" if body else "GET", "headers": []}
    scope = {**http, "path": where, "query_string": query.encode(), **scope}
    return ApplicationCommunicator(Handler(), scope)


async def ask(address, *, body=b"", **scope):
    """Return status and body of the answer."""
    communicator = communicate(address, body=body, **scope)
    await communicator.send_input({"type": "http.request", "body": body})
    start = await communicator.receive_output(PATIENCE_SECONDS)
    content, more = b"", True
    while more:
        message = await communicator.receive_output(PATIENCE_SECONDS)
        content, more = content + message["body"] if "body" in message else content, message.get("more_body", False)
    await communicator.wait(PATIENCE_SECONDS)
    return start["status"], content


def test_all_of_it_runs_in_one_thread_and_is_over_before_the_answer():
    assert async_to_sync(ask)("/page/") == (201, b"page")
    steps = ["started", "request", "view middleware", "view", "response", "close", "finished"]
    assert [name for name, _ in seen] == steps
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1] != threading.get_ident()


def test_a_form_is_read_and_a_prefix_is_cut_off():
    assert async_to_sync(ask)("/page/", body=b"a form") == (201, b"a form")
    assert async_to_sync(ask)("/below/page/", root_path="/below") == (201, b"page")


@pytest.mark.parametrize(("address", "status"), [("/asynchronous/", 200), ("/nothing/", 404)])
def test_what_has_no_synchronous_view_goes_the_other_way(address, status):
    assert async_to_sync(ask)(address)[0] == status
    assert "request" in [name for name, _ in seen]


def test_an_error_of_a_view_is_a_page(settings):
    settings.DEBUG_PROPAGATE_EXCEPTIONS = False
    assert async_to_sync(ask)("/broken/")[0] == 500
    assert [name for name, _ in seen][-2:] == ["response", "finished"]


def test_a_stream_is_sent_piece_by_piece_and_closed():
    assert async_to_sync(ask)("/stream/?pieces=3") == (200, b"012")
    assert [name for name, _ in seen][-3:] == ["end of pieces", "close", "finished"]


def test_a_stream_that_fails_is_closed():
    async def fail():
        communicator = communicate("/stream/?pieces=0")
        await communicator.send_input({"type": "http.request", "body": b""})
        await communicator.wait(PATIENCE_SECONDS)

    with pytest.raises(ValueError, match="no piece"):
        async_to_sync(fail)()
    assert [name for name, _ in seen][-3:] == ["end of pieces", "close", "finished"]


def test_a_stream_whose_client_leaves_is_closed():
    async def leave():
        communicator = communicate("/stream/?pieces=1000000000")
        await communicator.send_input({"type": "http.request", "body": b""})
        await communicator.receive_output(PATIENCE_SECONDS)
        await communicator.receive_output(PATIENCE_SECONDS)
        await communicator.send_input({"type": "http.disconnect"})
        await communicator.wait(PATIENCE_SECONDS)

    async_to_sync(leave)()
    assert [name for name, _ in seen][-3:] == ["end of pieces", "close", "finished"]


def test_a_client_who_leaves_before_the_request_is_there_gets_no_answer():
    async def leave():
        communicator = communicate("/page/")
        await communicator.send_input({"type": "http.disconnect"})
        await communicator.wait(PATIENCE_SECONDS)
        return await communicator.receive_nothing()

    assert async_to_sync(leave)()
    assert seen == []

"""The site's ASGI application, with its own middleware in groups."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator

from tests.support.patience import PATIENCE_SECONDS

COOKIES = b"sessionid=of-a-session; csrftoken=of-a-form"


@pytest.mark.parametrize("path", ["/\x00", "/c/\x00", "/v1/\x00"])
def test_what_is_refused_in_the_event_loop_needs_no_database(path):
    """Middleware that goes to no thread renders its page of an error in the event loop, where Django allows none."""
    from chatsite.asgi import DjangoApplication

    headers = [(b"host", b"testserver"), (b"accept", b"text/html"), (b"cookie", COOKIES)]
    scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": path, "query_string": b""}

    async def ask():
        communicator = ApplicationCommunicator(DjangoApplication(), {**scope, "headers": headers})
        await communicator.send_input({"type": "http.request", "body": b""})
        return await communicator.receive_output(PATIENCE_SECONDS)

    assert async_to_sync(ask)()["status"] == 400

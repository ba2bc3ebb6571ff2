"""The least that a page of Django could be: no middleware, one query, some HTML. Served as the site is.

It has a pool of connections, as the site has: under ASGI each request has a thread of its own, and so would begin with
a connection of its own.

    DATABASE='{"HOST": …}' python -m tests.benchmarks._bare_page
"""

from __future__ import annotations

import json
import os
import socket
import uuid

import django
import uvicorn
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.html import escape

CONNECTIONS = 16


def page(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT title, last_active_at FROM conversations_conversation WHERE public_id = %s", [public_id])
        title, last_active_at = cursor.fetchone()
    return HttpResponse(
        f"<!doctype html><title>Chat</title><h1>{escape(title or 'New chat')}</h1><p>{last_active_at:%d %B %Y}</p>"
    )


urlpatterns = [path("c/<uuid:public_id>/", page)]


def main() -> None:
    database = json.loads(os.environ["DATABASE"])
    pool = {"min_size": CONNECTIONS, "max_size": CONNECTIONS}
    settings.configure(
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                **database,
                "OPTIONS": {"pool": pool, "server_side_binding": True, "prepare_threshold": 5},
            }
        },
        MIDDLEWARE=[],
        ROOT_URLCONF=__name__,
        SECRET_KEY="nothing is signed",
        USE_TZ=True,
    )
    django.setup()
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        get_asgi_application(),
        loop="uvloop",
        http="httptools",
        lifespan="off",
        server_header=False,
        log_level="warning",
        access_log=False,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()

"""The ASGI application: pages, sockets, and the workers that run while the server does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, cast

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "chatsite.settings"
django.setup(set_prefix=False)

# Only now can models be imported.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402

from chatsite.large_forms import LargeFormRequest  # noqa: E402
from chatsite.middleware.socket_origin import SiteOriginValidator  # noqa: E402
from chatsite.middleware.threaded_handler import ThreadedHandler  # noqa: E402
from conversations.live.database_threads import in_request_thread  # noqa: E402
from conversations.live.redis_echo import redis_echo  # noqa: E402
from conversations.runs.background_writer import summary_writer, title_writer  # noqa: E402
from conversations.runs.backup_maker import BackupMaker  # noqa: E402
from conversations.runs.importer import Importer  # noqa: E402
from conversations.runs.indexer import Indexer  # noqa: E402
from conversations.runs.message_counter import MessageCounter  # noqa: E402
from conversations.runs.message_indexer import MessageIndexer  # noqa: E402
from conversations.runs.pool_notes import PoolNotes  # noqa: E402
from conversations.runs.reaper import Reaper  # noqa: E402
from conversations.runs.webhook_sender import WebhookSender  # noqa: E402
from conversations.runs.worker import Worker  # noqa: E402
from conversations.services.api.running_chats import running_chats  # noqa: E402
from conversations.sockets.handshake_turns import HandshakeTurns  # noqa: E402
from conversations.sockets.routing import websocket_urlpatterns  # noqa: E402
from conversations.views.http.body_limit import BodyLimit  # noqa: E402
from conversations.views.http.user_share import UserShare  # noqa: E402

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


async def lifespan(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Run the workers inside this process from start-up to shut-down, or only reap, if other processes run them."""
    writers = summary_writer(), title_writer()
    indexers = Indexer(), MessageIndexer(), MessageCounter()
    workers = (
        (redis_echo, *indexers, *writers, Importer(), WebhookSender(), BackupMaker(), Worker())
        if settings.RUN_WORKER and settings.PROCESSES == 1
        else (redis_echo, Reaper(), PoolNotes())
    )
    workers = (*workers, running_chats())
    await receive()
    for worker in workers:
        await worker.start()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await asyncio.gather(*(worker.drain() for worker in workers))
    await send({"type": "lifespan.shutdown.complete"})


class DjangoApplication(ThreadedHandler):
    """Django, with synchronous requests in one thread, with middleware in groups and with large forms."""

    request_class = LargeFormRequest
    in_thread = staticmethod(in_request_thread)


application = ProtocolTypeRouter(
    {
        "http": BodyLimit(UserShare(cast(Application, DjangoApplication()))),
        "websocket": SiteOriginValidator(HandshakeTurns(URLRouter(websocket_urlpatterns)), settings.WEBSOCKET_ORIGINS),
        "lifespan": lifespan,
    }
)

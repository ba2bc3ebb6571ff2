"""`manage.py serve`: what `make run` and the container image start."""

from __future__ import annotations

import gc
import socket
from contextlib import suppress
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from chatsite.accounts.sign_up.first_admin import first_admin_url
from chatsite.postgres.connection import begin_serving, end_waits
from conversations.management.ending import ENDING_SECONDS, end_within
from conversations.management.http_protocol import HttpProtocol
from conversations.management.memory import return_freed_memory
from conversations.management.startup import (
    CannotListen,
    banner,
    database_sentence,
    listen,
    migrate,
    require_schema,
)
from conversations.runs.worker import DRAIN_SECONDS
from conversations.services.language_models.model_context import load_tokenizers
from conversations.tracing import begin_tracing, end_tracing

MAX_FRAME_BYTES = 256 * 1024
REQUESTS_SECONDS = 30


class AnnouncedServer(uvicorn.Server):
    """Says that the site is ready when it is, not before."""

    def __init__(self, config: uvicorn.Config, announcement: str) -> None:
        super().__init__(config)
        self.announcement = announcement

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        spare_the_collector()
        print(self.announcement, flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        print(
            f"Stopping. Open requests have up to {REQUESTS_SECONDS} seconds, "
            f"then running replies up to {DRAIN_SECONDS:g}.",
            flush=True,
        )
        end_within(REQUESTS_SECONDS + DRAIN_SECONDS + ENDING_SECONDS)
        await super().shutdown(sockets)
        end_tracing()
        end_waits()


def spare_the_collector() -> None:
    """Look for cycles less often, and never in what is loaded by now: that was a twentieth of the server's work."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


class Command(BaseCommand):
    help = "Prepare the database and serve the site."
    requires_system_checks = []  # handle() runs them, the database's included

    def handle(self, **options: Any) -> None:
        return_freed_memory()
        try:
            listener = listen(settings.HOST, settings.PORT)
        except CannotListen as error:
            raise CommandError(str(error)) from None
        with listener:
            serve(listener, announcement=self._prepare_or_say_why())

    def _prepare_or_say_why(self) -> str:
        """Prepare the site. Raises `CommandError`, with one sentence, where the database is none to start with."""
        try:
            return self._prepare()
        except DatabaseError as error:
            raise CommandError(database_sentence(error)) from None

    def _prepare(self) -> str:
        """Check the settings and the database, migrate, load what replies need, and return the banner."""
        self.check(databases=list(connections))
        migrate()
        require_schema()
        load_tokenizers()
        announcement = banner(first_admin_url=first_admin_url())
        begin_tracing()
        begin_serving()
        return announcement


def serve(listener: socket.socket, *, announcement: str) -> None:
    """Answer requests until the process is told to stop; then let running requests end."""
    with suppress(KeyboardInterrupt):
        AnnouncedServer(server_config(), announcement).run(sockets=[listener])


def server_config() -> uvicorn.Config:
    return uvicorn.Config(
        "chatsite.asgi:application",
        loop="uvloop",
        http=HttpProtocol,
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME_BYTES,
        ws_per_message_deflate=False,  # costs 16-31 µs for every delta
        lifespan="on",
        proxy_headers=bool(settings.TRUSTED_PROXIES),
        forwarded_allow_ips=settings.TRUSTED_PROXIES,
        server_header=False,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=REQUESTS_SECONDS,
    )

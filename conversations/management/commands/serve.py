"""`manage.py serve`: what `make run` and the container image start."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import uvicorn
import uvloop
from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, connections
from django.template import engines

from chatsite.accounts.sign_up.first_admin import first_admin_url
from chatsite.command_line import own_command
from chatsite.postgres.connection import begin_serving, end_waits
from conversations.live.stack_room import with_stack_room
from conversations.management.announcements import LongRunningCommand, announce
from conversations.management.ending import ENDING_SECONDS, end_within
from conversations.management.forked_process import forked
from conversations.management.http_protocol import HttpProtocol
from conversations.management.main_process import MainProcess, add_descriptor
from conversations.management.memory import return_freed_memory
from conversations.management.sealed_secrets import look_at_sealed_secrets
from conversations.management.socket_protocol import SocketProtocol
from conversations.management.startup import (
    CannotListen,
    banner,
    database_sentence,
    listen,
    prepare_database,
    require_database,
)
from conversations.management.supervisor import GaveUp, Program, Supervisor
from conversations.metrics import shared_metrics
from conversations.runs.worker import DRAIN_SECONDS
from conversations.services.language_models.model_context import load_tokenizers
from conversations.services.language_models.prices import load_listed_prices
from conversations.tracing import begin_tracing, end_tracing

MAX_FRAME_BYTES = 256 * 1024
REQUESTS_SECONDS = 30
STOPPING_SECONDS = REQUESTS_SECONDS + DRAIN_SECONDS + ENDING_SECONDS
MARGIN_SECONDS = 1.0  # for a process that ends itself after these
LISTENER, LINE = "--listener", "--line"


class AnnouncedServer(uvicorn.Server):
    """Says that the site is ready when it is, not before, and that it stops."""

    def __init__(
        self, config: uvicorn.Config, *, say_ready: Callable[[], None], say_stopping: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._say_ready, self._say_stopping = say_ready, say_stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        spare_the_collector()
        self._say_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._say_stopping()
        end_within(STOPPING_SECONDS)
        await super().shutdown(sockets)
        end_tracing()
        end_waits()


def say_stopping() -> None:
    announce(
        f"Stopping. Open requests have up to {REQUESTS_SECONDS} seconds, then running replies up to {DRAIN_SECONDS:g}."
    )


def spare_the_collector() -> None:
    """Look for no cycles in what is loaded by now: that was a twentieth of the server's work."""
    gc.collect()
    gc.freeze()


class Command(LongRunningCommand):
    help = "Prepare the database and serve the site."
    requires_system_checks = []  # handle() runs them, the database's included

    def add_arguments(self, parser: CommandParser) -> None:
        for name in (LISTENER, LINE):
            add_descriptor(parser, name)

    def handle(self, *, listener: int | None, line: int | None, **options: Any) -> None:
        if listener is None or line is None:
            self._serve_site()
        else:
            return_freed_memory()
            serve_beside_others(socket.socket(fileno=listener), MainProcess(line, ending_seconds=STOPPING_SECONDS))

    def _serve_site(self) -> None:
        try:
            listener = listen(settings.HOST, settings.PORT)
        except CannotListen as error:
            raise CommandError(str(error)) from None
        with listener:
            say_ready = partial(announce, self._prepare_or_say_why())
            if settings.PROCESSES > 1:
                keep_processes(listener, say_ready=say_ready)
            else:
                begin_work()
                serve(listener, say_ready=say_ready, say_stopping=say_stopping)

    def _prepare_or_say_why(self) -> str:
        """Prepare the site. Raises `CommandError`, with one sentence, where the database is none to start with."""
        try:
            return self._prepare()
        except DatabaseError as error:
            raise CommandError(database_sentence(error)) from None

    def _prepare(self) -> str:
        """Check the settings and the database, migrate if it is this process's to do, and return the banner.

        Migrations, and checks of pages that few open, leave megabytes behind: in a process that ends.
        """
        for connection in connections.all():
            if (folder := connection.settings_dict.get("EMBEDDED_DIR")) and not folder.exists():
                announce(f"Making the database in {folder}: some seconds, this once.")
            connection.start_server()  # type: ignore[attr-defined]  # ours; it would stop with the other process
        if is_alone := settings.PROCESSES == 1:
            load_pages()
        with forked(self._check_and_migrate):
            return_freed_memory()
            if is_alone:
                load_tokenizers()
        return banner(first_admin_url=first_admin_url(), has_another_key=look_at_sealed_secrets().have_another_key)

    def _check_and_migrate(self) -> None:
        require_database(will_migrate=settings.MIGRATE_ON_START)
        self.check(databases=list(connections))
        prepare_database()


def load_pages() -> None:
    """Load what answers requests: else the first after a start waits for it."""
    import_module(settings.ROOT_URLCONF)
    engines.all()  # and with them the tags of templates


def keep_processes(listener: socket.socket, *, say_ready: Callable[[], None]) -> None:
    """Keep web processes that accept from *listener*, and a worker if it is ours to run, until told to stop."""
    begin_serving()  # which closes the connections of the preparation
    with shared_metrics() as (environment, forget_process):
        supervisor = Supervisor(programs(listener.fileno()), environment=environment, forget=forget_process)

        def stop() -> None:
            listener.close()
            say_stopping()

        try:
            uvloop.run(
                supervisor.run(say_ready=say_ready, say_stopping=stop, ending_seconds=STOPPING_SECONDS + MARGIN_SECONDS)
            )
        except GaveUp as error:
            raise CommandError(str(error)) from None


def programs(listener: int) -> list[Program]:
    """Return what the children run: so many web processes as PROCESSES says, and a worker if it is ours to run."""
    manage = own_command()
    serving = (*manage, "serve", f"{LISTENER}={listener}")
    web = [Program(f"Web process {number + 1}", serving, (listener,)) for number in range(settings.PROCESSES)]
    return [*web, Program("The worker", (*manage, "run_worker"))] if settings.RUN_WORKER else web


def begin_work() -> None:
    """Load what replies need, and begin to serve the database's answers within their limits."""
    load_tokenizers()
    load_listed_prices()
    begin_tracing()
    begin_serving()


def serve_beside_others(listener: socket.socket, main_process: MainProcess) -> None:
    """Serve in a process of several: the main one has prepared the site, and speaks for all."""
    listener.set_inheritable(False)
    begin_work()
    serve(listener, say_ready=main_process.say_ready, say_stopping=lambda: None)


@with_stack_room
def serve(listener: socket.socket, *, say_ready: Callable[[], None], say_stopping: Callable[[], None]) -> None:
    """Answer requests until the process is told to stop; then let running requests end."""
    with suppress(KeyboardInterrupt):
        AnnouncedServer(server_config(), say_ready=say_ready, say_stopping=say_stopping).run(sockets=[listener])


def server_config() -> uvicorn.Config:
    return uvicorn.Config(
        "chatsite.asgi:application",
        loop="uvloop",
        http=HttpProtocol,
        ws=SocketProtocol,
        ws_max_size=MAX_FRAME_BYTES,
        ws_per_message_deflate=False,  # costs 16-31 µs for every delta
        lifespan="on",
        proxy_headers=bool(settings.TRUSTED_PROXIES),
        forwarded_allow_ips=settings.TRUSTED_PROXIES,
        server_header=False,
        log_config=None,  # its errors are written as all others are: by `LOGGING`
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=REQUESTS_SECONDS,
    )

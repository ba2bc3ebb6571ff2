"""`manage.py run_worker`: make replies and read documents in a process beside web processes with RUN_WORKER=off."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

import uvloop
from django.conf import settings
from django.core.management.base import CommandParser
from prometheus_client import start_http_server

from chatsite.postgres.connection import begin_serving, end_waits
from conversations.live.redis_echo import redis_echo
from conversations.live.stack_room import with_stack_room
from conversations.management.announcements import LongRunningCommand, announce
from conversations.management.ending import ENDING_SECONDS, end_within
from conversations.management.main_process import MainProcess, add_descriptor
from conversations.management.memory import return_freed_memory
from conversations.management.startup import require_database
from conversations.metrics import REGISTRY
from conversations.runs.background_writer import summary_writer, title_writer
from conversations.runs.backup_maker import BackupMaker
from conversations.runs.importer import Importer
from conversations.runs.indexer import Indexer
from conversations.runs.message_counter import MessageCounter
from conversations.runs.message_indexer import MessageIndexer
from conversations.runs.pool_notes import PoolNotes
from conversations.runs.webhook_sender import WebhookSender
from conversations.runs.worker import DRAIN_SECONDS, Worker
from conversations.services.language_models.model_context import load_tokenizers
from conversations.services.language_models.prices import load_listed_prices
from conversations.tracing import begin_tracing, end_tracing

STOPPING_SECONDS = DRAIN_SECONDS + ENDING_SECONDS


class Command(LongRunningCommand):
    help = "Make replies and read documents until told to stop; then let the running replies end."

    def add_arguments(self, parser: CommandParser) -> None:
        add_descriptor(parser, "--line")

    @with_stack_room
    def handle(self, *, line: int | None, **options: Any) -> None:
        """Work alone, or for a main process that has looked at the database and shows the metrics of all."""
        return_freed_memory()
        if line is None:
            require_database()
            if settings.METRICS_PORT:
                start_http_server(settings.METRICS_PORT, addr=settings.HOST, registry=REGISTRY)
            say_ready, say_stopping = say_working, say_draining
        else:
            say_ready, say_stopping = MainProcess(line, ending_seconds=STOPPING_SECONDS).say_ready, lambda: None
        load_tokenizers()
        load_listed_prices()
        begin_tracing()
        begin_serving()
        uvloop.run(work(say_ready=say_ready, say_stopping=say_stopping))


def say_working() -> None:
    announce("Making replies. Stop it with Ctrl-C.")


def say_draining() -> None:
    announce(f"Stopping. Replies that are being made may finish, for up to {DRAIN_SECONDS:g} seconds.")


async def work(*, say_ready: Callable[[], None], say_stopping: Callable[[], None]) -> None:
    workers = (
        redis_echo,
        Indexer(),
        MessageIndexer(),
        MessageCounter(),
        summary_writer(),
        title_writer(),
        Importer(),
        WebhookSender(),
        BackupMaker(),
        PoolNotes(),
        Worker(),
    )
    told_to_stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told_to_stop.set)
    for worker in workers:
        await worker.start()
    say_ready()
    await told_to_stop.wait()
    draining = [asyncio.create_task(worker.drain()) for worker in workers]
    await asyncio.sleep(0)  # from here on nothing more is taken
    say_stopping()
    end_within(STOPPING_SECONDS)
    await asyncio.gather(*draining)
    end_tracing()
    end_waits()

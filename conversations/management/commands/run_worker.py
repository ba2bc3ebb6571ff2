"""`manage.py run_worker`: make replies and read documents in a process beside web processes with RUN_WORKER=off."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import uvloop
from django.conf import settings
from django.core.management.base import BaseCommand
from prometheus_client import start_http_server

from chatsite.postgres.connection import begin_serving, end_waits
from conversations.live.redis_echo import redis_echo
from conversations.management.ending import ENDING_SECONDS, end_within
from conversations.management.memory import return_freed_memory
from conversations.management.startup import require_database
from conversations.metrics import REGISTRY
from conversations.runs.background_writer import summary_writer, title_writer
from conversations.runs.indexer import Indexer
from conversations.runs.message_counter import MessageCounter
from conversations.runs.message_indexer import MessageIndexer
from conversations.runs.worker import DRAIN_SECONDS, Worker
from conversations.services.language_models.model_context import load_tokenizers
from conversations.tracing import begin_tracing, end_tracing


class Command(BaseCommand):
    help = "Make replies and read documents until told to stop; then let the running replies end."

    def handle(self, **options: Any) -> None:
        return_freed_memory()
        require_database()
        load_tokenizers()
        if settings.METRICS_PORT:
            start_http_server(settings.METRICS_PORT, addr=settings.HOST, registry=REGISTRY)
        begin_tracing()
        begin_serving()
        uvloop.run(work())


async def work() -> None:
    workers = (redis_echo, Indexer(), MessageIndexer(), MessageCounter(), summary_writer(), title_writer(), Worker())
    told_to_stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told_to_stop.set)
    for worker in workers:
        await worker.start()
    print("Making replies. Stop it with Ctrl-C.", flush=True)
    await told_to_stop.wait()
    draining = [asyncio.create_task(worker.drain()) for worker in workers]
    await asyncio.sleep(0)  # from here on nothing more is taken
    print(f"Stopping. Replies that are being made may finish, for up to {DRAIN_SECONDS:g} seconds.", flush=True)
    end_within(DRAIN_SECONDS + ENDING_SECONDS)
    await asyncio.gather(*draining)
    end_tracing()
    end_waits()

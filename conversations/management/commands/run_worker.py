"""`manage.py run_worker`: make replies in a process of its own, beside web processes with RUN_WORKER=off."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import uvloop
from django.core.management.base import BaseCommand

from conversations.runs.worker import Worker


class Command(BaseCommand):
    help = "Make replies until told to stop; then let the running ones end."

    def handle(self, **options: Any) -> None:
        uvloop.run(work())


async def work() -> None:
    worker, told_to_stop = Worker(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told_to_stop.set)
    await worker.start()
    print("Making replies. Stop it with Ctrl-C.", flush=True)
    await told_to_stop.wait()
    await worker.drain()

"""The webhook sender, beside the run worker: sends what is due to webhooks, and looks which budgets are reached."""

from __future__ import annotations

import asyncio
import logging
from operator import attrgetter

from django.conf import settings

from conversations.live.database_retries import retry_while_database_down
from conversations.live.database_threads import in_worker_thread
from conversations.providers.clients.webhooks import send_webhook
from conversations.services.webhooks.budget_events import store_budget_events
from conversations.services.webhooks.deliveries import (
    ClaimedDelivery,
    claim_delivery,
    end_delivery,
    release_delivery,
)
from conversations.services.webhooks.webhooks import keep_site_webhook

from .repeated_work import repeat_work

logger = logging.getLogger(__name__)
AT_ONCE = 16  # that one process sends
BUDGET_SECONDS = 5.0
LAST_WORDS_SECONDS = 5.0


class WebhookSender:
    """`start` and `drain` belong to one event loop."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)
        self._more = asyncio.Event()
        self._duties: list[asyncio.Task[None]] = []
        self._sending: dict[asyncio.Task[None], ClaimedDelivery] = {}

    async def start(self) -> None:
        duty = repeat_work(self._send_next, self._more, attrgetter("webhooks"))
        self._duties = [
            asyncio.create_task(duty, name="send webhooks"),
            asyncio.create_task(self._watch_budgets(), name="watch budgets"),
        ]

    async def drain(self) -> None:
        """Take no more, let what is being sent end, and leave the rest to other processes."""
        for duty in self._duties:
            duty.cancel()
        if waited := [*self._duties, *self._sending]:
            await asyncio.wait(waited, timeout=LAST_WORDS_SECONDS)
        for sending in tuple(self._sending):
            sending.cancel()
        if self._sending:
            await asyncio.wait(tuple(self._sending), timeout=LAST_WORDS_SECONDS)

    async def _send_next(self) -> bool:
        """Begin to send one event. Returns whether there was one."""
        async with self._free:  # waits until one may be sent
            pass
        if (claimed := await in_worker_thread(claim_delivery)()) is None:
            return False
        task = asyncio.create_task(self._send(claimed), name=f"webhook delivery {claimed.id}")
        self._sending[task] = claimed
        task.add_done_callback(self._sending.pop)
        return True

    async def _send(self, claimed: ClaimedDelivery) -> None:
        async with self._free:
            hosts = settings.WEBHOOK_HOSTS
            try:
                answer = await send_webhook(
                    claimed.url,
                    claimed.body,
                    claimed.headers,
                    named_hosts=hosts,
                    is_named=claimed.is_of_site,
                )
            except asyncio.CancelledError:
                await in_worker_thread(release_delivery)(claimed)
                raise
            await retry_while_database_down(lambda: end_delivery(claimed, answer))
        told = {"delivery_id": claimed.id, "attempt": claimed.attempt, "status": answer.status, "reason": answer.error}
        if answer.is_success:
            logger.info("a webhook was sent", extra=told)
        else:
            logger.warning("a webhook did not arrive; it is sent again later, or given up", extra=told)
        self._more.set()  # another one of the same owner may wait for this one

    async def _watch_budgets(self) -> None:
        while True:
            try:
                await in_worker_thread(keep_site_webhook)()
                while await in_worker_thread(store_budget_events)():
                    self._more.set()
            except Exception:
                logger.exception("budgets could not be compared for webhooks; it will be tried again")
            await asyncio.sleep(BUDGET_SECONDS)

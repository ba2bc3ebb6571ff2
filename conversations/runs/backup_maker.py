"""The backup maker, beside the run worker: makes the site's scheduled backups, in a process of its own.

So a large database takes no thread from replies, and no limit of a serving process ends it.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import os
import time
from contextlib import suppress

from django.conf import settings

from chatsite.backups.kept_backups import OLD_ONES_STAY
from chatsite.command_line import own_command
from chatsite.parent_process import PARENT
from conversations.live.database_threads import in_worker_thread
from conversations.metrics import SHARED_FOLDER
from conversations.services.backups.backup_schedule import (
    claim_scheduled_backup,
    note_failed_backup,
    note_made_backup,
    release_scheduled_backup,
    renew_scheduled_backup,
)

logger = logging.getLogger(__name__)
LOOK_SECONDS = 60.0
CLEARING_SECONDS = 10.0  # for a command that was told to end to delete its draft; it may be locking its key
COMMAND = (*own_command(), "backup", "--scheduled")


class BackupMaker:
    """`start` and `drain` belong to one event loop."""

    def __init__(self) -> None:
        self._duty: asyncio.Task[None] | None = None

    async def start(self) -> None:
        if settings.BACKUP_EVERY_HOURS:
            self._duty = asyncio.create_task(self._make_for_ever(), name="make backups")

    async def drain(self) -> None:
        """End the one that is being made: it is made after the next start."""
        if self._duty:
            self._duty.cancel()
            await asyncio.gather(self._duty, return_exceptions=True)

    async def _make_for_ever(self) -> None:
        while True:
            try:
                await self.make_due()
            except Exception:
                logger.exception("no backup could be made; it will be tried again")
            await asyncio.sleep(LOOK_SECONDS)

    async def make_due(self) -> bool:
        """Make the backup that is due, and note how that ended. Returns whether one was due here."""
        every = dt.timedelta(hours=settings.BACKUP_EVERY_HOURS)
        if not await in_worker_thread(claim_scheduled_backup)(every=every):
            return False
        began = time.monotonic()
        try:
            status, reason = await _run()
        except BaseException:
            await in_worker_thread(release_scheduled_backup)()
            raise
        told = {"seconds": round(time.monotonic() - began, 1), "reason": reason}
        if status not in (0, OLD_ONES_STAY):
            logger.error("a scheduled backup failed, and is tried again", extra=told)
            await in_worker_thread(note_failed_backup)(reason)
            return True
        await in_worker_thread(note_made_backup)()
        if status:
            logger.warning("a scheduled backup was made, and older ones could not be deleted", extra=told)
        else:
            logger.info("a scheduled backup was made", extra={"seconds": told["seconds"]})
        return True


async def _run() -> tuple[int, str]:
    """Run the command, and return its exit status and the last line that it wrote as an error."""
    environment = {name: value for name, value in os.environ.items() if name != SHARED_FOLDER}
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        f"{PARENT}={os.getpid()}",
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C in a terminal is for this process, which ends the command
    )
    ending = asyncio.create_task(process.communicate())
    try:
        while not (await asyncio.wait({ending}, timeout=LOOK_SECONDS))[0]:
            try:
                await in_worker_thread(renew_scheduled_backup)()
            except Exception:
                logger.exception("the claim of a scheduled backup could not be renewed; it will be tried again")
    except BaseException:
        await _end(process, ending)
        raise
    _, said = ending.result()
    [reason] = said.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
    return process.returncode or 0, reason.removeprefix("CommandError: ")


async def _end(process: asyncio.subprocess.Process, ending: asyncio.Task[tuple[bytes, bytes]]) -> None:
    """End the command, and return once it has ended."""
    with suppress(ProcessLookupError):
        process.terminate()
    if not (await asyncio.wait({ending}, timeout=CLEARING_SECONDS))[0]:
        with suppress(ProcessLookupError):
            process.kill()
    await ending

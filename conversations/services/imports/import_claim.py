"""Claim an import, under a lease: of its files that wait, or of files on this machine; renew it, end it, hand it on.

A worker that ends anywhere leaves an import that another one claims once the lease is over, by the database's clock.
"""

from __future__ import annotations

import datetime as dt
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import ImportInterrupted, TooManyImports
from conversations.core.imports.read_export import ExportFile
from conversations.models import ConversationImport, ImportFile
from conversations.models.conversation_import import ImportState

from .import_files import delete_files, stored_files

logger = logging.getLogger(__name__)
LEASE = dt.timedelta(seconds=90)
MOST_ATTEMPTS = 5  # without a batch between them
CLAIM = """
WITH next AS (
  SELECT id FROM conversations_conversationimport AS waiting
  WHERE (state = 'waiting' OR (state = 'running' AND lease_until < statement_timestamp()))
    AND EXISTS (SELECT FROM conversations_importfile WHERE of_import_id = waiting.id)
    AND NOT EXISTS (
      SELECT FROM conversations_conversationimport AS other
      WHERE other.owner_id = waiting.owner_id AND other.state = 'running' AND other.id <> waiting.id
    )
  ORDER BY id LIMIT 1 FOR UPDATE OF waiting SKIP LOCKED
)
UPDATE conversations_conversationimport AS claimed
SET state = 'running', worker = %s, lease_until = statement_timestamp() + make_interval(secs => %s),
    attempt = attempt + 1, started_at = COALESCE(started_at, statement_timestamp())
FROM next WHERE claimed.id = next.id
RETURNING claimed.id, claimed.attempt
"""


class ImportLost(Exception):
    """Another worker has claimed the import by now, or it was deleted."""


@dataclass(slots=True)
class ClaimedImport:
    """An import that *worker* has claimed, and its files."""

    id: int
    worker: str
    files: Sequence[ExportFile]

    @property
    def row(self) -> QuerySet[ConversationImport]:
        """The row, as long as it is claimed."""
        return ConversationImport.objects.filter(pk=self.id, worker=self.worker, state=ImportState.RUNNING)


def claim_import(worker: str) -> ClaimedImport | None:
    """Claim the next import that waits, or whose worker has ended. One that was claimed too often has failed."""
    _end_abandoned_commands()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(CLAIM, [worker, LEASE.total_seconds()])
            row = cursor.fetchone()
    except IntegrityError:  # another worker has just claimed another one of the same owner
        return None
    if row is None:
        return None
    import_id, attempt = row
    claimed = ClaimedImport(import_id, worker, stored_files(import_id))
    if attempt > MOST_ATTEMPTS:
        end_import(claimed, ImportState.FAILED, ImportInterrupted.code)
        return ClaimedImport(import_id, worker, [])
    return claimed


def begin_command_import(owner: User, files: Sequence[ExportFile], worker: str) -> ClaimedImport:
    """Return a new import of files on this machine, claimed by the process that begins it.

    Raises `TooManyImports` while another one of *owner* runs.
    """
    _end_abandoned_commands()
    begun = {"state": ImportState.RUNNING, "worker": worker, "lease_until": Now() + LEASE, "started_at": timezone.now()}
    try:
        with transaction.atomic():
            made = ConversationImport.objects.create(owner=owner, **begun)
    except IntegrityError as error:
        raise TooManyImports from error
    return ClaimedImport(made.pk, worker, files)


def _end_abandoned_commands() -> None:
    """Note that imports of files on a machine have stopped: they go on when the command is given again."""
    over = ConversationImport.objects.filter(state=ImportState.RUNNING, lease_until__lt=Now())
    without_files = over.filter(~Exists(ImportFile.objects.filter(of_import=OuterRef("pk"))))
    without_files.update(state=ImportState.FAILED, error_code=ImportInterrupted.code, ended_at=timezone.now())


def renew_import_lease(claimed: ClaimedImport, **values: object) -> None:
    """Renew the lease, and store *values* with it. Raises `ImportLost`."""
    if not claimed.row.update(lease_until=Now() + LEASE, **values):
        raise ImportLost


@contextmanager
def import_lease_kept(claimed: ClaimedImport) -> Iterator[None]:
    """Renew the lease from another thread, by a connection of its own: what is done within may take minutes.

    It is in one transaction, of which no one sees anything before its end. So this has to be outside of that.
    """
    has_ended = threading.Event()

    def renew() -> None:
        while not has_ended.wait(LEASE.total_seconds() / 3):
            try:
                claimed.row.update(lease_until=Now() + LEASE)
            except DatabaseError:
                logger.exception("the lease of import %d could not be renewed; it will be tried again", claimed.id)
            finally:
                connection.close()

    keeper = threading.Thread(target=renew, name="lease of an import", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        has_ended.set()
        keeper.join()


def end_import(claimed: ClaimedImport, state: ImportState, error_code: str = "") -> None:
    """End the import, and delete its files."""
    with transaction.atomic():
        ended = {"state": state, "error_code": error_code, "ended_at": timezone.now(), "lease_until": None}
        if claimed.row.update(**ended):
            delete_files(claimed.id)


def rest_import(claimed: ClaimedImport) -> None:
    """Let the import rest until its owner has it go on: they have paused it."""
    rests = {"state": ImportState.PAUSED, "is_pausing": False, "worker": "", "lease_until": None}
    claimed.row.update(**rests, changed_at=timezone.now())


def release_import(claimed: ClaimedImport) -> None:
    """Let another worker claim the import at once: this process ends."""
    claimed.row.update(state=ImportState.WAITING, worker="", lease_until=None)

"""Run an import: its items in batches, each stored with the count of those that are done, under a lease.

So a worker that ends anywhere leaves an import that another one goes on with, nothing twice and nothing missing.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.postgres.faults import is_passing_fault
from conversations.access import require_admitted
from conversations.core.errors import AccessError, ImportedTextFull, ImportInterrupted, TooManyImports
from conversations.core.imports.imported import BrokenConversation, ImportedConversation
from conversations.core.imports.read_export import Export, ExportFile, FailedFile, Found, OwnFile
from conversations.models import ConversationImport, ImportFile
from conversations.models.conversation_import import ImportState
from conversations.services.conversations.conversations import default_scenario

from .import_files import delete_files, stored_files
from .import_pictures import PictureReader, add_pictures
from .import_report import ImportReport
from .own_files import FORMAT, store_own_file
from .store_conversations import ImportItem, ImportTarget, Stored, store_conversations

logger = logging.getLogger(__name__)
LEASE = dt.timedelta(seconds=90)
MOST_ATTEMPTS = 5  # without a batch between them
MESSAGES_AT_ONCE, ITEMS_AT_ONCE, CHARACTERS_AT_ONCE = 1_000, 200, 4_000_000
SKIPPED_AT_ONCE = 500
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
    """Another worker has it by now, or it was deleted."""


class ImportCancelled(Exception):
    """Its owner has cancelled it."""


class ImportPaused(Exception):
    """Its owner has it rest."""


@dataclass(slots=True)
class HeldImport:
    """An import that *worker* has by a lease, and its files."""

    id: int
    worker: str
    files: Sequence[ExportFile]


def claim_import(worker: str) -> HeldImport | None:
    """Take the next import that waits, or whose worker has ended. One that did so too often has failed."""
    _end_abandoned_commands()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(CLAIM, [worker, LEASE.total_seconds()])
            row = cursor.fetchone()
    except IntegrityError:  # another worker has just claimed another one of the same owner
        return None
    if row is None:
        return None
    held = HeldImport(row[0], worker, stored_files(row[0]))
    if row[1] > MOST_ATTEMPTS:
        end_import(held, ImportState.FAILED, ImportInterrupted.code)
        return HeldImport(row[0], worker, [])
    return held


def _end_abandoned_commands() -> None:
    """An import of files on a disk goes on when the command is given again; that it stopped is noted here."""
    over = ConversationImport.objects.filter(state=ImportState.RUNNING, lease_until__lt=timezone.now())
    without_files = over.filter(~Exists(ImportFile.objects.filter(of_import=OuterRef("pk"))))
    without_files.update(state=ImportState.FAILED, error_code=ImportInterrupted.code, ended_at=timezone.now())


def begin_here(owner: User, files: Sequence[ExportFile], worker: str) -> HeldImport:
    """Return an import of files that are not stored: it is run by who begins it.

    Raises `TooManyImports` while another one of *owner* runs.
    """
    _end_abandoned_commands()
    now = timezone.now()
    begun = {"state": ImportState.RUNNING, "worker": worker, "lease_until": now + LEASE, "started_at": now}
    try:
        with transaction.atomic():
            made = ConversationImport.objects.create(owner=owner, **begun)
    except IntegrityError as error:
        raise TooManyImports from error
    return HeldImport(made.pk, worker, files)


def import_batches(held: HeldImport) -> Iterator[None]:
    """Do the import, and yield after each batch. Raises `ImportLost`; then another worker goes on with it."""
    found = ConversationImport.objects.select_related("owner", "scenario").filter(pk=held.id).first()
    if found is None or found.state != ImportState.RUNNING:
        return
    running = _Running(
        held,
        ImportTarget.of(found.owner, found.scenario or default_scenario(), held.id),
        Export(held.files),
        ImportReport.from_json(found.report),
        found.items,
    )
    try:
        yield from running.batches()
        end_import(held, ImportState.ENDED)
    except ImportCancelled:
        end_import(held, ImportState.CANCELLED)
    except ImportPaused:
        _pause(held)
    except ImportedTextFull as full:
        end_import(held, ImportState.FAILED, full.code)
    except AccessError as refusal:
        end_import(held, ImportState.FAILED, refusal.code)


@dataclass(slots=True)
class _Running:
    """An import that is being done: *done* items are, and *waiting* are read and not stored yet."""

    held: HeldImport
    target: ImportTarget
    export: Export
    report: ImportReport
    done: int
    waiting: list[Found | FailedFile] = field(default_factory=list)
    pictures: PictureReader = field(init=False)

    def __post_init__(self) -> None:
        self.pictures = PictureReader(self.export)

    def batches(self) -> Iterator[None]:
        messages = characters = 0
        keys: set[tuple[str, str]] = set()
        for number, found in enumerate(self.export.read()):
            if number < self.done:
                if number % SKIPPED_AT_ONCE == SKIPPED_AT_ONCE - 1:
                    self._keep()
                    self._obey_owner()
                    yield
                continue
            if isinstance(found, OwnFile):
                if self.waiting:
                    self._store_waiting()
                    yield
                messages = characters = 0
                keys.clear()
                self._store_own(found)
                yield
                continue
            read = found.conversation if isinstance(found, Found) else None
            read = read if isinstance(read, ImportedConversation) else None
            key = (found.format, read.source_id) if isinstance(found, Found) and read else None
            has_pictures = read is not None and any(message.pictures for message in read.messages)
            if self.waiting and (key in keys or has_pictures or _is_full(len(self.waiting), messages, characters)):
                self._store_waiting()
                yield
                messages = characters = 0
                keys.clear()
            self.waiting.append(found)
            if read and key:
                keys.add(key)
                messages += len(read.messages)
                characters += read.characters
            if has_pictures:
                self._store_waiting()
                yield
                messages = characters = 0
                keys.clear()
        if self.waiting:
            self._store_waiting()
            yield

    def _store_own(self, file: OwnFile) -> None:
        """Store a file of one conversation, in the transaction that settles it."""
        require_admitted(self.target.owner)
        self._obey_owner()
        with transaction.atomic():
            conversation, outcome = store_own_file(self.target, self.done, file)
            self._settle([Found(FORMAT, conversation)], Stored([outcome] if outcome else []))
        self.done += 1

    def _store_waiting(self) -> None:
        """Store what is waiting, with pictures if it is one conversation that has some, and settle it."""
        require_admitted(self.target.owner)
        self._obey_owner()
        found, self.waiting = self.waiting, []
        items = [
            ImportItem(self.done + offset, each.format, each.conversation)
            for offset, each in enumerate(found)
            if isinstance(each, Found) and isinstance(each.conversation, ImportedConversation)
        ]
        try:
            self._store(found, items)
        except ImportedTextFull:
            self._store_what_fits(found)
        except (DatabaseError, ValueError, TypeError, LookupError) as error:
            if isinstance(error, OperationalError) or is_passing_fault(error):
                raise
            self.report = ImportReport.from_json(ConversationImport.objects.get(pk=self.held.id).report)
            self._store_one_by_one(found)

    def _store_what_fits(self, found: Sequence[Found | FailedFile]) -> None:
        """Store those before the first that has no room. Raises `ImportedTextFull`."""
        self.report = ImportReport.from_json(ConversationImport.objects.get(pk=self.held.id).report)
        for each in found:
            self.target.room.reload()
            items = []
            if isinstance(each, Found) and isinstance(each.conversation, ImportedConversation):
                items = [ImportItem(self.done, each.format, each.conversation)]
            self._store([each], items)

    def _store_one_by_one(self, found: Sequence[Found | FailedFile]) -> None:
        """Find the one that can't be stored: it is named, and the others are stored."""
        self.target.room.reload()
        for each in found:
            read = each.conversation if isinstance(each, Found) else None
            if not isinstance(each, Found) or not isinstance(read, ImportedConversation):
                self._store([each], [])
                continue
            try:
                self._store([each], [ImportItem(self.done, each.format, read)])
            except (DatabaseError, ValueError, TypeError, LookupError) as error:
                if isinstance(error, OperationalError) or is_passing_fault(error):
                    raise
                self.target.room.reload()
                logger.exception("item %d of import %d could not be stored", self.done, self.held.id)
                self.report = ImportReport.from_json(ConversationImport.objects.get(pk=self.held.id).report)
                self._store([Found(each.format, BrokenConversation(read.title, "unreadable"))], [])

    def _store(self, found: Sequence[Found | FailedFile], items: Sequence[ImportItem]) -> None:
        if any(message.pictures for item in items for message in item.conversation.messages):
            stored = store_conversations(self.target, items)  # its pictures take longer than a transaction may
            self._add_pictures(stored)
            with transaction.atomic():
                self._settle(found, stored)
        else:
            with transaction.atomic():
                self._settle(found, store_conversations(self.target, items))
        self.done += len(found)

    def _add_pictures(self, stored: Stored) -> None:
        outcomes = {outcome.conversation_id: outcome.kind for outcome in stored.outcomes}
        for conversation_id, pictures in stored.pictures:
            self._keep()
            before, now = add_pictures(
                self.target, self.pictures, conversation_id, pictures, count_missing=self.report.add_missing
            )
            self.report.pictures += now - (0 if outcomes.get(conversation_id) == "new" else before)

    def _settle(self, found: Sequence[Found | FailedFile], stored: Stored) -> None:
        """Note that the items *found* are done, in the transaction that stores them. Raises `ImportLost`."""
        outcomes = iter(stored.outcomes)
        for each in found:
            if isinstance(each, FailedFile):
                self.report.add_file(each.name, each.error)
            elif isinstance(each.conversation, BrokenConversation):
                self.report.add_broken(each.format, each.conversation)
            else:
                self.report.add_conversation(each.format, each.conversation, next(outcomes))
        self._keep(items=self.done + len(found), report=self.report.to_json(), attempt=0)

    def _keep(self, **values: object) -> None:
        """Keep the lease, and note how much was read. Raises `ImportLost`."""
        mine = ConversationImport.objects.filter(pk=self.held.id, worker=self.held.worker, state=ImportState.RUNNING)
        read = {"read_bytes": self.export.read_bytes, "total_bytes": self.export.total_bytes}
        if not mine.update(lease_until=timezone.now() + LEASE, **read, **values):
            raise ImportLost

    def _obey_owner(self) -> None:
        asked = ConversationImport.objects.filter(pk=self.held.id).values_list("is_cancelled", "is_pausing").first()
        if asked and asked[0]:
            raise ImportCancelled
        if asked and asked[1]:
            raise ImportPaused


def _is_full(items: int, messages: int, characters: int) -> bool:
    return items >= ITEMS_AT_ONCE or messages >= MESSAGES_AT_ONCE or characters >= CHARACTERS_AT_ONCE


def end_import(held: HeldImport, state: ImportState, error_code: str = "") -> None:
    """End the import, and delete its files."""
    with transaction.atomic():
        mine = ConversationImport.objects.filter(pk=held.id, worker=held.worker, state=ImportState.RUNNING)
        ended = {"state": state, "error_code": error_code, "ended_at": timezone.now(), "lease_until": None}
        if mine.update(**ended):
            delete_files(held.id)


def _pause(held: HeldImport) -> None:
    mine = ConversationImport.objects.filter(pk=held.id, worker=held.worker, state=ImportState.RUNNING)
    rests = {"state": ImportState.PAUSED, "is_pausing": False, "worker": "", "lease_until": None}
    mine.update(**rests, changed_at=timezone.now())


def release_import(held: HeldImport) -> None:
    """Let another worker go on with it at once: this process ends."""
    mine = ConversationImport.objects.filter(pk=held.id, worker=held.worker, state=ImportState.RUNNING)
    mine.update(state=ImportState.WAITING, worker="", lease_until=None)

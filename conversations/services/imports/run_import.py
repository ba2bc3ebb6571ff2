"""Run an import that was claimed: its items in batches, each stored in one transaction with how many are done.

So nothing is stored twice and nothing is missing, wherever a worker ends.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db import DatabaseError, OperationalError, transaction

from chatsite.postgres.faults import is_passing_fault
from conversations.access import require_admitted
from conversations.core.errors import AccessError, ImportedTextFull
from conversations.core.imports.imported import BrokenConversation, ImportedConversation
from conversations.core.imports.json_conversations import FoundConversation
from conversations.core.imports.read_export import Export, ExportItem, FailedFile, WindowseatFile
from conversations.models import ConversationImport
from conversations.models.conversation_import import ImportState
from conversations.services.conversations.default_scenario import default_scenario

from .import_claim import ClaimedImport, end_import, import_lease_kept, renew_import_lease, rest_import
from .import_pictures import PictureReader, add_pictures
from .import_report import ImportReport
from .store_conversations import ImportItem, ImportTarget, StoredItems, store_conversations
from .windowseat_files import FORMAT, store_windowseat_file

logger = logging.getLogger(__name__)
MESSAGES_AT_ONCE, ITEMS_AT_ONCE, CHARACTERS_AT_ONCE = 1_000, 200, 4_000_000
SKIPPED_AT_ONCE = 500


class ImportCancelled(Exception):
    """The owner of the import has cancelled it."""


class ImportPaused(Exception):
    """The owner of the import has paused it."""


def import_batches(claimed: ClaimedImport) -> Iterator[None]:
    """Do the import, and yield after each batch. Raises `ImportLost`; then another worker goes on with it."""
    found = ConversationImport.objects.select_related("owner", "scenario").filter(pk=claimed.id).first()
    if found is None or found.state != ImportState.RUNNING:
        return
    running = _Running(
        claimed,
        ImportTarget.of(found.owner, found.scenario or default_scenario(), claimed.id),
        Export(claimed.files),
        ImportReport.from_json(found.report),
        found.items,
    )
    running.report.name_files(file.name for file in claimed.files)
    try:
        yield from running.batches()
        end_import(claimed, ImportState.ENDED)
    except ImportCancelled:
        end_import(claimed, ImportState.CANCELLED)
    except ImportPaused:
        rest_import(claimed)
    except ImportedTextFull as full:
        end_import(claimed, ImportState.FAILED, full.code)
    except AccessError as refusal:
        end_import(claimed, ImportState.FAILED, refusal.code)


@dataclass(slots=True)
class _Batch:
    """Items that are read and not stored yet; no two of them are the same conversation."""

    items: list[FoundConversation | FailedFile] = field(default_factory=list)
    keys: set[tuple[str, str]] = field(default_factory=set)
    messages: int = 0
    characters: int = 0

    def has_room_for(self, found: ExportItem) -> bool:
        if not self.items:
            return True
        is_full = (
            len(self.items) >= ITEMS_AT_ONCE
            or self.messages >= MESSAGES_AT_ONCE
            or self.characters >= CHARACTERS_AT_ONCE
        )
        return not (is_full or _is_stored_alone(found) or _key_of(found) in self.keys)

    def add(self, found: FoundConversation | FailedFile) -> None:
        self.items.append(found)
        if (read := _conversation_of(found)) and (key := _key_of(found)):
            self.keys.add(key)
            self.messages += len(read.messages)
            self.characters += read.characters


def _conversation_of(found: ExportItem) -> ImportedConversation | None:
    """Return the conversation of an item, if it could be read."""
    read = found.conversation if isinstance(found, FoundConversation) else None
    return read if isinstance(read, ImportedConversation) else None


def _key_of(found: ExportItem) -> tuple[str, str] | None:
    read = _conversation_of(found)
    return (found.format, read.source_id) if isinstance(found, FoundConversation) and read else None


def _has_pictures(conversation: ImportedConversation) -> bool:
    return any(message.pictures for message in conversation.messages)


def _is_stored_alone(found: ExportItem) -> bool:
    """Tell whether an item takes longer than others: a file of ours, or a conversation with pictures."""
    read = _conversation_of(found)
    return isinstance(found, WindowseatFile) or (read is not None and _has_pictures(read))


def _is_passing(error: Exception) -> bool:
    """Tell whether *error* is of the database as it is now, and not of what is stored."""
    return isinstance(error, OperationalError) or is_passing_fault(error)


@dataclass(slots=True)
class _Running:
    """An import that is being run, of whose items *done* are stored."""

    claimed: ClaimedImport
    target: ImportTarget
    export: Export
    report: ImportReport
    done: int
    pictures: PictureReader = field(init=False)

    def __post_init__(self) -> None:
        self.pictures = PictureReader(self.export)

    def batches(self) -> Iterator[None]:
        batch = _Batch()
        for number, found in enumerate(self.export.read()):
            if number < self.done:
                if number % SKIPPED_AT_ONCE == SKIPPED_AT_ONCE - 1:
                    self._renew_lease()
                    self._obey_owner()
                    yield
                continue
            if not batch.has_room_for(found):
                self._store_batch(batch)
                yield
                batch = _Batch()
            if isinstance(found, WindowseatFile):
                self._store_windowseat_file(found)
                yield
                continue
            batch.add(found)
            if _is_stored_alone(found):
                self._store_batch(batch)
                yield
                batch = _Batch()
        if batch.items:
            self._store_batch(batch)
            yield

    def _store_windowseat_file(self, file: WindowseatFile) -> None:
        """Store a file of one conversation, in the transaction that settles it."""
        require_admitted(self.target.owner)
        self._obey_owner()
        with import_lease_kept(self.claimed), transaction.atomic():
            conversation, outcome = store_windowseat_file(self.target, self.done, file)
            self._settle([FoundConversation(FORMAT, conversation)], StoredItems([outcome] if outcome else []))
        self.done += 1

    def _store_batch(self, batch: _Batch) -> None:
        """Store a batch and settle it; of one that can't be stored as a whole, each item by itself."""
        require_admitted(self.target.owner)
        self._obey_owner()
        items = [
            ImportItem(self.done + offset, each.format, read)
            for offset, each in enumerate(batch.items)
            if isinstance(each, FoundConversation) and (read := _conversation_of(each))
        ]
        try:
            self._store(batch.items, items)
        except ImportedTextFull:
            self._store_what_fits(batch.items)
        except (DatabaseError, ValueError, TypeError, LookupError) as error:
            if _is_passing(error):
                raise
            self._store_one_by_one(batch.items)

    def _store_what_fits(self, found: Sequence[FoundConversation | FailedFile]) -> None:
        """Store those before the first that has no room. Raises `ImportedTextFull`."""
        self._reload()
        for each in found:
            self.target.room.reload()
            read = _conversation_of(each)
            items = [ImportItem(self.done, each.format, read)] if isinstance(each, FoundConversation) and read else []
            self._store([each], items)

    def _store_one_by_one(self, found: Sequence[FoundConversation | FailedFile]) -> None:
        """Find the one that can't be stored: it is named, and the others are stored."""
        self._reload()
        for each in found:
            read = _conversation_of(each)
            if not isinstance(each, FoundConversation) or read is None:
                self._store([each], [])
                continue
            try:
                self._store([each], [ImportItem(self.done, each.format, read)])
            except (DatabaseError, ValueError, TypeError, LookupError) as error:
                if _is_passing(error):
                    raise
                logger.exception("item %d of import %d could not be stored", self.done, self.claimed.id)
                self._reload()
                self._store([FoundConversation(each.format, BrokenConversation(read.title, "unreadable"))], [])

    def _reload(self) -> None:
        """Read report and room as they are stored: what a transaction changed and did not keep is forgotten."""
        self.report = ImportReport.from_json(ConversationImport.objects.get(pk=self.claimed.id).report)
        self.target.room.reload()

    def _store(self, found: Sequence[FoundConversation | FailedFile], items: Sequence[ImportItem]) -> None:
        if any(_has_pictures(item.conversation) for item in items):
            with import_lease_kept(self.claimed):
                stored = store_conversations(self.target, items)  # its pictures take longer than a transaction may
            self._add_pictures(stored)
            with transaction.atomic():
                self._settle(found, stored)
        else:
            with import_lease_kept(self.claimed), transaction.atomic():
                self._settle(found, store_conversations(self.target, items))
        self.done += len(found)

    def _add_pictures(self, stored: StoredItems) -> None:
        outcomes = {outcome.conversation_id: outcome.kind for outcome in stored.outcomes}
        for conversation_id, pictures in stored.pictures:
            self._renew_lease()
            before, now = add_pictures(
                self.target, self.pictures, conversation_id, pictures, count_missing=self.report.add_missing
            )
            self.report.pictures += now - (0 if outcomes.get(conversation_id) == "new" else before)

    def _settle(self, found: Sequence[FoundConversation | FailedFile], stored: StoredItems) -> None:
        """Note that the items *found* are done, in the transaction that stores them. Raises `ImportLost`."""
        outcomes = iter(stored.outcomes)
        for each in found:
            if isinstance(each, FailedFile):
                self.report.add_file(each.name, each.error)
            elif isinstance(each.conversation, BrokenConversation):
                self.report.add_broken(each.format, each.conversation)
            else:
                self.report.add_conversation(each.format, each.conversation, next(outcomes))
        self._renew_lease(items=self.done + len(found), report=self.report.to_json(), attempt=0)

    def _renew_lease(self, **values: object) -> None:
        """Renew the lease, and note how much was read. Raises `ImportLost`."""
        renew_import_lease(
            self.claimed, read_bytes=self.export.read_bytes, total_bytes=self.export.total_bytes, **values
        )

    def _obey_owner(self) -> None:
        asked = ConversationImport.objects.filter(pk=self.claimed.id).values_list("is_cancelled", "is_pausing").first()
        if asked and asked[0]:
            raise ImportCancelled
        if asked and asked[1]:
            raise ImportPaused

"""Files of imports: begun, received in pieces that can be sent again, read back, and deleted once they are read."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from chatsite.accounts.limits import effective_limits
from chatsite.accounts.models import User
from conversations.access import lock_admitted
from conversations.core.errors import (
    FileMissing,
    ImportNotFound,
    ImportPieceMisplaced,
    ImportsForbidden,
    ImportTooLarge,
    TooManyImports,
)
from conversations.core.imports.read_export import ExportFile
from conversations.core.text.file_names import clean_file_name
from conversations.live.fanout import IMPORTS, publish
from conversations.models import ConversationImport, ImportFile, ImportPiece
from conversations.models.conversation_import import HAVE_ENDED, ImportState
from conversations.selectors.conversations.scenarios import find_scenario
from conversations.services.documents.storage_limit import BYTES_PER_MEGABYTE
from conversations.services.documents.upload_limits import count_upload
from conversations.services.limits.message_checks import check_messages_are_allowed

PIECE_BYTES = 4_000_000  # below what a request may have that is no upload of a form
BUFFER_BYTES = 100_000
MOST_FILES = 100
MOST_UNENDED = 3
MOST_KEPT = 20
KEPT_UNFINISHED = dt.timedelta(days=1)
KEPT_PAUSED = dt.timedelta(days=7)
IDLE = (ImportState.UPLOADING, ImportState.WAITING, ImportState.PAUSED)


class SentFile(NamedTuple):
    """A file that is to be sent."""

    name: str
    size_bytes: int


def may_import(user: User) -> bool:
    return settings.IMPORT_MEGABYTES > 0 and effective_limits(user).messages_per_minute != 0


def begin_import(
    user: User, files: Sequence[SentFile], *, scenario_id: int | None = None, begins_again: bool = False
) -> ConversationImport:
    """Return an import that waits for the pieces of *files*; the same one if it was begun before and is not whole.

    It is known again by names and sizes: who sends on compares what is here by its digest first, and where that is of
    another file *begins_again*; then what was sent before is deleted. Raises an `InputError` or an `AccessError`.
    """
    check_may_import(user)
    if not files or len(files) > MOST_FILES or any(file.size_bytes <= 0 for file in files):
        raise FileMissing
    most_bytes = settings.IMPORT_MEGABYTES * BYTES_PER_MEGABYTE
    if sum(file.size_bytes for file in files) > most_bytes:
        raise ImportTooLarge(megabytes=settings.IMPORT_MEGABYTES)
    named = [SentFile(clean_file_name(file.name), file.size_bytes) for file in files]
    if begun := _find_begun(user, named):
        if not begins_again:
            return begun
        begun.delete()
    for file in named:
        count_upload(user, size_bytes=file.size_bytes)
    with transaction.atomic():
        lock_admitted(user)
        if ConversationImport.objects.filter(owner=user).exclude(state__in=HAVE_ENDED).count() >= MOST_UNENDED:
            raise TooManyImports
        scenario = find_scenario(user, scenario_id) if scenario_id is not None else None
        made = ConversationImport.objects.create(owner=user, scenario=scenario)
        ImportFile.objects.bulk_create(
            ImportFile(of_import=made, number=number, name=file.name, size_bytes=file.size_bytes)
            for number, file in enumerate(named)
        )
        old = ConversationImport.objects.filter(owner=user, state__in=HAVE_ENDED).order_by("-pk")[MOST_KEPT:]
        ConversationImport.objects.filter(pk__in=[each.pk for each in old]).delete()
    return made


def check_may_import(user: User) -> None:
    if settings.IMPORT_MEGABYTES == 0:
        raise ImportsForbidden
    check_messages_are_allowed(effective_limits(user))


def _find_begun(user: User, files: Sequence[SentFile]) -> ConversationImport | None:
    for begun in ConversationImport.objects.filter(owner=user, state=ImportState.UPLOADING).order_by("-pk"):
        if [SentFile(file.name, file.size_bytes) for file in begun.files.all()] == list(files):
            return begun
    return None


def find_import(user: User, public_id: UUID) -> ConversationImport:
    """Raises `ImportNotFound`, also if it is someone else's."""
    found = ConversationImport.objects.filter(owner=user, public_id=public_id).first()
    if found is None:
        raise ImportNotFound
    return found


def add_piece(found: ConversationImport, number: int, *, start: int, content: bytes) -> int:
    """Keep the bytes of a file from *start* on, and return how many are there. What was sent before changes nothing.

    Raises `ImportPieceMisplaced` for what does not follow what is there.
    """
    with transaction.atomic():
        file = _lock_file(found, number)
        if start + len(content) <= file.received_bytes:
            return file.received_bytes
        if start != file.received_bytes or not content or start + len(content) > file.size_bytes:
            raise ImportPieceMisplaced
        ImportPiece.objects.create(file_id=file.pk, start=start, content=content)
        file.received_bytes += len(content)
        file.digest = hashlib.sha256(bytes.fromhex(file.digest) + content).hexdigest()
        file.save(update_fields=["received_bytes", "digest"])
        ConversationImport.objects.filter(pk=found.pk).update(changed_at=timezone.now())
    return file.received_bytes


def _lock_file(found: ConversationImport, number: int) -> ImportFile:
    of_import = {"of_import": found, "of_import__state": ImportState.UPLOADING}
    file = ImportFile.objects.select_for_update(of=("self",)).filter(**of_import, number=number).first()
    if file is None:
        raise ImportNotFound
    return file


def start_import(found: ConversationImport) -> None:
    """Have it read, once all files are whole. Raises `ImportPieceMisplaced` before. A second start changes nothing."""
    if not all(file.is_whole for file in found.files.all()):
        raise ImportPieceMisplaced
    uploading = ConversationImport.objects.filter(pk=found.pk, state=ImportState.UPLOADING)
    if uploading.update(state=ImportState.WAITING):
        transaction.on_commit(partial(publish, IMPORTS, "waiting"))


@transaction.atomic
def cancel_import(found: ConversationImport) -> None:
    """End it: what it has brought stays. A worker that is at it does so after its present batch."""
    ConversationImport.objects.filter(pk=found.pk).exclude(state__in=HAVE_ENDED).update(is_cancelled=True)
    _end_idle(ConversationImport.objects.filter(pk=found.pk, state__in=IDLE))


def _end_idle(idle: QuerySet[ConversationImport]) -> None:
    for pk in idle.values_list("pk", flat=True):
        if idle.filter(pk=pk).update(state=ImportState.CANCELLED, ended_at=timezone.now()):
            delete_files(pk)


def pause_import(found: ConversationImport) -> None:
    """Have it rest: a worker that is at it stops behind its present batch. One of files on a disk can't rest."""
    here = ConversationImport.objects.filter(Exists(ImportFile.objects.filter(of_import=OuterRef("pk"))), pk=found.pk)
    if not here.filter(state=ImportState.WAITING).update(state=ImportState.PAUSED, changed_at=timezone.now()):
        here.filter(state=ImportState.RUNNING).update(is_pausing=True)


@transaction.atomic
def resume_import(found: ConversationImport) -> None:
    """Have it go on behind what it has brought. The time of rest counts for no rate."""
    ConversationImport.objects.filter(pk=found.pk, state=ImportState.RUNNING).update(is_pausing=False)
    paused = ConversationImport.objects.select_for_update().filter(pk=found.pk, state=ImportState.PAUSED).first()
    if paused is None:
        return
    if paused.started_at:
        paused.started_at += timezone.now() - paused.changed_at
    paused.state, paused.is_pausing = ImportState.WAITING, False
    paused.save(update_fields=["state", "is_pausing", "started_at", "changed_at"])
    transaction.on_commit(partial(publish, IMPORTS, "waiting"))


def forget_import(found: ConversationImport) -> None:
    """Delete the report of an import that has ended; what it has brought stays."""
    ConversationImport.objects.filter(pk=found.pk, state__in=HAVE_ENDED).delete()


def delete_files(import_id: int) -> None:
    ImportFile.objects.filter(of_import=import_id).delete()


def sweep_imports() -> None:
    """Delete what was begun a day ago and has not come whole, and cancel what was paused a week ago."""
    over = timezone.now() - KEPT_UNFINISHED
    ConversationImport.objects.filter(state=ImportState.UPLOADING, changed_at__lt=over).delete()
    over = timezone.now() - KEPT_PAUSED
    _end_idle(ConversationImport.objects.filter(state=ImportState.PAUSED, changed_at__lt=over))


def stored_files(import_id: int) -> list[ExportFile]:
    """Return the files of an import, as they are read."""
    files = ImportFile.objects.filter(of_import=import_id)
    return [ExportFile(file.name, file.size_bytes, partial(_open, file)) for file in files]


def _open(file: ImportFile) -> io.BufferedReader:
    return io.BufferedReader(StoredFile(file), BUFFER_BYTES)


class StoredFile(io.RawIOBase):
    """Reads a file from its pieces, of which it keeps the last one."""

    def __init__(self, file: ImportFile) -> None:
        self._file_id, self._size = file.pk, file.size_bytes
        self._at = 0
        self._start, self._piece = 0, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max({io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence] + offset, 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        wanted = self._size - self._at if size < 0 else min(size, self._size - self._at)
        parts = []
        while wanted > 0:
            part = self._next(wanted)
            if not part:  # it was deleted meanwhile
                break
            parts.append(part)
            self._at += len(part)
            wanted -= len(part)
        return b"".join(parts)

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def _next(self, most: int) -> bytes:
        if not self._start <= self._at < self._start + len(self._piece):
            pieces = ImportPiece.objects.filter(file_id=self._file_id, start__lte=self._at).order_by("-start")
            found = pieces.values_list("start", "content").first()
            self._start, self._piece = (found[0], bytes(found[1])) if found else (0, b"")
        offset = self._at - self._start
        return self._piece[offset : offset + most]

"""Run imports in tests: files as the command takes them, files that are sent in pieces, and what waits."""

from __future__ import annotations

import uuid

from chatsite.accounts.models import User
from conversations.models import ConversationImport
from conversations.services.imports.import_claim import ClaimedImport, begin_command_import, claim_import
from conversations.services.imports.import_files import SentFile, add_piece, begin_import, start_import
from conversations.services.imports.import_report import ImportReport
from conversations.services.imports.run_import import import_batches
from tests.support.exports import export_of

FEWEST_PIECE_BYTES, MOST_PIECES = 50, 20


def import_files(user: User, *contents: bytes) -> ConversationImport:
    """Import files as the command does, and return the row of the import."""
    claimed = begin_command_import(user, export_of(*contents).files, f"test:{uuid.uuid4().hex}")
    run_claimed(claimed)
    return ConversationImport.objects.get(pk=claimed.id)


def send_files(user: User, *contents: bytes) -> ConversationImport:
    """Send files in pieces, as a page does, and have them wait."""
    begun = begin_import(user, [SentFile(f"{number}.json", len(content)) for number, content in enumerate(contents)])
    for number, content in enumerate(contents):
        size = max(FEWEST_PIECE_BYTES, len(content) // MOST_PIECES)  # each takes statements of its own
        for start in range(0, len(content), size):
            add_piece(begun, number, start=start, content=content[start : start + size])
    start_import(begun)
    return begun


def run_waiting(worker: str = "first") -> None:
    """Claim the import that waits for its turn, and run it to its end."""
    claimed = claim_import(worker)
    assert claimed
    run_claimed(claimed)


def run_claimed(claimed: ClaimedImport) -> None:
    for _ in import_batches(claimed):
        pass


def report_of(found: ConversationImport) -> ImportReport:
    return ImportReport.from_json(found.report)

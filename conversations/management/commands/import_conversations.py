"""`manage.py import_conversations FILE… --user EMAIL`: import exports of other chat programs from this machine."""

from __future__ import annotations

import socket
import uuid
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser

from chatsite.accounts.models import User
from conversations.core.errors import ConversationError
from conversations.core.imports.read_export import ExportFile
from conversations.management.database_command import DatabaseCommand
from conversations.models import ConversationImport
from conversations.models.conversation_import import ImportState
from conversations.services.imports.import_claim import ImportLost, begin_command_import, end_import
from conversations.services.imports.import_files import check_may_import
from conversations.services.imports.import_report import ImportReport
from conversations.services.imports.run_import import import_batches
from conversations.wording.error_sentences import ReaderLocale, error_sentence, stored_error_sentence
from conversations.wording.import_reports import report_lines

STOPPED = "Stopped. What is listed above is here. Give the same command again to go on: it adds what is missing."
STOPPED_BY_CTRL_C = 130


class Command(DatabaseCommand):
    help = (
        "Import conversations of ChatGPT, Claude, Open WebUI, LibreChat, Windowseat, or messages in OpenAI's format, "
        "from ZIP or JSON files. Given again, it adds only what is new: so also after it was interrupted."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="Files of one export.")
        parser.add_argument("--user", required=True, metavar="EMAIL", help="Whose conversations they become.")

    def handle(self, *, files: list[Path], user: str, **options: Any) -> None:
        owner = User.objects.filter(email__iexact=user).first()
        if owner is None:
            raise CommandError(f"No account has the address {user}.")
        try:
            check_may_import(owner)
            claimed = begin_command_import(
                owner, [_file(path) for path in files], f"{socket.gethostname()}:{uuid.uuid4()}"
            )
        except ConversationError as error:
            raise CommandError(error_sentence(error, _reader())) from error
        try:
            for _ in import_batches(claimed):
                self._say_progress(claimed.id)
        except ImportLost as error:
            raise CommandError("Another process has ended this import.") from error
        except KeyboardInterrupt:
            end_import(claimed, ImportState.CANCELLED)
            self._say_report(ConversationImport.objects.get(pk=claimed.id))
            raise CommandError(STOPPED, returncode=STOPPED_BY_CTRL_C) from None
        self._say_report(ConversationImport.objects.get(pk=claimed.id))

    def _say_progress(self, import_id: int) -> None:
        found = ConversationImport.objects.get(pk=import_id)
        report = ImportReport.from_json(found.report)
        done = f"{report.conversations:,} conversations, {report.total('messages_found'):,} messages"
        self.stderr.write(f"\r{done}", ending="")
        self.stderr.flush()

    def _say_report(self, found: ConversationImport) -> None:
        report = ImportReport.from_json(found.report)
        self.stderr.write("")
        for file in report.files:
            self.stdout.write(f"{file['name']}: {stored_error_sentence(file['code'], file['params'], _reader())}")
        for line in report_lines(report):
            self.stdout.write(line)
        if found.error_code:
            raise CommandError(stored_error_sentence(found.error_code, {}, _reader()))


def _file(path: Path) -> ExportFile:
    try:
        return ExportFile(path.name, path.stat().st_size, partial(_open, path))
    except OSError as error:
        raise CommandError(str(error)) from error


def _open(path: Path) -> BinaryIO:
    return path.open("rb")


def _reader() -> ReaderLocale:
    return ReaderLocale("en")

"""How long a backup of many gigabytes and its restore into an empty site take, and how much memory.

All conversations of FILE (form: `_recall_questions`) are stored as one, indexed, and copied until there are so many
messages (`_large_conversation`); files of random bytes, which can't be made smaller, are added by `COPY`. The commands
run as an operator would run them, with a passphrase. Needs room for twice the database and the backup under TMPDIR.

    python -m tests.benchmarks.large_backup FILE [--messages 3700000] [--files 1300] [--json OUT]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from tests.benchmarks._figures import Figures, arguments_for, percentile, write_json
from tests.benchmarks._recall_questions import read_asked_conversations
from tests.benchmarks._site import temporary_site
from tests.benchmarks.large_recall import join
from tests.benchmarks.recall import LANGUAGE_MODEL
from tests.support.source import PROJECT

FILE_BYTES = 4_000_000
LOOK_SECONDS = 0.25  # how often the memory of a command is read
POSTGRES = "postgres"


def measure(path: Path, *, messages: int, files: int) -> Figures:
    with temporary_site(OPENAI_BASE_URL="http://127.0.0.1:9/v1", LANGUAGE_MODELS=LANGUAGE_MODEL):
        began = time.monotonic()
        fill(path, messages=messages, files=files)
        figures: Figures = {"made_seconds": time.monotonic() - began, "messages": messages, "files": files}
        figures["database_gigabytes"] = database_bytes() / 1e9
        with tempfile.TemporaryDirectory(prefix="windowseat-backup-") as folder:
            Path(folder).chmod(0o711)  # the database of an empty site passes through under another account
            backup, restored = Path(folder, "chats.backup"), Path(folder, "var")
            environment = {"BACKUP_PASSPHRASE": "correct horse battery staple"}
            figures["backup"] = run_measured(["backup", str(backup)], environment)
            figures["file_gigabytes"] = backup.stat().st_size / 1e9
            figures["restore"] = run_measured(["restore", str(backup)], {**environment, "VAR_DIR": str(restored)})
            figures["restored_gigabytes"] = (
                sum(each.stat().st_size for each in restored.rglob("*") if each.is_file() and not each.is_symlink())
                / 1e9
            )
    return figures


def fill(path: Path, *, messages: int, files: int) -> None:
    """Store the conversations as a very long one, and files of random bytes beside it."""
    from tests.benchmarks._large_conversation import make_large_conversation
    from tests.benchmarks._recall_site import RecallSite, StoredConversation

    joined = join(read_asked_conversations(path))
    stored = StoredConversation(joined, RecallSite((2_000,), None))
    stored.store_until(len(joined.messages))
    large = make_large_conversation(stored.conversation, messages=messages, with_references=True)
    copy_files(large, files)


def copy_files(conversation, files: int) -> None:  # type: ignore[no-untyped-def]
    from django.db import connection

    from conversations.models import Document, DocumentFile

    made = Document.objects.bulk_create(
        Document(
            conversation=conversation,
            uploader=conversation.owner,
            name=f"{number}.txt",
            size_bytes=FILE_BYTES,
            digest=f"{number:064x}",
            state="failed",
        )
        for number in range(files)
    )
    chance = random.Random(1)
    table = DocumentFile._meta.db_table
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} (document_id, content) FROM STDIN") as copy:
        for document in made:
            copy.write_row((document.pk, chance.randbytes(FILE_BYTES)))


def database_bytes() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        [size] = cursor.fetchone()
    return size


def run_measured(arguments: Sequence[str], environment: dict[str, str]) -> Figures:
    """Run a command of the site; return its seconds, those of the processor, and the memory of its processes.

    It is the most that they had in 19 of 20 looks, and the most of all, which is in the second in which the passphrase
    becomes a key. Servers of PostgreSQL are not counted: what a command needs comes on top of these.
    """
    began = time.monotonic()
    command = psutil.Popen([sys.executable, "manage.py", *arguments], cwd=PROJECT, env=os.environ | environment)
    seen_bytes, used = [], {}
    while command.poll() is None:
        now_bytes = 0
        for process in [command, *children_of(command)]:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                if process.name() != POSTGRES:
                    now_bytes += process.memory_full_info().uss
                    times = process.cpu_times()
                    used[process.pid] = times.user + times.system
        seen_bytes.append(now_bytes)
        with suppress(psutil.TimeoutExpired):
            command.wait(LOOK_SECONDS)
    if command.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed")
    return {
        "seconds": time.monotonic() - began,
        "processor_seconds": sum(used.values()),
        "megabytes": percentile(seen_bytes, 0.95) / 1e6,
        "most_megabytes": max(seen_bytes) / 1e6,
    }


def children_of(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def report(figures: Figures) -> None:
    print(
        f"{figures['database_gigabytes']:.1f} GB: {figures['messages']:,} messages and files of "
        f"{figures['files'] * FILE_BYTES / 1e9:.1f} GB, made in {figures['made_seconds']:.0f} s; "
        f"the backup has {figures['file_gigabytes']:.1f} GB, the restored site {figures['restored_gigabytes']:.1f} GB\n"
    )
    print(f"{'':>8} {'seconds':>9} {'processor, s':>13} {'memory, MB':>11} {'at most':>8}")
    for name in ("backup", "restore"):
        row = figures[name]
        print(
            f"{name:>8} {row['seconds']:>9.0f} {row['processor_seconds']:>13.0f} {row['megabytes']:>11.0f} "
            f"{row['most_megabytes']:>8.0f}"
        )


def parse_arguments() -> argparse.Namespace:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="conversations with questions")
    parser.add_argument("--messages", type=int, default=3_700_000)
    parser.add_argument("--files", type=int, default=1_300, help=f"of {FILE_BYTES:,} bytes each")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    figures = measure(arguments.file, messages=arguments.messages, files=arguments.files)
    report(figures)
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()

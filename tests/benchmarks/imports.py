"""Import of a large export: messages a second, and the memory that it takes beyond that of the process before.

The export is made up: 5,000 conversations of ChatGPT's form with 40 messages each, of 20 to 220 words.

    python -m tests.benchmarks.imports [--conversations 5000] [--messages 40] [--zip] [--once]

With `--zip` it is a ZIP file, as ChatGPT sends it. One whose conversations.json has
1 GB: `--conversations 23500 --zip --once`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import IO

import psutil

from tests.benchmarks._site import temporary_site
from tests.support.exports import chatgpt, node

BEGINNINGS, ENDINGS = ("har", "sea", "light", "win", "ro", "sto"), ("bor", "house", "dow", "ad", "ne")
WORDS = [first + last for first in BEGINNINGS for last in ENDINGS]
GOAL_PER_SECOND, GOAL_MB = 2_000, 200


def write_export(path: Path, conversations: int, messages: int, *, packed: bool) -> None:
    """Write the export, a conversation at a time."""
    if not packed:
        with path.open("wb") as file:
            write_conversations(file, conversations, messages)
        return
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as file,
    ):
        write_conversations(file, conversations, messages)


def write_conversations(file: IO[bytes], conversations: int, messages: int) -> None:
    chance = random.Random(1)
    for number in range(conversations):
        nodes = [
            node(
                f"c{number}-{place}",
                f"c{number}-{place - 1}" if place else "root",
                "assistant" if place % 2 else "user",
                " ".join(chance.choices(WORDS, k=chance.randint(20, 220))),
            )
            for place in range(messages)
        ]
        written = json.dumps(chatgpt(f"c{number}", nodes, nodes[-1]["id"]))
        file.write(f"{',' if number else '['}{written}".encode())
    file.write(b"]")


class PeakMemory:
    """Watches the resident memory of this process."""

    def __init__(self) -> None:
        self._process, self._ended = psutil.Process(), threading.Event()
        self.start_mb = self.peak_mb = self._process.memory_info().rss / 1e6
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            self.peak_mb = max(self.peak_mb, self._process.memory_info().rss / 1e6)

    def end(self) -> float:
        """Return by how much it grew."""
        self._ended.set()
        return self.peak_mb - self.start_mb


def measure(path: Path, *, again: bool) -> None:
    from chatsite.accounts.models import User
    from conversations.core.imports.read_export import ExportFile
    from conversations.models import ConversationImport, Message
    from conversations.services.imports.import_claim import begin_command_import
    from conversations.services.imports.import_report import ImportReport
    from conversations.services.imports.run_import import import_batches
    from conversations.services.language_models.model_context import load_tokenizers

    load_tokenizers()
    user, _ = User.objects.get_or_create(email="alice@example.org")
    memory, began, cpu_began = PeakMemory(), time.monotonic(), time.process_time()
    file = ExportFile(path.name, path.stat().st_size, lambda: path.open("rb"))
    claimed = begin_command_import(user, [file], f"benchmark {again}")
    for _batch in import_batches(claimed):
        pass
    seconds, cpu_seconds, grown_mb = time.monotonic() - began, time.process_time() - cpu_began, memory.end()
    report = ImportReport.from_json(ConversationImport.objects.get(pk=claimed.id).report)
    found = report.total("messages_found")
    is_met = found / seconds >= GOAL_PER_SECOND and grown_mb <= GOAL_MB
    size_mb = ConversationImport.objects.get(pk=claimed.id).read_bytes / 1e6
    print(
        f"{'again' if again else 'first'}: {found:,} messages of {size_mb:,.0f} MB of JSON in {seconds:.1f} s, "
        f"{found / seconds:,.0f} a second, {found / cpu_seconds:,.0f} a second of its processor time, "
        f"memory {grown_mb:+.0f} MB to {memory.peak_mb:.0f} MB, stored {Message.objects.count():,}: "
        f"goals {'met' if is_met else 'missed'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=5_000)
    parser.add_argument("--messages", type=int, default=40)
    parser.add_argument("--zip", action="store_true", help="Write a ZIP file.")
    parser.add_argument("--once", action="store_true", help="Do not import it a second time.")
    arguments = parser.parse_args()
    with temporary_site(OPENAI_API_KEY="x", LANGUAGE_MODELS="gpt-4o"), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("export.zip" if arguments.zip else "conversations.json")
        # In a process of its own: what it takes must not hide what the import takes.
        writer = multiprocessing.get_context("spawn").Process(
            target=write_export,
            args=(path, arguments.conversations, arguments.messages),
            kwargs={"packed": arguments.zip},
        )
        writer.start()
        writer.join()
        for again in (False,) if arguments.once else (False, True):
            measure(path, again=again)


if __name__ == "__main__":
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    main()

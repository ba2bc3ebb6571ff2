"""A worker is killed while it indexes a document, and two workers index side by side."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from conversations.runs.indexer import PARSED_AT_ONCE
from tests.support.patience import wait_for
from tests.support.paused_parsing import HELD_AT, held_reading

from .processes import SiteProcess

RECORDS = 6_000  # more than lies ready anywhere between the one that reads and the one that stores
ADD = """
WITH place AS (SELECT id, owner_id FROM conversations_conversation WHERE public_id = %s),
document AS (
  INSERT INTO conversations_document
         (public_id, conversation_id, uploader_id, name, size_bytes, digest, kind, state, percent, error_code,
          error_params, skipped_parts, passage_count, tokens, encoding, search_language, embedding_model,
          embedded_count, embedding_error_code, worker, attempt, created_at)
  SELECT gen_random_uuid(), id, owner_id, 'talks.json', 1, %s, '', 'waiting', 0, '',
         '{}', '{}', 0, 0, '', '', '', 0, '', '', 0, now() FROM place RETURNING id
)
INSERT INTO conversations_documentfile (document_id, content) SELECT id, %s FROM document RETURNING document_id
"""
STATE = "SELECT state, attempt, passage_count, worker, error_code FROM conversations_document WHERE id = %s"
NUMBERS = "SELECT number FROM conversations_passage WHERE document_id = %s ORDER BY number"


def add(site: Any, name: str, browser: Any = None) -> int:
    """Bring a document of many records to a conversation of the browser's person, or of the site's."""
    content = json.dumps([{"title": f"{name} {number}", "about": "trains and ships"} for number in range(RECORDS)])
    return site.database.value(ADD, site.begin(browser), name, content.encode())


def state_of(site: Any, document: int) -> dict[str, Any]:
    [row] = site.database.rows(STATE, document)
    return row


def wait_until_held(site: Any, document: int) -> None:
    """Return once all is stored of the document that comes before where its reading is held."""
    wait_for(lambda: state_of(site, document)["passage_count"] == HELD_AT, "passages are stored")


def wait_until_ready(site: Any, document: int) -> dict[str, Any]:
    wait_for(lambda: state_of(site, document)["state"] in ("ready", "failed"), "it has been read")
    return state_of(site, document)


def numbers(site: Any, document: int) -> list[int]:
    return [row["number"] for row in site.database.rows(NUMBERS, document)]


def readers(site: Any, documents: list[int]) -> set[str]:
    """Return who reads the documents at this moment."""
    return {state_of(site, document)["worker"] for document in documents} - {""}


def children_that_read(process: SiteProcess) -> list[int]:
    return [child.pid for child in psutil.Process(process.process.pid).children() if is_reading(child.pid)]


def is_reading(pid: int) -> bool:
    """Tell whether the process lives and reads a document; one that has ended has no command any more."""
    with suppress(OSError):
        return b"conversations.parsing.child_process" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def test_a_document_whose_reader_was_killed_is_read_again_and_whole(mortal_site):
    with held_reading(mortal_site.database):
        document = add(mortal_site, "talk")
        wait_until_held(mortal_site, document)
        [child] = children_that_read(mortal_site.process)
        mortal_site.process.kill()
        wait_for(lambda: not is_reading(child), "the child does not outlive the process that it reads for")
    assert numbers(mortal_site, document) == list(range(HELD_AT))
    mortal_site.serve()
    assert wait_until_ready(mortal_site, document) == {
        "state": "ready", "attempt": 0, "passage_count": RECORDS, "worker": "", "error_code": ""
    }  # fmt: skip
    assert numbers(mortal_site, document) == list(range(RECORDS))


def test_two_processes_read_more_documents_than_one_of_them_can(parted_site):
    workers = [parted_site.run_worker() for _ in range(2)]
    with held_reading(parted_site.database):
        users = [parted_site.sign_up() for _ in range(PARSED_AT_ONCE + 1)]  # one document at a time of each
        documents = [add(parted_site, f"talk {number}", user) for number, user in enumerate(users)]
        for document in documents:
            wait_until_held(parted_site, document)
        assert len(readers(parted_site, documents)) == len(workers)
    for document in documents:
        assert wait_until_ready(parted_site, document)["state"] == "ready"
        assert numbers(parted_site, document) == list(range(RECORDS))

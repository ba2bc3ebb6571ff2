"""Whoever reads a document is killed, and two processes read one beside the other."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from .processes import wait_for

RECORDS = 2_000
MANY_RECORDS = 6_000  # so that they are read for longer than the second process takes to look for some
ADD = """
WITH place AS (SELECT id, owner_id FROM conversations_conversation WHERE public_id = %s),
document AS (
  INSERT INTO conversations_document
         (public_id, conversation_id, uploader_id, name, size_bytes, digest, kind, state, percent, error_code,
          error_params, passage_count, tokens, encoding, search_language, embedding_model, embedded_count,
          embedding_error_code, worker, attempt, created_at)
  SELECT gen_random_uuid(), id, owner_id, 'talks.json', 1, %s, '', 'waiting', 0, '',
         '{}', 0, 0, '', '', '', 0, '', '', 0, now() FROM place RETURNING id
)
INSERT INTO conversations_documentfile (document_id, content) SELECT id, %s FROM document RETURNING document_id
"""
STATE = "SELECT state, attempt, passage_count, worker, error_code FROM conversations_document WHERE id = %s"
NUMBERS = "SELECT number FROM conversations_passage WHERE document_id = %s ORDER BY number"


def add(site: Any, name: str, *, records: int = RECORDS) -> int:
    """Bring a document of many records to a conversation of the person who signed up last."""
    content = json.dumps([{"title": f"{name} {number}", "about": "trains and ships"} for number in range(records)])
    return site.database.value(ADD, site.begin(), name, content.encode())


def state_of(site: Any, document: int) -> dict[str, Any]:
    [row] = site.database.rows(STATE, document)
    return row


def wait_for_passages(site: Any, document: int) -> None:
    wait_for(lambda: state_of(site, document)["passage_count"], what="passages are stored")


def wait_until_ready(site: Any, document: int) -> dict[str, Any]:
    wait_for(lambda: state_of(site, document)["state"] in ("ready", "failed"), seconds=120, what="it has been read")
    return state_of(site, document)


def numbers(site: Any, document: int) -> list[int]:
    return [row["number"] for row in site.database.rows(NUMBERS, document)]


def readers(site: Any, documents: list[int]) -> set[str]:
    """Return who reads the documents at this moment."""
    return {state_of(site, document)["worker"] for document in documents} - {""}


def is_reading(pid: int) -> bool:
    """Tell whether the process lives and reads a document; one that has ended has no command any more."""
    with suppress(OSError):
        return b"conversations.parsing.child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


@pytest.fixture
def killed(new_site):
    """A site that was killed in the middle of a document; the document, and the child that read it."""
    site = new_site()
    process = site.serve()
    site.sign_up()
    document = add(site, "talk")
    wait_for_passages(site, document)
    children = [child.pid for child in psutil.Process(process.process.pid).children() if is_reading(child.pid)]
    process.kill()
    return site, document, children


def test_a_document_whose_reader_was_killed_is_read_anew_and_whole(killed):
    site, document, _ = killed
    assert 0 < len(numbers(site, document)) < RECORDS
    site.serve()
    assert wait_until_ready(site, document) == {
        "state": "ready", "attempt": 0, "passage_count": RECORDS, "worker": "", "error_code": ""
    }  # fmt: skip
    assert numbers(site, document) == list(range(RECORDS))


def test_a_child_does_not_outlive_the_process_that_it_reads_for(killed):
    _, _, children = killed
    assert len(children) == 1
    wait_for(lambda: not any(map(is_reading, children)), what="the child has ended")


def test_two_processes_read_one_document_each(new_site):
    site = new_site(RUN_WORKER="off")
    site.serve()
    site.sign_up()
    site.run_worker()
    site.run_worker()
    documents = [add(site, name, records=MANY_RECORDS) for name in ("one", "two")]
    wait_for(lambda: len(readers(site, documents)) == 2, what="both are read at once")
    for document in documents:
        assert wait_until_ready(site, document)["passage_count"] == MANY_RECORDS == len(numbers(site, document))

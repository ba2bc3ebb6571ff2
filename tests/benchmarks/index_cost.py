"""What the index of messages costs: processor time of each message stored, without and with it, and its size.

The messages are paragraphs of the project's own documents, one after the other, so their words are those of texts. Told
are milliseconds of both processes together, this one and PostgreSQL's, by message: for messages that are posted one by
one, which are indexed after each reply, and for a conversation that is indexed at once, as after an import. Other work
on the machine changes little of processor time.

    python -m tests.benchmarks.index_cost [--messages 4000] [--json FILE]
"""

from __future__ import annotations

import argparse
import itertools
import os
from pathlib import Path

from tests.benchmarks._figures import Figures, write_json
from tests.benchmarks._processor_times import ProcessorTimes
from tests.benchmarks._site import temporary_site
from tests.support.source import PROJECT

POSTED = 200  # questions, each with a reply
PEOPLE = 20  # who have said something since the last batch
SHORTEST, LONGEST = 40, 4_000  # characters of a paragraph that is a message, which a long table is not
SIZES = {
    "content": "(SELECT sum(octet_length(content)) FROM conversations_message)",
    "messages, with their indexes": "pg_total_relation_size('conversations_message')",
    "postings": "pg_table_size('conversations_messagepostings')",
    "indexes of the postings": "pg_indexes_size('conversations_messagepostings')",
    "  of them, by owner and the list of words": (
        "pg_relation_size('message_postings_owner') + pg_relation_size('message_postings_listed')"
    ),
    "passages, with their indexes": "pg_total_relation_size('conversations_messagepassage')",
}


def measure(*, messages: int) -> Figures:
    with temporary_site(MESSAGES_PER_MINUTE="0"):
        from django.db import connection

        from conversations.services.message_index.index_messages import (
            index_conversation,
            index_next_batch,
            rebuild_index,
        )
        from conversations.services.replies.end_reply import COMPLETE, end_reply
        from tests.support.people import begin, make_user, post

        contents = itertools.cycle(paragraphs())
        times = ProcessorTimes(connection)
        conversation = begin(make_user("writer"))
        for number in range(messages // 2):
            if number == messages // 2 - POSTED:
                index_conversation(conversation.pk)
            with times.taken("posting"):
                posted = post(conversation, next(contents))
                end_reply(posted.reply.pk, COMPLETE, content=next(contents))
            if number >= messages // 2 - POSTED:
                with times.taken("indexing after each reply"):
                    index_conversation(conversation.pk)
            conversation.refresh_from_db()
        with times.taken("indexing at once"):
            rebuild_index(conversation.pk)
        times.counts["indexing at once"] = messages // 2
        others = [begin(make_user(f"person{number}")) for number in range(PEOPLE)]
        for _ in range(POSTED // PEOPLE):
            for each in others:
                each.refresh_from_db()
                end_reply(post(each, next(contents)).reply.pk, COMPLETE, content=next(contents))
            with times.taken("indexing with others"):
                index_next_batch()
        times.counts["indexing with others"] *= PEOPLE
        with connection.cursor() as cursor:
            for table in ("conversations_messagepostings", "conversations_messagepassage", "conversations_message"):
                cursor.execute(f"VACUUM FULL {table}")  # what was made twice is not measured
            sizes = {name: cursor.execute(f"SELECT {size}").fetchone()[0] for name, size in SIZES.items()}
        by_message = {name: 500 * seconds / times.counts[name] for name, seconds in times.seconds.items()}
        return {"messages": messages, "ms_by_message": by_message, "bytes": {k: int(v) for k, v in sizes.items()}}


def paragraphs() -> list[str]:
    """Return the paragraphs of the documents, in their order."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((PROJECT / "docs").rglob("*.md"))]
    return [part for text in texts for part in text.split(os.linesep * 2) if SHORTEST <= len(part) <= LONGEST]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=4_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    figures = measure(messages=arguments.messages)
    for name, taken in figures["ms_by_message"].items():
        print(f"{name:<26} {taken:6.2f} ms a message")
    for name, size in figures["bytes"].items():
        print(f"{name:<44} {size / 1e6:7.2f} MB, {size / figures['bytes']['content']:5.2f} of the content")
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()

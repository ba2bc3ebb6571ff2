"""Sharing 10,000 messages with all window records, and opening the pages of that share: time and memory.

python -m tests.benchmarks.sharing [--json FILE]
"""

from __future__ import annotations

import resource
import time
from statistics import median

from tests.benchmarks._figures import Figures, percentile, run_benchmark, verdict
from tests.benchmarks._site import temporary_site

MESSAGES = 10_000
ROUNDS = 20
LANGUAGE_MODEL = "fake context_window=8192 reply_reserve=1024 encoding=o200k_base"
OPENED_WITHIN_MS = 500.0
MEGABYTE = 1_000_000
# Written by PostgreSQL itself: one by one they take minutes.
COPY_REQUEST = """
INSERT INTO conversations_completion (reply_id, opening_key, {columns})
SELECT reply.pk, gen_random_uuid(), {columns} FROM conversations_completion AS request,
  (SELECT id AS pk FROM conversations_message WHERE conversation_id = %s AND role = 'assistant') AS reply
WHERE request.id = %s AND request.reply_id <> reply.pk
"""


def measure() -> Figures:
    with temporary_site(OPENAI_BASE_URL="http://127.0.0.1:9/v1", LANGUAGE_MODELS=LANGUAGE_MODEL, SHARES="anyone"):
        return _measure()


def _measure() -> Figures:
    from conversations.models import Conversation, Share
    from conversations.services.portability.share_conversation import share_conversation
    from conversations.services.portability.shared_rows import ShareChoices
    from tests.benchmarks._long_conversations import LongConversation
    from tests.support.people import make_user

    user = make_user("alice")
    made = LongConversation(user, MESSAGES)
    record = _store_windows(made.id)
    conversation = Conversation.objects.select_related("scenario").get(pk=made.id)
    conversation.owner = user
    _open("/s/none/")  # so that all is imported
    before, began, cpu = _peak_mb(), time.perf_counter(), time.process_time()
    share = share_conversation(
        user=user, conversation=conversation, message_id=None, title="Long", shown=ShareChoices(*[True] * 6)
    )
    shared_seconds, shared_mb = time.perf_counter() - began, _peak_mb() - before
    cpu_seconds = time.process_time() - cpu
    stored = Share.objects.get(pk=share.share.pk)
    before = _peak_mb()
    address = f"/s/{share.token}/"
    opened = {
        "first": [_open(address) for _ in range(ROUNDS)],
        "middle": [_open(f"{address}?from={MESSAGES // 2}") for _ in range(ROUNDS)],
        "last": [_open(f"{address}?from={MESSAGES - 99}") for _ in range(ROUNDS)],
        "window": [_open(f"{address}replies/{MESSAGES}/window/") for _ in range(ROUNDS)],
    }
    return {
        "messages": stored.message_count,
        "entries_of_a_window": record,
        "seconds": shared_seconds,
        "cpu_seconds": cpu_seconds,
        "more_mb": shared_mb,
        "stored_mb": stored.size_bytes / MEGABYTE,
        "opened_more_mb": _peak_mb() - before,
        "opened": opened,
    }


def _store_windows(conversation_id: int) -> int:
    """Store a request with a window of the newest messages for each reply; return how many entries a record has."""
    from django.db import connection

    from conversations.models import Conversation, Message
    from conversations.services.language_models.model_context import conversation_context
    from conversations.services.windows.build_window import build_window, draft_message
    from tests.admin.stored import make_completion

    conversation = Conversation.objects.select_related("scenario", "owner").get(pk=conversation_id)
    newest = draft_message("And then?", position=MESSAGES, context=conversation_context(conversation))
    record = build_window(conversation, newest).record.to_json()
    replies = Message.objects.filter(conversation=conversation, role="assistant")
    request = make_completion(conversation.owner, reply=replies.first(), window=record)
    with connection.cursor() as cursor:
        cursor.execute(COPY_REQUEST.format(columns=_columns()), [conversation.pk, request.pk])
    return len(record["entries"])


def _columns() -> str:
    from conversations.models import Completion

    own = ("id", "reply_id", "opening_key")
    names = [field.column for field in Completion._meta.concrete_fields if field.column not in own]
    return ", ".join(f'"{name}"' for name in names)


def _open(address: str) -> tuple[float, float, int]:
    """Return the milliseconds that a page took a stranger, those of CPU, and its bytes."""
    from django.test import Client

    began, cpu = time.perf_counter(), time.process_time()
    answer = Client().get(address, HTTP_HOST="localhost")
    return (time.perf_counter() - began) * 1e3, (time.process_time() - cpu) * 1e3, len(answer.content)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE


def report(result: Figures) -> None:
    print(
        f"shared {result['messages']:,} messages, windows of {result['entries_of_a_window']} entries:"
        f" {result['seconds']:.1f} s ({result['cpu_seconds']:.1f} s of CPU),"
        f" {result['more_mb']:.0f} MB more at most, {result['stored_mb']:.1f} MB stored"
    )
    for page, taken in result["opened"].items():
        times, cpu, size = [each[0] for each in taken], median(each[1] for each in taken), taken[0][2]
        p95 = verdict(percentile(times, 0.95), at_most=OPENED_WITHIN_MS)
        typical = f"first {times[0]:.0f} ms, median {median(times):.0f} ms ({cpu:.0f} ms of CPU)"
        print(f"{page:>7}: {typical}, p95 {p95}, {size / 1e3:.0f} kB")
    print(f"opening: {result['opened_more_mb']:.0f} MB more at most")


if __name__ == "__main__":
    run_benchmark(__doc__.splitlines()[0], measure, report)

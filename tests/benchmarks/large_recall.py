"""How long a look-up of recall takes in a conversation of a million messages, and in a small one beside it.

All conversations of FILE (form: `_recall_questions`) are stored as one, through the product, and indexed. Copies of it
make a very large one (`_large_conversation`). The questions of FILE are asked in the one, in the other, and in the
first again now that the other stands beside it: what others have stored must not make a look-up slower.

    python -m tests.benchmarks.large_recall FILE [--messages 1000000] [--questions 100] [--json OUT]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.benchmarks._figures import Figures, arguments_for, percentile, verdict, write_json
from tests.benchmarks._recall_questions import FIRST_DAY, MINUTE, AskedConversation, read_asked_conversations
from tests.benchmarks._site import temporary_site
from tests.benchmarks.recall import LANGUAGE_MODEL

BLOCK_TOKENS = 2_000
SMALL_GOAL_MS, LARGE_GOAL_MS = 30, 150
MOST_SLOWER = 1.2  # beside a large conversation
MESSAGES = "messages"


def measure(path: Path, *, messages: int, questions: int) -> Figures:
    conversations = read_asked_conversations(path)
    joined = join(conversations)
    texts = [question.text for each in conversations for question in each.questions]
    texts = texts[:: max(1, len(texts) // questions)][:questions]
    with temporary_site(OPENAI_BASE_URL="http://127.0.0.1:9/v1", LANGUAGE_MODELS=LANGUAGE_MODEL):
        from tests.benchmarks._large_conversation import make_large_conversation
        from tests.benchmarks._recall_site import RecallSite, StoredConversation

        stored = StoredConversation(joined, RecallSite((BLOCK_TOKENS,), None))
        stored.store_until(len(joined.messages))
        small = stored.conversation
        alone = look_ups(small.pk, texts)
        large = make_large_conversation(small, messages=messages)
        return {
            "questions": len(texts),
            "small": {MESSAGES: len(joined.messages), **alone},
            "large": {MESSAGES: large.message_index.next_position, **look_ups(large.pk, texts)},
            "small_beside_large": {MESSAGES: len(joined.messages), **look_ups(small.pk, texts)},
        }


def join(conversations: Sequence[AskedConversation]) -> AskedConversation:
    """Return all as one conversation, each beginning some hours after the end of the one before."""
    messages = []
    at = FIRST_DAY
    for conversation in conversations:
        later = at - conversation.messages[0].at
        messages += [replace(each, id=conversation.id + each.id, at=each.at + later) for each in conversation.messages]
        at = messages[-1].at + 500 * MINUTE
    return AskedConversation("all", tuple(messages), ())


def look_ups(conversation_id: int, texts: Sequence[str]) -> Figures:
    """Return the milliseconds that a look-up takes; each question is asked once before, so that all is in memory."""
    from django.utils import timezone

    from conversations.grounding.recall.recall_passages import recall_passages

    seconds = []
    for number, text in enumerate([*texts, *texts]):
        began = time.perf_counter()
        recall_passages(conversation_id, text, before_position=2**31 - 1, now=timezone.now(), limit_tokens=BLOCK_TOKENS)
        if number >= len(texts):
            seconds.append(time.perf_counter() - began)
    return {name: 1_000 * percentile(seconds, share) for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95))}


def report(figures: Figures) -> None:
    print(f"{figures['questions']} questions in each, for a block of {BLOCK_TOKENS:,} tokens\n")
    print(f"{'messages':>12} {'p50, ms':>9} {'p95, ms':>9}")
    for name in ("small", "large", "small_beside_large"):
        row = figures[name]
        print(f"{row[MESSAGES]:>12,} {row['p50_ms']:>9.1f} {row['p95_ms']:>9.1f}   {name.replace('_', ' ')}")
    small, large, beside = (figures[name] for name in ("small", "large", "small_beside_large"))
    print(f"\np95, small:                  {verdict(small['p95_ms'], at_most=SMALL_GOAL_MS)}")
    print(f"p95, large:                  {verdict(large['p95_ms'], at_most=LARGE_GOAL_MS)}")
    times = large[MESSAGES] / small[MESSAGES]
    print(f"p50, large ÷ small:          {large['p50_ms'] / small['p50_ms']:.1f} for {times:.0f} times the messages")
    print(f"p50, beside large ÷ alone:   {verdict(beside['p50_ms'] / small['p50_ms'], at_most=MOST_SLOWER)}")


def parse_arguments() -> argparse.Namespace:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="conversations with questions")
    parser.add_argument("--messages", type=int, default=1_000_000, help="about how many the large one has")
    parser.add_argument("--questions", type=int, default=100, help="at most so many are asked")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    figures = measure(arguments.file, messages=arguments.messages, questions=arguments.questions)
    report(figures)
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()

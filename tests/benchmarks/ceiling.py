"""Random conversations as real request bodies, counted apart from the product: none may be over its limit.

A conversation has up to three turns with up to two tool steps each, and every request hands its anchor on to the next
as the product does. A body is what the provider would get, after a round trip through JSON; it is counted by OpenAI's
cookbook (`_cookbook`) with the real vocabularies and compared with the limit, with the newest message, with the stored
messages and with the record of its window. Refusals must have a type, and be right as far as that is easy to tell.

    cases              conversations               requests           windows asked for: sent or refused
    over               bodies above their limit    newest_missing     bodies without the newest user message
    record_differs     bodies of which the record says anything else: a count, a role, a text, where it was cut
    sent_twice         bodies in which something recalled is in the window too, or is there twice
    recall_over_share  bodies of which more is recalled than its share and what no older message could use
    recall_misread     bodies in whose recalled lines others speak than the record says, or in another order
    summary_over_share bodies with a summary above the policy's cap or half of what older messages could have
    summary_misplaced  bodies with a summary elsewhere than before older messages, more than once, or needlessly

    python -m tests.benchmarks.ceiling [--cases N] [--seed N] [--jobs N] [--json FILE]
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from conversations.core.window.budget import CountText
from conversations.core.window.compute_window import Turn, Window, compute_window
from conversations.core.window.history import HistoryMessage
from conversations.providers.catalog.known_dialects import known_dialect
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.tokens.tokenizer import count_text, count_tool_schemas, encoding_for
from tests.benchmarks._ceiling_checks import AT_LIMIT, GOALS, RECALLED, Sent, refusal_faults
from tests.benchmarks._cookbook import MODELS
from tests.benchmarks._figures import Figures, arguments_for, write_json
from tests.benchmarks._random_conversations import RandomConversation, random_conversation
from tests.benchmarks._random_pictures import with_less_detail
from tests.benchmarks._random_texts import Texts
from tests.benchmarks._read_body import marked_places, read_body

PICTURES, KEPT_REASONING = "pictures", "steps_with_kept_reasoning"
CASES = 100_000
SEED = 1
CASES_A_BLOCK = 1_000  # which draw their texts from one stock
MOST_TURNS = 3
MOST_STEPS = 2
BASE_URLS = ("https://api.openai.com/v1", "https://api.mistral.ai/v1", "http://127.0.0.1:11434/v1")
MOST_EXAMPLES = 20


@dataclass(slots=True)
class Tally:
    """What a block of cases came to."""

    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    summaries: Counter[str] = field(default_factory=Counter)
    wires: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.counts += other.counts
        self.refused += other.refused
        self.policies += other.policies
        self.summaries += other.summaries
        self.wires += other.wires
        self.examples += other.examples

    def note(self, case: int, findings: Iterator[str]) -> None:
        for finding in set(findings):
            self.counts[finding] += 1
            if finding in GOALS:
                self.examples.append(f"case {case}: {finding}")


def play_block(block: range, seed: int) -> Tally:
    """Play the cases of a block. Each has its own random numbers, and the block's stock of texts."""
    tally = Tally()
    stocks = {encoding: stock(block.start, seed, encoding) for encoding in {encoding_for(name) for name in MODELS}}
    for case in block:
        randomly = random.Random(f"{seed} {case}")
        name = randomly.choice(MODELS)
        play_case(case, random_conversation(randomly, name, *stocks[encoding_for(name)]), tally)
    return tally


def stock(block: int, seed: int, encoding: str) -> tuple[Texts, CountText]:
    """Return texts, and the product's count of them: a text that is drawn again is not counted again."""
    count = functools.lru_cache(20_000)(count_text(encoding))
    return Texts(random.Random(f"{seed} {block} {encoding}"), count), count


def play_case(case: int, conversation: RandomConversation, tally: Tally) -> None:
    tally.counts["cases"] += 1
    tally.policies[type(conversation.policy).__name__] += 1
    anchor = None
    for _ in range(conversation.randomly.randint(1, MOST_TURNS)):
        conversation.grow()
        for turn in turns(conversation):
            tally.counts["requests"] += 1
            window = ask(case, turn, conversation, anchor, tally)
            anchor = window.record.first_position if window else anchor
        for message in (turn.newest, *map(without_reasoning, turn.steps)):
            conversation.store(message)


def without_reasoning(step: HistoryMessage) -> HistoryMessage:
    """Return *step* as it is sent once its reply is made."""
    if (kept := step.message.kept) is None:
        return step
    return step._replace(message=step.message._replace(kept=None), content_tokens=step.content_tokens - kept.tokens)


def turns(conversation: RandomConversation) -> Iterator[Turn]:
    """Yield the requests of one turn: for the question, and again after each tool step."""
    newest, grounding, recalled = conversation.question(), conversation.passages(), conversation.recalled()
    summary = conversation.summary()
    tool_schema_tokens = count_tool_schemas(conversation.tools, language_model=conversation.language_model)
    pins, steps = conversation.pins, ()
    for _ in range(conversation.randomly.choice((1, 1, 1, 2, 1 + MOST_STEPS))):
        turn = Turn(newest, conversation.system_prompt, grounding, pins, steps, tool_schema_tokens)
        yield dataclasses.replace(
            turn, recalled=recalled, summary=summary, with_smaller_pictures=with_less_detail(newest)
        )
        steps = (*steps, *conversation.with_reasoning(conversation.tool_turn(1 + len(steps))))


def ask(case: int, turn: Turn, conversation: RandomConversation, anchor: int | None, tally: Tally) -> Window | None:
    """Compute a window and check the body that is sent for it, or the refusal."""
    try:
        window = compute_window(
            turn,
            conversation.newest_first(),
            language_model=conversation.language_model,
            policy=conversation.policy,
            count_text=conversation.count_text,
            anchor=anchor,
            calibration=conversation.calibration,
        )
    except Exception as error:
        tally.refused[type(error).__name__] += 1
        tally.note(case, refusal_faults(error, turn, conversation))
        return None
    tally.counts["sent"] += 1
    tally.counts["sent_tokens"] += window.record.prompt_tokens
    tally.counts[RECALLED] += len(window.record.recall.included)
    tally.counts[PICTURES] += sum(len(message.pictures) for message in window.prompt)
    tally.counts[KEPT_REASONING] += sum(message.kept is not None for message in window.prompt)
    tally.wires[window.record.wire] += 1
    if summary := window.record.summary:
        tally.summaries[summary.left_out or "sent"] += 1
    tally.note(case, Sent(render(window, conversation), window.record, turn, conversation).findings())
    return window


def render(window: Window, conversation: RandomConversation) -> Figures:
    """Return the body as the provider reads it."""
    request = CompletionRequest(
        conversation.language_model.name,
        window.prompt,
        max_output_tokens=window.record.reply_reserve_tokens,
        sampling={"temperature": 0.5},
        tools=conversation.tools,
        cache_key="a conversation",
        dialect=dataclasses.replace(
            known_dialect("gpt-4o", base_url=conversation.randomly.choice(BASE_URLS)),
            prompt_format=conversation.language_model.prompt_format,
        ),
    )
    body = json.loads(json.dumps(request.to_json()))
    read = read_body(body, [len(message.tool_calls) for message in window.prompt])
    return {
        **read,
        "marked": marked_places(body),
        "marked_tools": json.dumps(body.get("tools", ())).count('"cache_control"'),
    }


def measure(cases: int, seed: int, jobs: int = 1) -> Figures:
    started = time.monotonic()
    blocks = [range(start, min(start + CASES_A_BLOCK, cases)) for start in range(0, cases, CASES_A_BLOCK)]
    total = Tally()
    if jobs == 1:
        for tally in itertools.starmap(play_block, ((block, seed) for block in blocks)):
            total.add(tally)
    else:
        with multiprocessing.Pool(jobs) as pool:
            for tally in pool.imap(functools.partial(play_block, seed=seed), blocks):
                total.add(tally)
    return figures(total, seed, time.monotonic() - started)


def figures(total: Tally, seed: int, seconds: float) -> Figures:
    counts = total.counts
    return {
        "seed": seed,
        "cases": counts["cases"],
        "requests": counts["requests"],
        "sent": counts["sent"],
        "sent_tokens": counts["sent_tokens"],
        **{seen: counts[seen] for seen in (RECALLED, PICTURES, KEPT_REASONING)},
        AT_LIMIT: counts[AT_LIMIT],
        **{goal: counts[goal] for goal in GOALS},
        "refused": dict(total.refused.most_common()),
        "policies": dict(total.policies.most_common()),
        "summaries": dict(total.summaries.most_common()),
        "wires": dict(total.wires.most_common()),
        "examples": total.examples[:MOST_EXAMPLES],
        "seconds": round(seconds, 1),
    }


def report(result: Figures) -> None:
    print(
        "{cases:,} cases (seed {seed}), {requests:,} requests, {sent:,} sent of {sent_tokens:,} tokens".format(**result)
    )
    for seen in (RECALLED, PICTURES, KEPT_REASONING, AT_LIMIT):
        print(f"{seen.replace('_', ' '):<24} {result[seen]:>9,}")
    for goal in GOALS:
        print(f"{goal.replace('_', ' '):<24} {result[goal]:>9,} (goal: 0, {'missed' if result[goal] else 'met'})")
    print(
        "summaries: " + ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in result["summaries"].items())
    )
    print("wires: " + ", ".join(f"{count:,} {name}" for name, count in result["wires"].items()))
    print("refused before anything was sent:")
    for kind, count in result["refused"].items():
        print(f"  {kind:<26} {count:>9,}")
    for example in result["examples"]:
        print(example)
    print(f"{result['seconds']:.0f} seconds")


def main() -> None:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=CASES, metavar="N", help="conversations (%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help="of all that is random (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes to share the work (%(default)s)")
    arguments = parser.parse_args()
    if min(arguments.cases, arguments.jobs) < 1:
        parser.error("--cases and --jobs must be at least 1")
    result = measure(arguments.cases, arguments.seed, arguments.jobs)
    report(result)
    write_json(result, arguments.json)


if __name__ == "__main__":
    main()

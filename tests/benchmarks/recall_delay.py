"""The first token of 50 replies at once that recall older messages, against that of 50 that do not, in one run.

Each of 50 people has two conversations of 1,000 imported and indexed messages: one whose scenario recalls (the default
share), one whose scenario does not. The real server process makes the replies, of a fake provider that streams at the
demo model's pace. Rounds with and without alternate, and which of a pair comes first alternates, too. The records of
what was sent say that something was recalled for every reply with recall, and nothing was looked up for the others.

    python -m tests.benchmarks.recall_delay [--within SECONDS] [--pairs N] [--json FILE]
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import uvloop

from tests.benchmarks._clients import SitePage
from tests.benchmarks._figures import Figures, arguments_for, percentile, verdict, write_json
from tests.benchmarks._processes import started
from tests.benchmarks._site import temporary_site
from tests.benchmarks.streaming import Load, site_settings

REPLIES = Load().replies
STARTED_WITHIN_SECONDS = Load().within_seconds
TOKENS = 40
MESSAGES = 1_000
PAIRS = 6
AT_MOST = 1.15
LANGUAGE_MODEL = Load(tokens=TOKENS).language_model
CONTENT = "What did I say about {topic} and the regatta in Lübeck?"
TOPICS = ["bread", "cheese", "gardens", "trains", "weather", "paint", "roofs", "bicycles", "chess", "films", "soup"]
WITH, WITHOUT = "with recall", "without"


def measure(*, within: float, pairs: int) -> Figures:
    settings = site_settings("", LANGUAGE_MODEL) | {
        "LANGUAGE_MODELS": f"{LANGUAGE_MODEL} context_window=8192 encoding=o200k_base"
    }
    with (
        started("-m", "tests.benchmarks._provider", ready="http") as (_, base_url),
        temporary_site(**settings | {"OPENAI_BASE_URL": base_url}),
    ):
        pages = make_pages()
        with started("manage.py", "serve", ready="Stop it with"):
            seconds = take_pairs(pages, within=within, pairs=pairs)
        verify_recalled(replies=(pairs + 1) * REPLIES)
    return figures(seconds) | {"within_seconds": within, "pairs": pairs}


def make_pages() -> dict[str, list[SitePage]]:
    """Return the pages of all people, with recall and without."""
    from tests.benchmarks._people import make_people

    pages = defaultdict(list)
    for number, person in enumerate(make_people(REPLIES)):
        for name in (WITH, WITHOUT):
            conversation = import_conversation(f"page{number}@example.org", name, seed=number)
            content = CONTENT.format(topic=TOPICS[number % len(TOPICS)])
            pages[name].append(SitePage(os.environ["SITE_URL"], person.cookie, conversation, content))
    return pages


def import_conversation(email: str, name: str, *, seed: int) -> Any:
    """Store a conversation as its owner would import it, and index it. Returns its public id."""
    from chatsite.accounts.models import User
    from conversations.models import Scenario
    from conversations.services.message_index.index_messages import index_conversation
    from conversations.services.portability.chat_history import ChatHistory

    scenario, _ = Scenario.objects.get_or_create(name=name, offered=True)
    if name == WITHOUT and scenario.recall_share:
        scenario.recall_share = Decimal(0)
        scenario.save(update_fields=["recall_share"])
    user = User.objects.get(email=email)
    history = ChatHistory.from_openai(user=user, messages=list(openai_messages(seed)), scenario_id=scenario.pk)
    index_conversation(history.conversation.pk)
    return history.conversation.public_id


def openai_messages(seed: int) -> Iterator[dict[str, str]]:
    chosen = random.Random(seed)
    yield {"role": "user", "content": "The regatta in Lübeck is on 14 March, at nine in the morning."}
    yield {"role": "assistant", "content": "I keep that in mind."}
    for number in range(MESSAGES // 2 - 1):
        one, two = chosen.sample(TOPICS, 2)
        yield {"role": "user", "content": f"Tell me something about {one} and {two}, please, number {number}."}
        said = f"About {one}: there is much to say of it. With {two} it goes well in autumn. "
        yield {"role": "assistant", "content": said * chosen.randint(1, 4)}


def take_pairs(pages: dict[str, list[SitePage]], *, within: float, pairs: int) -> dict[str, list[list[float]]]:
    """Return the seconds to each first token, by round. The first pair warms up."""
    seconds = defaultdict(list)
    for pair in range(pairs + 1):
        for name in (WITH, WITHOUT) if pair % 2 else (WITHOUT, WITH):
            taken = uvloop.run(ask_all(pages[name], within=within))
            if pair:
                seconds[name].append(taken)
    return seconds


async def ask_all(pages: Sequence[SitePage], *, within: float) -> list[float]:
    """Return the seconds to the first token of all pages, which send one after the other *within* so many seconds."""

    async def ask(number: int, page: SitePage) -> float:
        await asyncio.sleep(within * number / len(pages))
        return (await page.ask()).first_token_seconds

    return await asyncio.gather(*(ask(number, page) for number, page in enumerate(pages)))


def verify_recalled(*, replies: int) -> None:
    """Raise `RuntimeError` unless so many replies had something recalled, and as many nothing looked up."""
    from conversations.core.window.window_record import RecallRecord
    from conversations.models import Completion

    as_wanted: dict[str, set[int]] = {WITH: set(), WITHOUT: set()}  # a reply may have taken several requests
    sent = Completion.objects.filter(window__isnull=False)
    for name, reply, stored in sent.values_list("conversation__scenario__name", "reply", "window__recall"):
        record = RecallRecord.from_json(stored)
        if record.included if name == WITH else not record.is_looked_up:
            as_wanted[name].add(reply)
    counts = {name: len(of_name) for name, of_name in as_wanted.items()}
    if counts != {WITH: replies, WITHOUT: replies}:
        raise RuntimeError(f"not what was to be compared: {counts}, of {replies} each")


def figures(seconds: dict[str, list[list[float]]]) -> Figures:
    by_name = {name: summary([each for taken in rounds for each in taken]) for name, rounds in seconds.items()}
    ratios = [
        percentile(recalled, 0.5) / percentile(plain, 0.5)
        for recalled, plain in zip(seconds[WITH], seconds[WITHOUT], strict=True)
    ]
    return {
        "p50_ratio": by_name[WITH]["p50"] / by_name[WITHOUT]["p50"],
        "p95_ratio": by_name[WITH]["p95"] / by_name[WITHOUT]["p95"],
        "p50_ratio_by_pair": ratios,
        **by_name,
    }


def summary(seconds: Sequence[float]) -> Figures:
    return {"p50": percentile(seconds, 0.5), "p95": percentile(seconds, 0.95), "replies": len(seconds)}


def report(result: Figures) -> None:
    print(f"{REPLIES} replies that begin within {result['within_seconds']} s; {result['pairs']} pairs")
    for name in (WITH, WITHOUT):
        print("{:<12} first token after {:.0f} ms (p50), {:.0f} ms (p95)".format(
            name, result[name]["p50"] * 1e3, result[name]["p95"] * 1e3
        ))  # fmt: skip
    print("p50, with : without ", verdict(result["p50_ratio"], at_most=AT_MOST))
    print("p95, with : without ", f"{result['p95_ratio']:.2f}")
    print("p50 by pair         ", ", ".join(f"{ratio:.2f}" for ratio in sorted(result["p50_ratio_by_pair"])))


def main() -> None:
    parser = arguments_for((__doc__ or "").partition("\n")[0])
    parser.add_argument("--within", type=float, default=STARTED_WITHIN_SECONDS, help="seconds in which all are asked")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="rounds of each kind")
    arguments = parser.parse_args()
    result = measure(within=arguments.within, pairs=arguments.pairs)
    report(result)
    write_json(result, arguments.json)


if __name__ == "__main__":
    main()

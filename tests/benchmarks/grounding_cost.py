"""How many tokens are saved by sending what was looked up with its own question only.

    saved = tokens of all earlier groundings, sent again in every request ÷ tokens of all requests if they were

The questions are asked one after the other, the records being the document of the conversation, at several context
windows. What is sent is what the product sends; beside it stands the same with the groundings that were sent before
left in their messages, as it is where passages are pasted into questions. Where that is above the window, no one could
have sent it: such requests are counted.

    python -m tests.benchmarks.grounding_cost [--json FILE]
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tests.benchmarks._figures import Figures, run_benchmark
from tests.benchmarks._retrieval import Records, Site
from tests.benchmarks._site import temporary_site
from tests.benchmarks.grounding import EXAMPLE

DIALOGUES = {
    "three": ["Is there a talk about build times?", "and one on testing?", "What sessions are about mobile?"],
    "twelve": [
        "Is there a talk about build times?",
        "anything about remote caches?",
        "and one on testing?",
        "how to deal with flaky tests",
        "What sessions are about mobile?",
        "thanks!",
        "what about security?",
        "threat modelling for beginners",
        "and for databases?",
        "show me everything on accessibility",
        "ok, and machine learning?",
        "distributed tracing",
    ],
}
WINDOWS = (2_048, 4_096, 8_192)
ANSWER = "There are a few, and the first of them is what you are looking for: see [1], and [2] for something like it."


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of all requests as they are *sent*, and with all earlier groundings *resent*; *refused* would not fit."""

    requests: int
    sent: int
    resent: int
    refused: int

    @property
    def saved(self) -> float:
        return 1 - self.sent / self.resent


def cost_of(prompts: Sequence[tuple[int, int]], *, budget_tokens: int) -> Cost:
    """Return what *prompts* cost, each its tokens and those of its grounding among them."""
    earlier, naive = 0, []
    for tokens, grounding_tokens in prompts:
        naive.append(tokens + earlier)
        earlier += grounding_tokens
    refused = sum(tokens > budget_tokens for tokens in naive)
    return Cost(len(prompts), sum(tokens for tokens, _ in prompts), sum(naive), refused)


def hold(site: Site, questions: Sequence[str], *, context_window: int) -> Cost:
    from django.conf import settings

    from conversations.services.grounding.look_up import look_up
    from conversations.services.replies.end_reply import COMPLETE, end_reply
    from conversations.services.replies.prepare_reply import prepare_reply
    from tests.support.people import post

    settings.OPENAI_API_KEY = "x"  # never asked
    settings.LANGUAGE_MODELS = f"letters context_window={context_window} encoding=o200k_base"
    conversation, prompts = site.begin(), []
    for question in questions:
        reply = post(conversation, question).reply
        record = prepare_reply(reply.pk, asyncio.run(look_up(reply.pk))).window.record
        prompts.append((record.prompt_tokens, record.grounding.tokens))
        end_reply(reply.pk, COMPLETE, content=ANSWER)
    return cost_of(prompts, budget_tokens=record.budget_tokens)


def measure() -> Figures:
    figures: Figures = {}
    with temporary_site():
        site = Site(Records.read(EXAMPLE))
        for name, questions in DIALOGUES.items():
            for window in WINDOWS:
                cost = hold(site, questions, context_window=window)
                figures[f"{name} questions at {window:,} tokens"] = asdict(cost) | {"saved": cost.saved}
    return figures


def report(figures: Figures) -> None:
    for name, cost in figures.items():
        refused = f"; {cost['refused']} of {cost['requests']} requests would not fit" if cost["refused"] else ""
        print(
            f"{name:<34}{cost['sent']:>7,} tokens instead of {cost['resent']:>7,}: {cost['saved']:.0%} saved{refused}"
        )


if __name__ == "__main__":
    run_benchmark("Hold dialogues about the example.", measure, report)

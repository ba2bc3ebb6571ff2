"""Conversations replayed with one window policy, a request at every user message, and what their input came to."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conversations.core.errors import PromptError
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.prompt.messages import PromptMessage
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.core.window.budget import LanguageModel
from conversations.core.window.compute_window import Turn, Window, compute_window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import WindowPolicy
from conversations.providers.tokens.tokenizer import count_text
from tests.benchmarks._openai_conversations import Conversation
from tests.benchmarks._prefix_cache import cached_tokens
from tests.benchmarks._two_people import SENTENCE_WORDS, text_of

# Only a policy's cap limits these windows.
LANGUAGE_MODEL = LanguageModel("gpt-4o", 1_000_000_000, 1, "o200k_base")
COUNT = count_text(LANGUAGE_MODEL.encoding)
FOUND = 200
PASSAGE_CHARACTERS = 400
MESSAGES_A_DAY = 9
BEGAN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
BLOCK_FRAME_TOKENS = 40  # what the product writes around a passage, and a little more


@dataclass(slots=True)
class Bill:
    """What one policy's requests came to, in tokens; *refused* are those whose newest message did not fit."""

    requests: int = 0
    refused: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    older_tokens: int = 0
    block_tokens: int = 0
    recalled_tokens: int = 0

    def add(self, window: Window, previous: Window | None) -> None:
        self.requests += 1
        self.input_tokens += window.record.prompt_tokens
        self.cached_tokens += cached_tokens(window, previous)
        self.older_tokens += window.record.parts["older"]
        self.block_tokens += window.record.grounding.tokens
        self.recalled_tokens += window.record.recall.tokens


def replay(conversations: Iterable[Conversation], policy: WindowPolicy, *, block_tokens: int = 0) -> Bill:
    """Return what the conversations come to, each request with a looked-up block of about *block_tokens*."""
    bill = Bill()
    for number, conversation in enumerate(conversations):
        previous = None
        for window in windows(conversation, policy, blocks(block_tokens, seed=number), seed=number):
            if window:
                bill.add(window, previous)
                previous = window
            else:
                bill.refused += 1
    return bill


def windows(
    conversation: Conversation, policy: WindowPolicy, groundings: Iterator[Sequence[PromptPassage]], *, seed: int = 0
) -> Iterator[Window | None]:
    """Yield the window of every request, each beginning where the last one says; None where it can't be sent.

    As much is recalled as the policy has room for, of messages chosen by chance: another choice for every request.
    """
    history = stored(conversation)
    anchor, randomly = None, random.Random(seed)
    for newest in history:
        if newest.message.role != "user":
            continue
        try:
            window = compute_window(
                Turn(
                    newest,
                    conversation.system_prompt,
                    grounding=next(groundings),
                    recalled=found_by_chance(history[: newest.position], randomly) if policy.recall_share else None,
                ),
                (history[position] for position in range(newest.position - 1, -1, -1)),
                language_model=LANGUAGE_MODEL,
                policy=policy,
                count_text=COUNT,
                anchor=anchor,
            )
        except PromptError:
            yield None
        else:
            anchor = window.record.first_position
            yield window


def found_by_chance(history: Sequence[HistoryMessage], randomly: random.Random) -> list[RecalledPassage]:
    """Return the beginnings of some older messages as passages, more than fit."""
    chosen = randomly.sample(history, min(len(history), FOUND))
    return [_beginning(message, rank) for rank, message in enumerate(chosen)]


def _beginning(message: HistoryMessage, rank: int) -> RecalledPassage:
    content = message.message.content
    text = content[:PASSAGE_CHARACTERS]
    return RecalledPassage(
        message=message.position,
        position=message.position,
        role=message.message.role,
        name=None,
        text=text,
        start=0,
        end=len(text),
        is_whole=text == content,
        tokens=COUNT(text),
        session=message.position // MESSAGES_A_DAY,
        at=BEGAN + dt.timedelta(days=message.position // MESSAGES_A_DAY),
        score=-rank,
        why=(),
    )


def stored(conversation: Conversation) -> list[HistoryMessage]:
    """Return the messages as they lie in the database: each counted once."""
    return [
        HistoryMessage(position, PromptMessage(said.role, said.content), COUNT(said.content))
        for position, said in enumerate(conversation.messages)
    ]


def blocks(tokens: int, *, seed: int) -> Iterator[Sequence[PromptPassage]]:
    """Yield for every request what was looked up for it, never the same twice; nothing if there are no *tokens*."""
    randomly = random.Random(seed)
    words = int((tokens - BLOCK_FRAME_TOKENS) * SENTENCE_WORDS / (SENTENCE_WORDS + 1))  # a sentence has a full stop
    while True:
        yield [PromptPassage(text_of(words, randomly), "a document")] if words > 0 else []

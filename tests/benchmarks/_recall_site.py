"""A site with the conversations of a file, that is asked which messages it would send. Import when Django is set up."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple
from unittest import mock

from django.db import connection

from chatsite.accounts.models import User
from conversations.core.window.policies import SlidingWindow
from conversations.core.window.window_record import WindowRecord
from conversations.grounding.recall.meaning import QuestionVector
from conversations.grounding.recall.question_terms import says_something
from conversations.grounding.recall.recall_passages import recall_passages
from conversations.models import Conversation, Message
from conversations.providers.catalog.embedding_models import embedding_model
from conversations.providers.clients.client_pool import close_clients
from conversations.runs.message_indexer import embed_next_batch
from conversations.services.grounding.embed_texts import embed_texts
from conversations.services.grounding.recall import recall_for_draft
from conversations.services.message_index.index_messages import index_batch
from conversations.services.messages import estimate_draft as estimating
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.services.portability.chat_history import ChatHistory
from tests.benchmarks._recall_questions import MINUTE, AskedConversation, DatedMessage, EvidenceQuestion, holds_evidence

DATE_MESSAGES = """
UPDATE conversations_message SET created_at = said.at
FROM unnest(%(ids)s::bigint[], %(times)s::timestamptz[]) AS said (id, at) WHERE conversations_message.id = said.id
"""


class Answered(NamedTuple):
    """How a question fared at one budget: the share of its evidence in the window, and the tokens recalled for it."""

    evidence_share: float
    recalled_tokens: int
    prompt_tokens: int


@dataclass(slots=True)
class Embedder:
    """Gets vectors where an embeddings model is configured, all in one event loop and without a limit of time."""

    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    vectors: dict[tuple[int, str], QuestionVector] = field(default_factory=dict)

    def embed_messages(self) -> None:
        """Get all that are missing."""
        model = embedding_model()
        while model and self.runner.run(embed_next_batch(model)):
            pass

    def embed_question(self, conversation: Conversation, content: str) -> QuestionVector | None:
        if (model := embedding_model()) is None or not says_something(content):
            return None
        key = conversation.pk, content
        if key not in self.vectors:
            [vector] = self.runner.run(embed_texts([content], user=conversation.owner, conversation=conversation))
            self.vectors[key] = QuestionVector(vector, model.label, model.floor)
        return self.vectors[key]

    def close(self) -> None:
        self.runner.run(close_clients())
        self.runner.close()


@dataclass(slots=True)
class RecallSite:
    """Stores one conversation after another as their owner would import it, and asks its questions on the way."""

    budgets: Sequence[int]
    recall_share: float | None
    indexed_messages: int = 0
    indexing_seconds: float = 0.0
    look_up_seconds: list[float] = field(default_factory=list)
    embedder: Embedder = field(default_factory=Embedder)

    def close(self) -> None:
        self.embedder.close()

    def policy(self, budget: int) -> SlidingWindow:
        if self.recall_share is None:
            return SlidingWindow(cap_tokens=budget)
        return SlidingWindow(cap_tokens=budget, recall_share=self.recall_share)

    def ask_all(
        self, asked: AskedConversation, small_talk: Sequence[str]
    ) -> tuple[list[tuple[EvidenceQuestion, dict[int, Answered]]], list[int]]:
        """Return each question with its answers by budget, and the tokens recalled for each sentence of small talk."""
        stored = StoredConversation(asked, self)
        answers = []
        for question in asked.questions:
            stored.store_until(question.place)
            answers.append((question, {budget: stored.ask(question, budget) for budget in self.budgets}))
        stored.store_until(len(asked.messages))
        chatter = [stored.recalled_tokens(sentence, self.budgets[-1]) for sentence in small_talk]
        return answers, chatter


class StoredConversation:
    """The part of a conversation that is stored so far, with its index of messages up to date."""

    def __init__(self, asked: AskedConversation, site: RecallSite) -> None:
        self._asked = asked
        self._site = site
        self._user = User.objects.create_user(f"{asked.id}@example.org")
        self._history: ChatHistory | None = None
        self._messages: dict[int, DatedMessage] = {}

    def store_until(self, place: int) -> None:
        """Store the messages before *place* that are not stored yet, dated as in the file, and index them."""
        fresh = self._asked.messages[len(self._messages) : place]
        if not fresh:
            return
        ids = self._store(fresh)
        with connection.cursor() as cursor:
            cursor.execute(DATE_MESSAGES, {"ids": ids, "times": [message.at for message in fresh]})  # type: ignore[arg-type]
        self._messages.update(zip(ids, fresh, strict=True))
        began = time.perf_counter()
        while index_batch(self._history.conversation.pk):
            pass
        self._site.indexing_seconds += time.perf_counter() - began
        self._site.indexed_messages += len(fresh)
        self._site.embedder.embed_messages()

    def _store(self, fresh: Sequence[DatedMessage]) -> list[int]:
        if self._history is None:
            messages = [{"role": each.role, "content": each.content, "name": each.name} for each in fresh]
            self._history = ChatHistory.from_openai(user=self._user, messages=messages)
            stored = Message.objects.filter(conversation=self._history.conversation).order_by("position")
            return list(stored.values_list("pk", flat=True))
        return [self._history.add(each.role, each.content, name=each.name or None).pk for each in fresh]

    @property
    def conversation(self) -> Conversation:
        if self._history is None:
            raise ValueError("nothing is stored yet")
        return Conversation.objects.select_related("owner", "scenario", "head").get(pk=self._history.conversation.pk)

    def ask(self, question: EvidenceQuestion, budget: int) -> Answered:
        record = self._record(question.text, budget)
        if record is None:
            return Answered(0.0, 0, 0)
        spans = defaultdict(list)
        for message, start, end in _spans(record):
            spans[message].append((start, end))
        held = {self._messages[key].id for key, found in spans.items() if holds_evidence(self._messages[key], found)}
        evidence = set(question.evidence)
        share = len(evidence & held) / len(evidence) if evidence else 1.0
        return Answered(share, record.recall.tokens, record.prompt_tokens)

    def recalled_tokens(self, content: str, budget: int) -> int:
        record = self._record(content, budget)
        return record.recall.tokens if record else 0

    def _record(self, content: str, budget: int) -> WindowRecord | None:
        """Return the record of the window in which *content* would be sent; None if it does not fit.

        It is asked a minute after the last message: days that a question names are told from then.
        """
        conversation, asked_at = self.conversation, self._last_at + MINUTE
        find = partial(recall_passages, vector=self._site.embedder.embed_question(conversation, content))
        with (
            mock.patch("django.utils.timezone.now", return_value=asked_at),
            mock.patch.object(estimating, "recall_for_draft", partial(recall_for_draft, find=find)),
        ):
            estimate = estimate_draft(
                user=self._user,
                conversation=conversation,
                content=content,
                policy=self._site.policy(budget),
                with_recall=True,
            )
        if not estimate.window:
            return None
        record = estimate.window.record
        if record.recall.is_looked_up:
            began = time.perf_counter()
            limit_tokens, first = record.recall.limit_tokens, record.first_position
            find(conversation.pk, content, before_position=first, now=asked_at, limit_tokens=limit_tokens)
            self._site.look_up_seconds.append(time.perf_counter() - began)
        return record

    @property
    def _last_at(self) -> dt.datetime:
        return self._asked.messages[len(self._messages) - 1].at


def _spans(record: WindowRecord) -> Iterator[tuple[int, int, int]]:
    """Yield the messages that a window holds, and from which character to which."""
    for entry in record.entries:
        if entry.kind in ("older", "pin") and entry.message is not None:
            yield entry.message, 0, 1 << 40
    for recalled in record.recall.included:
        yield recalled.message, recalled.start, recalled.end

"""Documents and questions about them, and how well the documents that answer are found: on the real site."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DIMENSIONS = 512
GRAM_CHARACTERS = (3, 4, 5)
EMBEDDING_FLOOR = 0.12
# Words that every sentence has: without them the n-grams of a question would be those of any other question.
EMPTY_WORDS = frozenset(
    """
    a about and any anything are at be by can do does for from have how i in is it me my of ok on one or show some
    something that the there to was what when where which who with you
    """.split()  # noqa: SIM905  # fifty quoted words are no easier to read
)
Embed = Callable[..., Awaitable[list[list[float]]]]


@dataclass(frozen=True, slots=True)
class Question:
    """*relevant* are the ids of the records that answer it; none, and finding nothing is right."""

    text: str
    relevant: frozenset[str]
    kind: str


@dataclass(frozen=True, slots=True)
class Records:
    """Records as JSON, with their ids; of some that say the *same* any one is as good as the first."""

    rows: Sequence[Mapping[str, Any]]
    same: Mapping[str, str]
    questions: Sequence[Question]

    @classmethod
    def read(cls, path: Path) -> Records:
        """Read `{"documents": [{"id", …}] or a path from here, "same": [[id, …]], "questions": [{"question", …}]}`."""
        data = json.loads(path.read_text(encoding="utf-8"))
        rows = data["documents"]
        if isinstance(rows, str):
            rows = json.loads(Path(rows).read_text(encoding="utf-8"))
        same = {other: group[0] for group in data.get("same", ()) for other in group}
        return cls(rows, same, [cls._question(each, same) for each in data["questions"]])

    @staticmethod
    def _question(stored: Mapping[str, Any], same: Mapping[str, str]) -> Question:
        relevant = frozenset(same.get(id_, id_) for id_ in stored["relevant"])
        return Question(stored["question"], relevant, stored.get("kind", "question"))


@dataclass(frozen=True, slots=True)
class Quality:
    """How well *questions* with an answer were answered, and how many of those *without* one found nothing."""

    questions: int
    recall: Mapping[int, float]
    reciprocal_rank: float
    without: int
    nothing_found: float


def vector_of(text: str) -> list[float]:
    """Return a vector for *text* that knows nothing of any data: a random direction for each n-gram of its words."""
    total = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.casefold()):
        if word in EMPTY_WORDS:
            continue
        for gram in _grams(f" {word} "):
            for place, sign in _direction(gram):
                total[place] += sign
    length = math.sqrt(sum(value * value for value in total)) or 1.0
    return [value / length for value in total]


def _grams(word: str) -> set[str]:
    return {word[at : at + size] for size in GRAM_CHARACTERS for at in range(max(1, len(word) - size + 1))}


def _direction(gram: str) -> list[tuple[int, float]]:
    """Return a few places with their signs, always the same ones for a gram."""
    chance = random.Random(hashlib.sha256(gram.encode()).digest())
    return [(chance.randrange(DIMENSIONS), chance.choice((-1.0, 1.0))) for _ in range(4)]


async def embed(texts: Sequence[str], **_payer: object) -> list[list[float]]:
    """Stand for the embeddings model."""
    return [vector_of(text) for text in texts]


class Site:
    """A site with the records as the document of its conversations, of which anything can be asked."""

    def __init__(self, records: Records) -> None:
        from tests.support.people import post

        self.passages = asyncio.run(_parsed(records.rows))
        self.ids = _ids_of(self.passages, records)
        conversation = self.begin()
        self._reply = post(conversation, "?").reply
        self._store(conversation.scenario)

    def begin(self) -> Any:
        """Return another person's conversation, with the same document."""
        from chatsite.accounts.models import User
        from tests.support.people import begin, make_user

        return begin(make_user(f"person{User.objects.count()}"))

    def _store(self, scenario: Any) -> None:
        from conversations.providers.catalog.embedding_models import embedding_model
        from tests.grounding.documents import store_document

        pairs = [(passage.heading, passage.text) for passage in self.passages]
        model = embedding_model()
        store_document(
            scenario,
            pairs,
            name="records.json",
            vectors=[vector_of(f"{heading}\n{text}") for heading, text in pairs],
            embedding_model=model.label if model else "",
            embedded_count=len(pairs),
            tokens=sum(passage.tokens for passage in self.passages),
        )

    def ask(self, question: str) -> list[str]:
        """Return the ids of the records that were found, best first, each once."""
        from conversations.models import Message
        from conversations.services.grounding.look_up import look_up

        Message.objects.filter(pk=self._reply.parent_id).update(content=question, grounding=[])
        looked_up = asyncio.run(look_up(self._reply.pk, embed=embed))
        assert looked_up is not None
        return list(dict.fromkeys(self.ids[passage.text] for passage in looked_up.passages))


async def _parsed(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    from conversations.parsing.parse import parse_document
    from conversations.parsing.parsed import ParsedPassage, ParsingLimits

    content = json.dumps(rows, ensure_ascii=False).encode()
    limits = ParsingLimits(seconds=60, memory_megabytes=1024)
    parsed = parse_document(content, name="records.json", encoding="o200k_base", limits=limits)
    return [piece async for piece in parsed if isinstance(piece, ParsedPassage)]


def _ids_of(passages: Sequence[Any], records: Records) -> dict[str, str]:
    """Return passage → id of its record. A long record's later passages follow the one that has its id."""
    found, due = {}, iter(str(row["id"]) for row in records.rows)
    current, following = "", next(due, "")
    for passage in passages:
        if following and f"id: {following}" in passage.text.splitlines():
            current, following = following, next(due, "")
        found[passage.text] = records.same.get(current, current)
    return found


def quality(found: Sequence[tuple[Question, Sequence[str]]], *, ranks: Sequence[int]) -> Quality:
    answered = [(question, ids) for question, ids in found if question.relevant]
    without = [ids for question, ids in found if not question.relevant]
    return Quality(
        questions=len(answered),
        recall={rank: _mean([_recall(question, ids, rank) for question, ids in answered]) for rank in ranks},
        reciprocal_rank=_mean([_reciprocal_rank(question, ids) for question, ids in answered]),
        without=len(without),
        nothing_found=_mean([not ids for ids in without]),
    )


def _recall(question: Question, ids: Sequence[str], rank: int) -> float:
    return len(question.relevant.intersection(ids[:rank])) / min(rank, len(question.relevant))


def _reciprocal_rank(question: Question, ids: Sequence[str]) -> float:
    return next((1 / rank for rank, id_ in enumerate(ids, start=1) if id_ in question.relevant), 0.0)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan

"""The client for embeddings: requests of bounded size, one attempt each, and answers that are checked."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from conversations.core.errors import MalformedEmbeddings, MalformedStream
from conversations.core.money.usage import Usage
from conversations.core.window.truncation import characters_that_fit
from conversations.providers.catalog.embedding_models import MOST_DIMENSIONS, ConfiguredEmbeddingModel
from conversations.providers.egress.destinations import named_destination
from conversations.providers.egress.transport import EgressTransport
from conversations.providers.openai_api.provider_connection import ProviderConnection, find_refusal, provider_request_id
from conversations.providers.openai_api.provider_errors import refusal_error
from conversations.providers.openai_api.reported_usage import parse_usage
from conversations.providers.tokens.tokenizer import count_text, is_counted_exactly

# Small: the JSON of a batch is read in one go, and nothing else runs in the process meanwhile.
MOST_TEXTS = 32
MOST_TOKENS = 32_000
MOST_ANSWER_BYTES = 32 * MOST_DIMENSIONS * MOST_TEXTS
CONNECT_SECONDS = 10.0
NUMBERS = frozenset((int, float))  # of JSON; true and false pass for 1 and 0 here, and nowhere else
LARGEST_NUMBER = 3e38  # pgvector keeps single precision

Vector = list[float]


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts that fit the model, and how many *tokens* they are."""

    model: ConfiguredEmbeddingModel
    texts: tuple[str, ...]
    tokens: int

    @property
    def most_tokens(self) -> int:
        """The most that the endpoint may count: no tokenizer makes more of a text than its bytes and a frame."""
        if is_counted_exactly(self.model.name):
            return self.tokens
        return sum(len(text.encode()) + 2 for text in self.texts)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON body."""
        body: dict[str, Any] = {"model": self.model.name, "input": list(self.texts)}
        if self.model.dimensions:
            body["dimensions"] = self.model.dimensions
        return body


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vector of each text, in the order of the texts and all of one length; *usage* if it was reported."""

    vectors: list[Vector]
    usage: Usage | None = None
    provider_request_id: str = ""


def embedding_requests(
    texts: Sequence[str], model: ConfiguredEmbeddingModel, *, longest_tokens: int
) -> Iterator[EmbeddingRequest]:
    """Yield the requests for *texts*, in order. A text above *longest_tokens* is truncated, for its vector alone."""
    count = count_text(model.encoding)
    batch: list[str] = []
    tokens = 0
    for text in texts:
        fitting = text[: characters_that_fit(text, limit_tokens=longest_tokens, count_text=count)]
        added = count(fitting)
        if batch and (len(batch) == MOST_TEXTS or tokens + added > MOST_TOKENS):
            yield EmbeddingRequest(model, tuple(batch), tokens)
            batch, tokens = [], 0
        batch.append(fitting)
        tokens += added
    if batch:
        yield EmbeddingRequest(model, tuple(batch), tokens)


class EmbeddingClient:
    """The embeddings endpoint at *base_url*, which the operator named. Belongs to one event loop."""

    def __init__(self, base_url: str, api_key: str | None, *, timeout_seconds: float) -> None:
        transport = EgressTransport(named_destination(base_url), most_bytes=MOST_ANSWER_BYTES)
        self._timeout_seconds = timeout_seconds
        self._connection = ProviderConnection(
            base_url,
            api_key,
            connect_seconds=min(CONNECT_SECONDS, timeout_seconds),
            http_client=httpx2.AsyncClient(transport=transport, follow_redirects=False, trust_env=False),
        )

    async def embed(self, request: EmbeddingRequest) -> Embeddings:
        """Make one attempt. Raises a `CompletionError`: `MalformedEmbeddings` unless each text got a vector."""
        try:
            with self._connection.translated_errors(lambda: request.texts):
                async with asyncio.timeout(self._timeout_seconds):
                    response = await self._connection.post("/embeddings", request.to_json())
                return await asyncio.to_thread(parse_embeddings, response, count=len(request.texts))
        except MalformedStream as error:
            raise MalformedEmbeddings(detail=error.detail) from error
        except RecursionError as error:
            raise MalformedEmbeddings(detail="the answer is nested too deeply") from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connection.aclose()


def parse_embeddings(response: httpx2.Response, *, count: int) -> Embeddings:
    """Return the vectors of *count* texts. Raises `ValueError` or a `CompletionError`."""
    answer = json.loads(response.content)
    request_id = provider_request_id(response)
    if refusal := find_refusal(answer):
        raise refusal_error(refusal)
    vectors = _vectors(answer, count)
    if any(map(_is_unusable, vectors)) or len({len(vector) for vector in vectors}) != 1:
        detail = f"{count} texts have got vectors that are empty, too long, uneven, or not of finite numbers"
        raise MalformedEmbeddings(detail=detail, request_id=request_id)
    return Embeddings(vectors, _usage(answer), request_id)


def _vectors(answer: object, count: int) -> list[Any]:
    """Return the vectors as they were sent, unchecked, in the order of the texts. Raises `ValueError`."""
    try:
        data = answer["data"]  # type: ignore[index]
        by_index = {each["index"]: each["embedding"] for each in data}
        if len(data) == count:
            return [by_index[index] for index in range(count)]
    except (TypeError, KeyError, AttributeError):
        pass
    raise ValueError(f"{count} texts have not got one vector each")


def _is_unusable(vector: object) -> bool:
    """Tell whether *vector* can't be stored, or has no direction."""
    if not isinstance(vector, list) or len(vector) > MOST_DIMENSIONS or not NUMBERS.issuperset(map(type, vector)):
        return True
    try:
        return not any(vector) or not all(map(math.isfinite, vector)) or max(map(abs, vector)) > LARGEST_NUMBER
    except (TypeError, OverflowError):
        return True


def _usage(answer: Mapping[str, Any]) -> Usage | None:
    """Return the tokens that are reported. There is no output, so its tokens are not reported."""
    reported = answer.get("usage")
    return parse_usage({"completion_tokens": 0, **reported}) if isinstance(reported, Mapping) else None

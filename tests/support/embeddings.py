"""The embeddings of the fake provider. The name of the model chooses what goes wrong; N is a whole number.

| model | what it does |
| --- | --- |
| `words` | a vector of 64 numbers: each word adds 1 where its hash says; texts that share words are similar |
| `words-N` | the same with N numbers |
| `too-few`, `too-many` | a vector less, or more, than texts |
| `uneven` | the last vector is shorter |
| `empty`, `zero`, `nan`, `huge`, `truths`, `texts` | vectors without numbers, of zeros, NaN, 1e39, true, text |
| `no-index` | vectors that do not say whose they are |
| `shuffled` | the vectors of `words` in another order, with their index |
| `no-usage` | `words` without usage |
| `html` | a page |
| `enormous` | an answer that does not end |
| `status-N` | that HTTP status |
| `status-N-times-N` | the same for the first requests, then `words` |
| `limit-N` | OpenAI's refusal if a text has more than N words |
| `grows-after-N` | vectors of 64 numbers for N requests, then of 65 |
| `too-few-after-N` | `words` for N requests, then `too-few` |
| `down-after-N` | `words` for N requests, then status 503 |
| `redirect` | status 307 to the first text |
| `hang` | nothing |
"""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Callable
from typing import Any

DIMENSIONS = 64
Vectors = list[Any]


def embed_words(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a vector in which every word has its place: deterministic, and similar for texts that share words."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [""]:
        vector[zlib.crc32(word.encode()) % dimensions] += 1.0
    return vector


def _data(vectors: Vectors) -> list[dict[str, Any]]:
    return [{"object": "embedding", "index": index, "embedding": each} for index, each in enumerate(vectors)]


SPOILED: dict[str, Callable[[Vectors], Any]] = {
    "too-few": lambda vectors: _data(vectors[:-1]),
    "too-many": lambda vectors: _data([*vectors, vectors[0]]),
    "uneven": lambda vectors: _data([*vectors[:-1], vectors[-1][:-1]]),
    "empty": lambda vectors: _data([[] for _ in vectors]),
    "zero": lambda vectors: _data([[0.0] * DIMENSIONS for _ in vectors]),
    "nan": lambda vectors: _data([[float("nan")] * DIMENSIONS for _ in vectors]),
    "huge": lambda vectors: _data([[1e39] * DIMENSIONS for _ in vectors]),
    "truths": lambda vectors: _data([[True] * DIMENSIONS for _ in vectors]),
    "texts": lambda vectors: _data(["AACAPw==" for _ in vectors]),
    "no-index": lambda vectors: [{"embedding": each} for each in vectors],
    "shuffled": lambda vectors: _data(vectors)[::-1],
    "no-data": lambda vectors: None,
}


async def answer_embeddings(answer: Any, number: int) -> None:
    """Answer the model's request with that *number*."""
    body = answer.exchange.body
    model = after(body["model"], number)
    if match := re.fullmatch(r"status-(\d+)", model):
        await answer.whole(int(match[1]), "application/json", json.dumps({"error": {"message": "as it was told"}}))
    elif model == "hang":
        await asyncio.Event().wait()
    elif model == "html":
        await answer.whole(200, "text/html", "<html><body>Welcome</body></html>")
    elif model == "enormous":
        await _endless(answer)
    elif model == "redirect":
        await answer.whole(307, "text/plain", "", location=body["input"][0])
    elif (match := re.fullmatch(r"limit-(\d+)", model)) and _longest(body["input"]) > int(match[1]):
        message = f"This model's maximum context length is {match[1]} tokens."
        error = {"error": {"message": message, "type": "invalid_request_error", "code": "context_length_exceeded"}}
        await answer.whole(400, "application/json", json.dumps(error))
    else:
        await answer.whole(200, "application/json", json.dumps(_embeddings(body, model)), **{"x-request-id": "req_e"})


def after(model: str, number: int) -> str:
    """Return what the model is at its request with that *number*."""
    if match := re.fullmatch(r"(status-\d+)-times-(\d+)", model):
        return match[1] if number <= int(match[2]) else "words"
    if match := re.fullmatch(r"(grows|too-few|down)-after-(\d+)", model):
        then = {"grows": f"words-{DIMENSIONS + 1}", "too-few": "too-few", "down": "status-503"}[match[1]]
        return "words" if number <= int(match[2]) else then
    return model


def _embeddings(body: dict[str, Any], model: str) -> dict[str, Any]:
    match = re.fullmatch(r"words-(\d+)", model)
    dimensions = int(match[1]) if match else body.get("dimensions", DIMENSIONS)
    vectors = [embed_words(text, dimensions) for text in body["input"]]
    tokens = sum(len(text.split()) for text in body["input"])
    answer = {"object": "list", "model": model, "data": SPOILED.get(model, _data)(vectors)}
    return answer if model == "no-usage" else {**answer, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def _longest(texts: list[str]) -> int:
    return max(len(text.split()) for text in texts)


async def _endless(answer: Any) -> None:
    await answer.head(200, {"content-type": "application/json"})
    while True:
        await answer.raw(b" " * 2**20)
        await asyncio.sleep(0)  # a caller that has left takes everything at once

"""A fake OpenAI-compatible provider on a loopback port; the name of the model chooses what goes wrong.

    with serve_upstream() as upstream:
        client = CompletionClient(upstream.base_url, "sk-test")
        ...
        assert upstream.log()[-1]["ended"] == "disconnected"

or, as a process of its own, `python -m tests.support.upstream --port 24601`. N and MS are whole numbers. One token is
one word with the space before it: `word0 word1 word2`, so what was emitted can be told from what was stored.

| model | what it does |
| --- | --- |
| `ok` | `Hello from the upstream.`, finish reason, usage, `[DONE]` |
| `tokens-N` | N tokens as fast as it can |
| `paced-N-MS` | N tokens, MS milliseconds before each |
| `slow` | 100 tokens, 50 ms before each |
| `endless`, `endless-MS` | a token every 5 ms, or every MS, until the client goes away or POST /release: then its end |
| `held-N` | N tokens as fast as it can, then nothing until POST /release, then its end with usage |
| `drip` | the stream of `ok`, one byte at a time |
| `words-N` | a sentence of N different words |
| `numbered-N` | `Day 1000:` and N words; another number each time, as long as the one before |
| `numbered-held-N` | the same, then nothing until POST /release, then its end with usage |
| `chinese` | a sentence in Chinese |
| `says-HEX` | the text that these hexadecimal digits are in UTF-8, a few characters at a time |
| `echo` | the content of the newest user message |
| `blind` | the same, but refuses pictures with 400; all others refuse a picture without its bytes |
| `status-CODE` | that HTTP status with an error object, e.g. `status-401` |
| `status-CODE-after-N` | the same with `Retry-After: N` |
| `status-CODE-times-N` | the same for the first N requests to this model, then `ok` |
| `html-CODE` | an HTML page with that status; `html-200` too |
| `json-200` | a whole completion as JSON, `stream` ignored |
| `context-400`, `context-400-times-N` | OpenAI's "maximum context length is 4096 tokens" |
| `counts-N` | `ok`; its tokenizer counts N per cent of what o200k_base does |
| `context-limit-N`, `context-limit-N-counts-N` | the same, with a context of N tokens: above it, OpenAI's refusal |
| `context-hang-N` | refuses as `context-limit-N` does; never answers a prompt that fits |
| `context-stream-N` | refuses as `context-limit-N` does, but inside a 200 stream |
| `context-silent-N` | refuses as `context-limit-N` does, but names no number |
| `context-late-N` | N tokens, and then a refusal inside the stream |
| `quota-429` | `insufficient_quota` |
| `leak-401` | an error that quotes the key it was sent |
| `hang-before` | accepts the request and never answers |
| `held-before` | accepts the request and says nothing until POST /release, then answers as `ok` |
| `hang-headers` | answers with headers and then nothing |
| `hang-after-N` | N tokens and then nothing |
| `keepalive-only` | headers and then a comment line every 20 ms |
| `cut-before`, `cut-after-N` | the connection closes in the middle of the body, after N tokens |
| `eof-after-N` | the body ends properly after N tokens, without finish reason and `[DONE]` |
| `no-finish` | `ok` without a finish reason |
| `no-done` | `ok` without `[DONE]` |
| `length`, `filtered` | finish reason `length`, `content_filter` |
| `ends-content_filter`, `ends-max_tokens`, `ends-error`, `ends-SAFETY` | that finish reason, after three tokens |
| `ends-recitation`, `ends-refusal`, `ends-tired` | the same |
| `ends-end_turn`, `ends-STOP`, `ends-eos` | the same |
| `empty-choices` | chunks without choices before, between and after the tokens |
| `no-chunks` | an event stream with `[DONE]` alone |
| `role-only` | a role, null contents, then the end: a reply without text |
| `reasoning` | `reasoning_content` before the text |
| `reasoning-twice` | `reasoning_content` before, in the middle of and after the text, with its tokens in the usage |
| `thinking-held-N` | N thoughts, then nothing until POST /release, then the text |
| `thinking-only-N` | N thoughts, and finish reason `length`, if `max_tokens` is at most N; else the text after them |
| `thinking-strange` | half an emoji in each of two thoughts, a NUL, a surrogate that is alone; then the text |
| `thinking-megabyte` | 1.1 million characters of thoughts, then the text |
| `thinking-cut` | `reasoning_content`, cut before the text |
| `refusal` | text in `refusal` in place of `content` |
| `deep-json-after-N` | N tokens, then 500,000 brackets |
| `bad-json-after-N` | N tokens, then half an object as a line of its own |
| `not-a-chunk` | a token, then a JSON list where a chunk should be |
| `error-in-stream`, `error-in-stream-after-N` | an error object inside the 200 stream |
| `quoted-400`, `quoted-in-stream` | an error that quotes the newest message, as an answer or inside the 200 stream |
| `usage-none`, `usage-each` | no usage at all; usage on every chunk, growing |
| `usage-N-N`, `usage-negative` | usage of N tokens of input and N of output, whatever came; of less than none |
| `huge-line`, `megabytes-N` | one line of a megabyte, most of it in a field that is not known; a delta of N megabytes |
| `event-megabytes-N`, `error-megabytes-N` | an event of N megabytes without an end; a 500 as long |
| `compressed-CODE` | an answer with that status, compressed though that was not asked for |
| `crlf`, `comments` | `ok` with CRLF line ends; with comment lines and event names between |
| `utf8-split` | `naïve 中文 👩‍👩‍👧`, each byte a packet of its own |
| `surrogates` | half an emoji in each of two chunks, a NUL, a surrogate that is alone |
| `duplicate` | every chunk of `tokens-3` twice |
| `tool-calls`, `tool-calls-cut` | a call of `get_time`, its arguments in pieces; the same, cut in the arguments |

Models whose names begin with `tools-` call tools: they stand in `tool_dialogues.py`; those that begin with `thinks-`
demand their reasoning back: `thinking_dialogues.py`; those that begin with `serves-` answer as one kind of server does:
`server_dialogues.py`. POST /v1/responses answers the same over the Responses API, by `responses_wire.py`. POST
/v1/embeddings answers by `embeddings.py`, in which the models of embeddings stand. Its log has no `emitted`.

GET /log lists the requests as JSON, oldest first: model, body, headers, client_port, `emitted` (texts), `called` (tools
with their arguments), `usage` (that a whole stream ended with), `ended` (`open`, `complete`, `cut`, `disconnected`),
`began_at` and `ended_at` in seconds of the Unix clock. POST /reset empties it and forgets how often a `-times-N` model
was asked. POST /release lets all that wait for it end: what has to happen in the middle of a reply happens before that,
on a machine of any speed, while the end of a `paced-N-MS` comes when it comes.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import re
import socket
import threading
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import uvicorn

from tests.support.embeddings import answer_embeddings
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.responses_wire import ResponsesAnswer, read_input
from tests.support.sent_pictures import PICTURE_TOKENS, picture_digests, text_of
from tests.support.server_dialogues import answer_as_server
from tests.support.thinking_dialogues import answer_thinking
from tests.support.tool_dialogues import answer_with_tools
from tests.support.upstream_answer import STREAM_HEADERS, Answer, Exchange

GREETING = ["Hello", " from", " the", " upstream."]
NUMBERS = itertools.count(1_000)


BLIND = "blind"
Fault = Callable[..., Awaitable[None]]
FAULTS: dict[str, Fault] = {}


def fault(name: str) -> Callable[[Fault], Fault]:
    """Register what a model does, under a name in which N stands for a whole number."""

    def register(function: Fault) -> Fault:
        FAULTS[name] = function
        return function

    return register


def fault_of(model: str) -> tuple[Fault, list[Any]] | None:
    """Return the fault that *model* names, with its numbers."""
    if said := re.fullmatch(r"says-([0-9a-f]*)", model):
        return say, [bytes.fromhex(said[1]).decode()]
    for name, function in FAULTS.items():
        if match := re.fullmatch(name.replace("N", r"(\d+)"), model):
            return function, [int(number) for number in match.groups()]
    return None


# Replies that are right, fast and slow


@fault("ok")
async def ok(answer: Answer) -> None:
    await answer.head()
    await answer.chunk({"role": "assistant", "content": ""})
    await answer.texts(GREETING)
    await answer.finish()


@fault("tokens-N")
async def many_tokens(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.tokens(count)
    await answer.finish()


@fault("paced-N-N")
async def paced(answer: Answer, count: int, milliseconds: int) -> None:
    await answer.head()
    await answer.tokens(count, delay_seconds=milliseconds / 1000)
    await answer.finish()


@fault("slow")
async def slow(answer: Answer) -> None:
    await paced(answer, 100, 50)


@fault("endless")
async def endless(answer: Answer) -> None:
    await endless_each(answer, 5)


@fault("endless-N")
async def endless_each(answer: Answer, milliseconds: int) -> None:
    await answer.head()
    for number in itertools.count():
        if answer.exchange.released.is_set():
            break
        await answer.token(number)
        await asyncio.sleep(milliseconds / 1000)
    await answer.finish()


@fault("held-N")
async def held(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.tokens(count)
    await answer.exchange.released.wait()
    await answer.finish()


@fault("held-before")
async def held_before(answer: Answer) -> None:
    await answer.exchange.released.wait()
    await ok(answer)


@fault("words-N")
async def words(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.texts([f" said{'abcdefghij'[number % 10]}" for number in range(count)])
    await answer.finish()


@fault("numbered-N")
async def numbered(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.texts([f"Day {next(NUMBERS)}:", *[" word"] * count])
    await answer.finish()


@fault("numbered-held-N")
async def numbered_held(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.texts([f"Day {next(NUMBERS)}:", *[" word"] * count])
    await answer.exchange.released.wait()
    await answer.finish()


@fault("chinese")
async def chinese(answer: Answer) -> None:
    await answer.head()
    await answer.texts(["用户说火车早上七点开，", "已经预订了两个座位。"])
    await answer.finish()


async def say(answer: Answer, text: str) -> None:
    await answer.head()
    await answer.texts([text[start : start + 7] for start in range(0, len(text), 7)])
    await answer.finish()


@fault(BLIND)
@fault("echo")
async def echo(answer: Answer) -> None:
    await answer.head()
    messages = answer.exchange.body["messages"]
    newest = [text_of(message["content"]) for message in messages if message["role"] == "user"][-1]
    await answer.texts(re.findall(r"\s*\S+", newest))
    await answer.finish()


@fault("length")
async def length(answer: Answer) -> None:
    await answer.head()
    await answer.tokens(3)
    await answer.finish("length")


@fault("filtered")
async def filtered(answer: Answer) -> None:
    await answer.head()
    await answer.tokens(3)
    await answer.finish("content_filter")


FINISHES = (
    "content_filter",
    "max_tokens",
    "error",
    "SAFETY",
    "recitation",
    "refusal",
    "tired",
    "end_turn",
    "STOP",
    "eos",
)


def ending(reason: str) -> Fault:
    async def end(answer: Answer) -> None:
        await answer.head()
        await answer.tokens(3)
        await answer.finish(reason)

    return end


for _reason in FINISHES:
    fault(f"ends-{_reason}")(ending(_reason))


# Refusals


def error_json(status: int, code: str | None = None, message: str = "The upstream failed as it was told to.") -> str:
    return json.dumps({"error": {"message": message, "type": "fake_error", "param": None, "code": code}})


@fault("status-N")
async def status(answer: Answer, code: int) -> None:
    await answer.whole(code, "application/json", error_json(code))


@fault("status-N-after-N")
async def status_with_retry_after(answer: Answer, code: int, seconds: int) -> None:
    await answer.whole(code, "application/json", error_json(code), **{"retry-after": str(seconds)})


@fault("html-N")
async def html(answer: Answer, code: int) -> None:
    await answer.whole(code, "text/html", "<html><body><h1>Bad Gateway</h1>\n<p>data: none</p></body></html>")


@fault("json-200")
async def whole_json(answer: Answer) -> None:
    message = {"role": "assistant", "content": "Hello."}
    reply = {"id": "chatcmpl-fake", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    await answer.whole(200, "application/json", json.dumps(reply))


@fault("context-400")
async def context_too_long(answer: Answer) -> None:
    message = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."
    await answer.whole(400, "application/json", error_json(400, "context_length_exceeded", message))


def count_prompt(body: dict[str, Any], percent: int = 100) -> int:
    """Return the tokens of a prompt in OpenAI's chat format, for a tokenizer that counts *percent* of o200k_base."""
    from conversations.providers.tokens.tokenizer import count_text

    count = count_text("o200k_base")
    tokens = 3 + sum(4 + count(text_of(message["content"])) for message in body["messages"])
    tokens += PICTURE_TOKENS * len(picture_digests(body))
    return -(-tokens * percent // 100)


def refusal_of(answer: Answer, limit: int, percent: int = 100) -> str | None:
    """Count the prompt; return OpenAI's message if it is above the *limit* together with its longest reply."""
    answer.prompt_tokens = prompt = count_prompt(answer.exchange.body, percent)
    reply = answer.exchange.body.get("max_tokens", 0)
    if prompt + reply <= limit:
        return None
    return (
        f"This model's maximum context length is {limit} tokens. However, you requested {prompt + reply} tokens "
        f"({prompt} in the messages, {reply} in the completion). Please reduce the length of the messages."
    )


@fault("counts-N")
async def counts(answer: Answer, percent: int) -> None:
    answer.prompt_tokens = count_prompt(answer.exchange.body, percent)
    await ok(answer)


@fault("context-limit-N")
async def context_limit(answer: Answer, limit: int) -> None:
    await context_limit_and_count(answer, limit, 100)


@fault("context-limit-N-counts-N")
async def context_limit_and_count(answer: Answer, limit: int, percent: int) -> None:
    if message := refusal_of(answer, limit, percent):
        await answer.whole(400, "application/json", error_json(400, "context_length_exceeded", message))
    else:
        await ok(answer)


@fault("context-hang-N")
async def context_limit_and_hang(answer: Answer, limit: int) -> None:
    if message := refusal_of(answer, limit):
        await answer.whole(400, "application/json", error_json(400, "context_length_exceeded", message))
    else:
        await hang()


@fault("context-stream-N")
async def context_limit_in_stream(answer: Answer, limit: int) -> None:
    if message := refusal_of(answer, limit):
        await answer.head()
        await answer.chunk({"role": "assistant", "content": ""})
        await answer.line(f"data: {error_json(400, 'context_length_exceeded', message)}")
        await answer.close()
    else:
        await ok(answer)


@fault("context-silent-N")
async def context_limit_without_numbers(answer: Answer, limit: int) -> None:
    if refusal_of(answer, limit):
        await refuse_without_numbers(answer)
    else:
        await ok(answer)


async def refuse_without_numbers(answer: Answer) -> None:
    await answer.whole(400, "application/json", error_json(400, None, "the input length exceeds the context length"))


@fault("context-late-N")
async def context_limit_too_late(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.tokens(count)
    message = "This model's maximum context length is 2048 tokens."
    await answer.line(f"data: {error_json(400, 'context_length_exceeded', message)}")
    await answer.close()


@fault("quota-429")
async def quota(answer: Answer) -> None:
    message = (
        "You exceeded your current quota, please check your plan and billing details. For more information on this "
        "error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."
    )
    await answer.whole(429, "application/json", error_json(429, "insufficient_quota", message))


@fault("leak-401")
async def leak(answer: Answer) -> None:
    credentials = answer.exchange.headers.get("authorization", "")
    message = f"Incorrect API key provided: {credentials.removeprefix('Bearer ')}."
    await answer.whole(401, "application/json", error_json(401, "invalid_api_key", message))


def quotation(answer: Answer) -> str:
    said = text_of(answer.exchange.body["messages"][-1]["content"])
    return error_json(400, "invalid_value", f"Invalid value for content: {said!r}. It is not allowed here.")


@fault("quoted-400")
async def quote(answer: Answer) -> None:
    await answer.whole(400, "application/json", quotation(answer))


@fault("quoted-in-stream")
async def quote_in_stream(answer: Answer) -> None:
    await answer.head()
    await answer.tokens(1)
    await answer.line(f"data: {quotation(answer)}")
    await answer.close()


@fault("error-in-stream")
async def error_in_stream(answer: Answer) -> None:
    await error_in_stream_after(answer, 2)


@fault("error-in-stream-after-N")
async def error_in_stream_after(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.tokens(count)
    await answer.line('data: {"error": {"message": "Overloaded, try later.", "type": "server_error", "code": 502}}')
    await answer.close()


# Silence


async def hang() -> None:
    await asyncio.Event().wait()


@fault("hang-before")
async def hang_before(answer: Answer) -> None:
    await hang()


@fault("hang-headers")
async def hang_headers(answer: Answer) -> None:
    await answer.head()
    await answer.raw(b": hold on\n\n")
    await hang()


@fault("hang-after-N")
async def hang_after(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.tokens(count)
    await hang()


@fault("keepalive-only")
async def keepalive_only(answer: Answer) -> None:
    await answer.head()
    while True:
        await answer.line(": still here")
        await asyncio.sleep(0.02)


# Ends that are none


@fault("cut-before")
async def cut_before(answer: Answer) -> None:
    await cut_after(answer, 0)


@fault("cut-after-N")
async def cut_after(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.tokens(count)
    await answer.cut()


@fault("eof-after-N")
async def eof_after(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.tokens(count)
    await answer.close()


@fault("no-finish")
async def no_finish(answer: Answer) -> None:
    await answer.head()
    await answer.texts(GREETING)
    await answer.finish(None)


@fault("no-done")
async def no_done(answer: Answer) -> None:
    await answer.head()
    await answer.texts(GREETING)
    await answer.finish(done=False)


# Odd streams


@fault("empty-choices")
async def empty_choices(answer: Answer) -> None:
    await answer.head()
    await answer.chunk(None, prompt_filter_results=[])
    for text in GREETING:
        await answer.chunk({"content": text})
        await answer.chunk(None)
    await answer.finish()


@fault("no-chunks")
async def no_chunks(answer: Answer) -> None:
    await answer.head()
    await answer.line("data: [DONE]")
    await answer.close()


@fault("role-only")
async def role_only(answer: Answer) -> None:
    await answer.head()
    await answer.chunk({"role": "assistant"})
    await answer.chunk({"content": None})
    await answer.finish()


@fault("reasoning")
async def reasoning(answer: Answer) -> None:
    await answer.head()
    await answer.chunk({"content": None, "reasoning_content": "They greet me."})
    await answer.texts(GREETING)
    await answer.finish()


@fault("reasoning-twice")
async def reasoning_twice(answer: Answer) -> None:
    await answer.head()
    for thought, text in [("They greet me. ", "Hello"), ("How do I go on? ", " from"), ("That is all.", "")]:
        await answer.chunk({"reasoning_content": thought})
        await answer.chunk({"content": text})
    await answer.chunk({}, finish="stop")
    await answer.chunk(None, usage=answer.usage() | {"completion_tokens_details": {"reasoning_tokens": 1}})
    await answer.line("data: [DONE]")
    await answer.close()


@fault("thinking-held-N")
async def thinking_held(answer: Answer, count: int) -> None:
    await answer.head()
    await think(answer, count)
    await answer.exchange.released.wait()
    await answer.texts(GREETING)
    await answer.finish()


@fault("thinking-only-N")
async def thinking_only(answer: Answer, count: int) -> None:
    room = answer.exchange.body.get("max_completion_tokens") or answer.exchange.body["max_tokens"]
    await answer.head()
    await think(answer, count)
    if room <= count:
        await answer.finish("length")
    else:
        await answer.texts(GREETING)
        await answer.finish()


async def think(answer: Answer, count: int) -> None:
    for number in range(count):
        await answer.chunk({"reasoning_content": f" thought{number}" if number else "thought0"})


@fault("thinking-strange")
async def thinking_strange(answer: Answer) -> None:
    await answer.head()
    for text in ["A fox \ud83e", "\udd8a ran\x00, ", "alone \udd8a."]:
        await answer.line(f"data: {json.dumps(answer.chunk_json({'reasoning_content': text}))}")
    await answer.texts(GREETING)
    await answer.finish()


@fault("thinking-megabyte")
async def thinking_megabyte(answer: Answer) -> None:
    await answer.head()
    for number in range(11):
        await answer.chunk({"reasoning_content": f"{number}: " + "abcdefghi\n" * 10_000})
    await answer.texts(GREETING)
    await answer.finish()


@fault("thinking-cut")
async def thinking_cut(answer: Answer) -> None:
    await answer.head()
    for _ in range(20):
        await answer.chunk({"content": None, "reasoning_content": "hm "})
    await answer.cut()


@fault("refusal")
async def refusal(answer: Answer) -> None:
    await answer.head()
    await answer.chunk({"content": None, "refusal": "I can't help with that."})
    await answer.finish()


@fault("bad-json-after-N")
async def bad_json(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.tokens(count)
    await answer.line('data: {"choices": [{"delta": {"content": "half')
    await answer.finish()


@fault("deep-json-after-N")
async def deep_json(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.tokens(count)
    await answer.line("data: " + "[" * 500_000)
    await answer.finish()


@fault("not-a-chunk")
async def not_a_chunk(answer: Answer) -> None:
    await answer.head()
    await answer.tokens(1)
    await answer.line("data: [1, 2, 3]")
    await answer.finish()


@fault("usage-none")
async def usage_none(answer: Answer) -> None:
    await answer.head()
    await answer.texts(GREETING)
    await answer.finish(usage=False)


@fault("usage-each")
async def usage_each(answer: Answer) -> None:
    await answer.head()
    for text in GREETING:
        await answer.chunk({"content": text}, usage={"prompt_tokens": 7, "completion_tokens": 1})
    await answer.finish()


@fault("usage-N-N")
async def usage_of(answer: Answer, prompt_tokens: int, completion_tokens: int) -> None:
    await answer.head()
    await answer.texts(GREETING)
    await answer.chunk(None, usage={"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens})
    await answer.finish(usage=False)


@fault("usage-negative")
async def usage_negative(answer: Answer) -> None:
    await usage_of(answer, -1_000_000, -1_000_000)


@fault("huge-line")
async def huge_line(answer: Answer) -> None:
    await answer.head()
    await answer.chunk({"content": "x" * 2_000, "padding": "y" * 1_000_000})
    await answer.finish()


@fault("megabytes-N")
async def megabytes(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.chunk({"content": "far too long " * (count * 1_000_000 // 13)})
    await answer.finish()


@fault("event-megabytes-N")
async def event_without_end(answer: Answer, count: int) -> None:
    await answer.head()
    await answer.raw(b"data: ")
    await megabytes_one_by_one(answer, count)


@fault("error-megabytes-N")
async def long_error(answer: Answer, count: int) -> None:
    await answer.head(500, {"content-type": "application/json"})
    await answer.raw(b'{"error": {"message": "Out of order."}}')
    await megabytes_one_by_one(answer, count)


async def megabytes_one_by_one(answer: Answer, count: int) -> None:
    for _ in range(count):
        await answer.raw(b" " * 1_000_000)
        answer.exchange.emitted.append("a megabyte")
        await asyncio.sleep(0)  # so that it is seen that the client has gone
    await answer.close()


@fault("compressed-N")
async def compressed(answer: Answer, code: int) -> None:
    await answer.head(code, {**STREAM_HEADERS, "content-encoding": "gzip"})
    await answer.raw(gzip.compress(b"data: " + b" " * 50_000_000))
    await answer.close()


@fault("crlf")
async def crlf(answer: Answer) -> None:
    answer.line_end = "\r\n"
    await ok(answer)


@fault("comments")
async def comments(answer: Answer) -> None:
    await answer.head()
    for text in GREETING:
        await answer.raw(b": OPENROUTER PROCESSING\n\nevent: message\nretry: 10\n")
        await answer.chunk({"content": text})
    await answer.finish()


@fault("drip")
async def drip(answer: Answer) -> None:
    answer.raw = byte_by_byte(answer)
    await ok(answer)


@fault("utf8-split")
async def utf8_split(answer: Answer) -> None:
    answer.raw = byte_by_byte(answer)
    await answer.head()
    await answer.texts(["naïve", " 中文", " 👩‍👩‍👧"])
    await answer.finish()


@fault("surrogates")
async def surrogates(answer: Answer) -> None:
    await answer.head()
    for text in ["a\ud83d", "\ude00b", "\x00c", "\ud800 d"]:
        await answer.line(f"data: {json.dumps(answer.chunk_json({'content': text}))}")
    await answer.finish()


def byte_by_byte(answer: Answer) -> Callable[[bytes], Awaitable[None]]:
    raw = answer.raw

    async def send_bytes(content: bytes) -> None:
        for position in range(len(content)):
            await raw(content[position : position + 1])
            await asyncio.sleep(0)

    return send_bytes


@fault("duplicate")
async def duplicate(answer: Answer) -> None:
    await answer.head()
    for number in range(3):
        await answer.chunk({"content": f" word{number}"})
        await answer.chunk({"content": f" word{number}"})
    await answer.finish()


async def call_in_pieces(answer: Answer, arguments: list[str]) -> None:
    function = {"name": "get_time", "arguments": ""}
    await answer.head()
    await answer.chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
    for piece in arguments:
        await answer.chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})


@fault("tool-calls")
async def tool_calls(answer: Answer) -> None:
    await call_in_pieces(answer, ['{"ci', 'ty": ', '"Paris"}'])
    await answer.finish("tool_calls")


@fault("tool-calls-cut")
async def tool_calls_cut(answer: Answer) -> None:
    await call_in_pieces(answer, ['{"ci'])
    await answer.cut()


# The application and its server


class UpstreamApp:
    """The ASGI application; keeps the log."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self._requests: Counter[str] = Counter()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = await read_body(receive)
        if scope["path"].endswith(("/chat/completions", "/embeddings", "/responses")):
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            exchange = Exchange(json.loads(body), headers, scope["client"][1], path=scope["path"])
            await self._complete(exchange, receive, send)
        elif scope["path"] == "/reset":
            self.exchanges.clear()
            self._requests.clear()
            await Answer(Exchange({}, {}), send).whole(200, "application/json", "{}")
        elif scope["path"] == "/release":
            for exchange in self.exchanges:
                exchange.released.set()
            await Answer(Exchange({}, {}), send).whole(200, "application/json", "{}")
        else:
            log = json.dumps([exchange.to_json() for exchange in self.exchanges])
            await Answer(Exchange({}, {}), send).whole(200, "application/json", log)

    async def _complete(self, exchange: Exchange, receive: Any, send: Any) -> None:
        self.exchanges.append(exchange)
        answering = asyncio.create_task(self._answer(exchange, send))
        leaving = asyncio.create_task(wait_for_disconnect(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                exchange.end("disconnected")
                answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering
        finally:
            leaving.cancel()
            exchange.end("disconnected")

    async def _answer(self, exchange: Exchange, send: Any) -> None:
        answer, model = Answer(exchange, send), exchange.model
        self._requests[model] += 1
        if exchange.path.endswith("/embeddings"):
            await answer_embeddings(answer, self._requests[model])
            return
        if exchange.path.endswith("/responses"):
            try:
                exchange.body = read_input(exchange.body)
            except ValueError as error:
                await answer.whole(400, "application/json", error_json(400, "invalid_request_error", str(error)))
                return
            answer = ResponsesAnswer(exchange, send)
        if model.startswith("thinks-"):
            await answer_thinking(answer)
            return
        if model.startswith("serves-"):
            await answer_as_server(answer)
            return
        if model.startswith("tools-"):
            await answer_with_tools_up_to_a_limit(answer)
            return
        if match := re.fullmatch(r"(.+)-times-(\d+)", model):
            model = match[1] if self._requests[model] <= int(match[2]) else "ok"
        if (found := fault_of(model)) is None:
            await answer.whole(404, "application/json", error_json(404, "model_not_found"))
            return
        function, numbers = found
        try:
            seen = picture_digests(exchange.body)
        except ValueError as error:
            await answer.whole(400, "application/json", error_json(400, "invalid_image_url", str(error)))
            return
        if seen and model == BLIND:
            message = "Invalid content type. image_url is only supported by certain models."
            await answer.whole(400, "application/json", error_json(400, "invalid_value", message))
            return
        await function(answer, *numbers)


async def answer_with_tools_up_to_a_limit(answer: Answer) -> None:
    limit = re.fullmatch(r"tools-silent-(\d+)", answer.exchange.model)
    if limit and refusal_of(answer, int(limit[1])):
        await refuse_without_numbers(answer)
    else:
        await answer_with_tools(answer)


async def read_body(receive: Any) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body


async def wait_for_disconnect(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@dataclass(frozen=True)
class Upstream:
    """A running fake provider, seen from the test."""

    address: str

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def log(self) -> list[dict[str, Any]]:
        """Return the requests so far, oldest first."""
        with urllib.request.urlopen(f"{self.address}/log", timeout=PATIENCE_SECONDS) as response:
            return json.load(response)

    def reset(self) -> None:
        urllib.request.urlopen(f"{self.address}/reset", data=b"", timeout=PATIENCE_SECONDS).close()

    def release(self) -> None:
        """Let every request that is held go on to its end."""
        urllib.request.urlopen(f"{self.address}/release", data=b"", timeout=PATIENCE_SECONDS).close()

    def wait_for_requests(self, count: int) -> None:
        """Return once there have been *count* requests."""
        wait_for(lambda: len(self.log()) >= count, f"{count} requests have come")

    def wait_for_more_tokens(self, count: int = 30) -> None:
        """Return once the newest request has emitted *count* more."""
        before = len(self.log()[-1]["emitted"])
        wait_for(lambda: len(self.log()[-1]["emitted"]) >= before + count, f"{count} more tokens have left")

    def wait_until_ended(self) -> dict[str, Any]:
        """Return the newest request once its connection is no longer open."""
        return wait_for(
            lambda: next((newest for newest in self.log()[-1:] if newest["ended"] != "open"), None), "it ended"
        )


def make_server() -> uvicorn.Server:
    # The cuts are meant, so their tracebacks are not worth a line.
    return uvicorn.Server(
        uvicorn.Config(UpstreamApp(), log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    )


def listen(port: int = 0) -> socket.socket:
    """Return a socket that already takes connections, so that no test has to wait for the server."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(2048)
    return listener


@contextmanager
def serve_upstream() -> Iterator[Upstream]:
    """Serve the fake provider in a thread of this process."""
    server, listener = make_server(), listen()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield Upstream(f"http://127.0.0.1:{listener.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(timeout=5)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve the fake provider.")
    parser.add_argument("--port", type=int, default=0)
    own = listen(parser.parse_args().port)
    print(f"http://127.0.0.1:{own.getsockname()[1]}/v1", flush=True)
    make_server().run(sockets=[own])

import asyncio
import weakref
from contextlib import AsyncExitStack, aclosing

import pytest

from conversations.core import errors
from conversations.core.money.usage import Usage
from conversations.core.prompt.messages import PromptMessage
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.completion_stream import CompletionEnd, TextDelta, ToolCallDelta
from conversations.services.replies.complete_step import follow_completion
from conversations.services.replies.step_progress import StepProgress

from .conftest import IMPATIENT, PROMPT


def text_of(events):
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def fail(client, language_model):
    """Return the text so far and the error of a request that fails."""
    events = []

    async def read_all():
        async for event in client.stream(CompletionRequest(language_model, PROMPT)):
            events.append(event)

    with pytest.raises(errors.CompletionError) as failure:
        await read_all()
    return text_of(events), failure.value


async def test_a_reply_comes_in_pieces_and_ends_with_its_usage(ask):
    *pieces, end = await ask("ok")

    assert "".join(piece.text for piece in pieces) == "Hello from the upstream."
    assert end == CompletionEnd("stop", Usage(2, 4, cached_input_tokens=1), "req_fake", "ok")


async def test_one_call_is_exactly_one_request_even_when_it_fails(ask, upstream):
    upstream.reset()
    with pytest.raises(errors.ProviderUnavailable):
        await ask("status-500")

    assert len(upstream.log()) == 1


@pytest.mark.parametrize(
    ("language_model", "text", "finish_reason"),
    [
        ("tokens-3", "word0 word1 word2", "stop"),
        ("length", "word0 word1 word2", "length"),
        ("filtered", "word0 word1 word2", "content_filter"),
        ("empty-choices", "Hello from the upstream.", "stop"),
        ("no-done", "Hello from the upstream.", "stop"),
        ("crlf", "Hello from the upstream.", "stop"),
        ("comments", "Hello from the upstream.", "stop"),
        ("drip", "Hello from the upstream.", "stop"),
        ("reasoning", "Hello from the upstream.", "stop"),
        ("utf8-split", "naïve 中文 👩‍👩‍👧", "stop"),
        ("refusal", "I can't help with that.", "stop"),
        ("role-only", "", "stop"),
        ("huge-line", "x" * 2_000, "stop"),
        ("duplicate", " word0 word0 word1 word1 word2 word2", "stop"),
        ("usage-none", "Hello from the upstream.", "stop"),
        # never "complete":
        ("no-finish", "Hello from the upstream.", None),
        ("eof-after-2", "word0 word1", None),
    ],
)
async def test_odd_streams_are_read(ask, language_model, text, finish_reason):
    events = await ask(language_model)

    assert (text_of(events), events[-1].finish_reason) == (text, finish_reason)


async def test_a_provider_that_reports_no_usage_leaves_it_open(ask):
    assert (await ask("usage-none"))[-1].usage is None


async def test_a_tool_call_is_put_together_from_its_pieces(ask):
    *pieces, end = await ask("tool-calls")

    assert pieces[0] == ToolCallDelta(0, "call_1", "get_time", "")
    assert "".join(piece.arguments for piece in pieces) == '{"city": "Paris"}'
    assert end.finish_reason == "tool_calls"


@pytest.mark.parametrize("language_model", ["quoted-400", "quoted-in-stream"])
async def test_an_error_that_quotes_what_was_sent_keeps_no_word_of_it(client, language_model):
    said = "Dear diary, today I told my sister a secret."
    request = CompletionRequest(language_model, (PromptMessage("system", "Be kind."), PromptMessage("user", said)))
    with pytest.raises(errors.CompletionError) as failure:
        [event async for event in client.stream(request)]

    assert failure.value.detail.endswith("Invalid value for content: '…'. It is not allowed here.")


@pytest.mark.parametrize(
    ("language_model", "error", "text"),
    [
        ("status-401", errors.CredentialsRejected, ""),
        ("status-403", errors.CredentialsRejected, ""),
        ("status-404", errors.LanguageModelNotFound, ""),
        ("no-such-model", errors.LanguageModelNotFound, ""),
        ("status-422", errors.ProviderRejected, ""),
        ("status-302", errors.ProviderRejected, ""),
        ("quota-429", errors.QuotaExhausted, ""),
        ("context-400", errors.ContextTooLong, ""),
        ("status-503", errors.ProviderUnavailable, ""),
        ("html-502", errors.ProviderUnavailable, ""),
        ("html-200", errors.MalformedStream, ""),
        ("json-200", errors.MalformedStream, ""),
        ("no-chunks", errors.StreamBroken, ""),
        ("cut-before", errors.StreamBroken, ""),
        ("cut-after-2", errors.StreamBroken, "word0 word1"),
        ("error-in-stream", errors.ProviderUnavailable, "word0 word1"),
        ("bad-json-after-2", errors.MalformedStream, "word0 word1"),
        ("deep-json-after-2", errors.MalformedStream, "word0 word1"),
        ("not-a-chunk", errors.MalformedStream, "word0"),
    ],
)
async def test_what_fails_keeps_the_text_so_far(client, language_model, error, text):
    said, failure = await fail(client, language_model)

    assert (type(failure), said) == (error, text)
    assert failure.detail


@pytest.mark.parametrize(
    ("language_model", "text"),
    [
        ("hang-before", ""),
        ("hang-headers", ""),
        ("keepalive-only", ""),
        ("hang-after-2", "word0 word1"),
        ("slow", "word0 word1"),
    ],
)
async def test_no_one_waits_for_ever(upstream, language_model, text):
    client = CompletionClient(upstream.base_url, None, timeouts=IMPATIENT)
    said, failure = await fail(client, language_model)
    await client.aclose()

    assert type(failure) is errors.ProviderTimedOut
    assert said.startswith(text)


@pytest.mark.parametrize(
    ("language_model", "error"),
    [("event-megabytes-100", errors.MalformedStream), ("error-megabytes-100", errors.ProviderUnavailable)],
)
async def test_what_has_no_end_is_not_read_to_its_end(client, upstream, language_model, error):
    """The megabytes that the provider could send: ours, and those that the sockets between hold."""
    _, failure = await fail(client, language_model)
    exchange = await asyncio.to_thread(upstream.wait_until_ended)

    assert (type(failure), exchange["ended"]) == (error, "disconnected")
    assert len(exchange["emitted"]) < 40


@pytest.mark.parametrize(
    ("language_model", "error"),
    [("compressed-200", errors.MalformedStream), ("compressed-500", errors.ProviderUnavailable)],
)
async def test_a_compressed_answer_is_not_asked_for_and_refused(client, upstream, language_model, error):
    _, failure = await fail(client, language_model)

    assert type(failure) is error
    assert ("AnswerCompressed" in failure.detail) == (error is errors.MalformedStream)
    assert upstream.log()[-1]["headers"]["accept-encoding"] == "identity"


async def test_the_limit_that_the_provider_names_is_read(ask):
    with pytest.raises(errors.ContextTooLong) as failure:
        await ask("context-400")

    assert failure.value.limit_tokens == 4_096


async def test_the_time_to_wait_is_handed_on(ask):
    with pytest.raises(errors.RateLimited) as failure:
        await ask("status-429-after-2")

    assert failure.value.retry_after_seconds == 2


@pytest.mark.parametrize(
    ("base_url", "error"),
    [
        ("http://127.0.0.1:9/v1", errors.ProviderUnavailable),
        ("ftp://127.0.0.1/v1", errors.ProviderRejected),
    ],
)
async def test_a_provider_that_is_not_there_is_a_typed_error(base_url, error):
    client = CompletionClient(base_url, None)
    with pytest.raises(errors.CompletionError) as failure:
        await anext(client.stream(CompletionRequest("ok", PROMPT)))
    await client.aclose()

    assert type(failure.value) is error


async def test_a_lone_surrogate_is_refused_and_not_an_accident(client):
    request = CompletionRequest("ok", (PromptMessage("user", "a\ud800b"),))

    with pytest.raises(errors.ProviderRejected):
        await anext(client.stream(request))


@pytest.mark.parametrize("language_model", ["slow", "endless", "hang-after-1"])
async def test_closing_the_iterator_closes_the_connection_at_once(upstream, language_model):
    client = CompletionClient(upstream.base_url, "sk-test")
    async with aclosing(client.stream(CompletionRequest(language_model, PROMPT))) as events:
        await anext(events)
    exchange = await asyncio.to_thread(upstream.wait_until_ended)
    await client.aclose()

    assert exchange["ended"] == "disconnected"


@pytest.mark.parametrize("language_model", ["hang-before", "hang-headers", "hang-after-1", "endless"])
async def test_cancelling_the_task_closes_the_connection_at_once(upstream, language_model):
    client = CompletionClient(upstream.base_url, "sk-test")

    async def read_all():
        async with aclosing(client.stream(CompletionRequest(language_model, PROMPT))) as events:
            async for _ in events:
                pass

    task = asyncio.create_task(read_all())
    await asyncio.to_thread(upstream.wait_for_requests, len(upstream.log()) + 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    exchange = await asyncio.to_thread(upstream.wait_until_ended)
    await client.aclose()

    assert exchange["ended"] == "disconnected"


class Pictures(dict):
    """Pictures by their digests, of which a test can tell whether they are still in memory."""


async def test_the_pictures_that_were_sent_are_not_kept_while_the_reply_streams(client):
    def request():
        pictures = Pictures({"0" * 64: "data:image/png;base64,AAAA"})
        sent.append(weakref.ref(pictures))
        return CompletionRequest("ok", PROMPT, data_urls=pictures)

    sent, kept = [], []

    class Sink:
        def append(self, text):
            kept.append(sent[0]())

        def end_attempt(self, *, reasoning_tokens):
            pass

    progress = StepProgress()
    await follow_completion(request(), progress, Sink(), client)

    assert str(progress.text) == "Hello from the upstream."
    assert set(kept) == {None}


async def test_a_finished_reply_leaves_its_connection_for_the_next(upstream, ask):
    upstream.reset()
    for _ in range(3):
        await ask("ok")

    assert len({exchange["client_port"] for exchange in upstream.log()}) == 1


async def test_more_replies_than_the_transports_default_pool_run_side_by_side(upstream):
    client = CompletionClient(upstream.base_url, None)
    async with AsyncExitStack() as open_streams:
        for _ in range(150):
            stream = client.stream(CompletionRequest("hang-after-1", PROMPT))
            events = await open_streams.enter_async_context(aclosing(stream))
            assert await anext(events) == TextDelta("word0")
    await client.aclose()


async def test_no_key_is_in_any_error(upstream):
    key = "canary-key-without-prefix"
    client = CompletionClient(upstream.base_url, key)
    with pytest.raises(errors.CompletionError) as failure:
        await anext(client.stream(CompletionRequest("leak-401", PROMPT)))
    await client.aclose()

    assert key not in failure.value.detail + str(failure.value) + repr(client)

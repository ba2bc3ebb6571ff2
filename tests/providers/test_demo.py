import asyncio
import time
from contextlib import aclosing

import pytest

from conversations.core import errors
from conversations.core.prompt.messages import PromptMessage
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.demo import DEMO_BASE_URL, DEMO_LANGUAGE_MODELS, demo_http_client
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.completion_stream import ReasoningDelta
from conversations.providers.tokens.tokenizer import count_prompt, count_text

DEMO = DEMO_LANGUAGE_MODELS[0]


def make_client(tokens_per_second=0):
    return CompletionClient(DEMO_BASE_URL, None, http_client=demo_http_client(tokens_per_second=tokens_per_second))


async def ask(question, *, client=None, language_model=DEMO.name, **fields):
    request = CompletionRequest(language_model, (PromptMessage("user", question),), **fields)
    *pieces, end = [event async for event in (client or make_client()).stream(request)]
    return "".join(piece.text for piece in pieces), end


async def test_usage_is_exactly_what_was_read_and_written():
    text, end = await ask("count to 30")
    prompt = (PromptMessage("user", "count to 30"),)

    assert end.finish_reason == "stop"
    assert end.usage.input_tokens == count_prompt(prompt, language_model=DEMO)
    assert end.usage.output_tokens == count_text(DEMO.encoding)(text)
    assert (end.provider_request_id, end.language_model) == ("demo", DEMO.name)


async def thoughts(question, effort):
    request = CompletionRequest(DEMO.name, (PromptMessage("user", question),), effort=effort)
    events = [event async for event in make_client().stream(request)]
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))


async def test_it_thinks_as_hard_as_the_effort_says():
    question = "My name is Andrew. I live in Lisbon. I have a boat. It is red. What is my name?"
    low, high = await thoughts(question, "low"), await thoughts(question, "high")
    assert 0 < low.count("\n") < high.count("\n")
    assert await thoughts(question, "") == await thoughts(f"Think about it: {question}", "none") == ""


@pytest.mark.parametrize("limit_tokens", [1, 7, 20])
@pytest.mark.parametrize("question", ["count to 1000", "数到 1000", "讲一个故事", "/markdown"])
async def test_a_reply_ends_at_its_limit(question, limit_tokens):
    text, end = await ask(question, max_output_tokens=limit_tokens)

    assert end.finish_reason == "length"
    assert 0 < count_text(DEMO.encoding)(text) <= limit_tokens


async def test_what_is_cut_is_the_beginning_of_the_whole():
    whole, _ = await ask("tell me a long story")
    cut, _ = await ask("tell me a long story", max_output_tokens=50)

    assert whole.startswith(cut)


async def test_a_prompt_over_the_window_is_refused_as_openai_does():
    with pytest.raises(errors.ContextTooLong) as failure:
        await ask("word " * 5_000)

    assert failure.value.limit_tokens == DEMO.context_window_tokens


async def test_the_reply_is_part_of_the_window():
    filler = "word " * 3_500
    await ask(filler, max_output_tokens=500)

    with pytest.raises(errors.ContextTooLong):
        await ask(filler, max_output_tokens=700)


async def test_the_larger_window_takes_more():
    text, _ = await ask("word " * 5_000 + "?", language_model="windowseat-demo-32k")

    assert text


async def test_another_model_is_not_known():
    with pytest.raises(errors.LanguageModelNotFound):
        await ask("hi", language_model="gpt-4o")


async def test_the_pace_is_a_persons():
    began = time.monotonic()
    _, end = await ask("count to 20", client=make_client(tokens_per_second=200))
    seconds = time.monotonic() - began

    assert end.usage.output_tokens / seconds < 220


async def test_what_is_asked_for_slowly_takes_its_time():
    began = time.monotonic()
    _, end = await ask("count slowly to 5", client=make_client(tokens_per_second=0))
    seconds = time.monotonic() - began

    assert end.usage.output_tokens / seconds < 22


async def test_it_can_be_stopped_in_the_middle():
    client = make_client(tokens_per_second=100)
    request = CompletionRequest(DEMO.name, (PromptMessage("user", "count to 5000"),))
    async with aclosing(client.stream(request)) as events:
        await anext(events)
        await anext(events)

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_asking_for_no_usage_gives_none():
    body = {"model": DEMO.name, "messages": [{"role": "user", "content": "hi"}], "stream": True}
    async with demo_http_client(tokens_per_second=0) as client:
        response = await client.post(f"{DEMO_BASE_URL}/chat/completions", json=body)

    assert '"usage"' not in response.text
    assert response.text.endswith("data: [DONE]\n\n")


CALCULATOR = {
    "type": "function",
    "function": {
        "name": "calculator",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
    },
}


async def stream(question, **fields):
    request = CompletionRequest(DEMO.name, (PromptMessage("user", question),), tools=[CALCULATOR], **fields)
    *pieces, end = [event async for event in make_client().stream(request)]
    return pieces, end


async def test_calls_are_streamed_with_their_arguments_in_pieces():
    pieces, end = await stream("What is 17 × 23?")

    assert (pieces[0].name, pieces[0].index, end.finish_reason) == ("calculator", 0, "tool_calls")
    assert "".join(piece.arguments for piece in pieces) == '{"expression": "17 * 23"}'
    assert len(pieces) > 3


async def test_usage_has_the_schemas_and_the_calls():
    pieces, end = await stream("What is 17 × 23?")
    prompt = (PromptMessage("user", "What is 17 × 23?"),)
    written = pieces[0].name + "".join(piece.arguments for piece in pieces)

    assert end.usage.input_tokens == count_prompt(prompt, language_model=DEMO, tools=[CALCULATOR])
    assert end.usage.output_tokens == count_text(DEMO.encoding)(written)


async def test_it_calls_nothing_when_it_may_not():
    pieces, end = await stream("What is 17 × 23?", may_call=False)

    assert end.finish_reason == "stop"
    assert "calculator" in "".join(piece.text for piece in pieces)


async def test_a_call_that_does_not_fit_is_cut():
    _, end = await stream("What is 17 × 23?", max_output_tokens=3)

    assert end.finish_reason == "length"

"""Reasoning that a provider demands back goes back with its step, byte for byte, while the loop lasts and not after."""

from __future__ import annotations

import pytest

from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Message
from conversations.providers.tokens.tokenizer import chat_format
from conversations.selectors.conversations.sent_request import sent_request
from tests.support.people import post
from tests.support.thinking_dialogues import DEMANDED
from tests.support.waiting import in_thread

from .tools import NotedTool

OPTIONS = {"deepseek": "sent_back=reasoning_content", "responses": "wire=responses"}


@pytest.fixture(params=DEMANDED)
def form(request):
    return request.param


async def test_a_loop_goes_on_with_its_reasoning_and_the_next_turn_has_none(talk_to, form):
    talk = await talk_to(f"thinks-{form}", OPTIONS.get(form, ""))
    for question in ("Look around.", "And again?"):
        reply = await talk.ask(question, NotedTool())
        assert (reply.state, reply.content, reply.error_params) == ("complete", "It is done.", {})
    assert [exchange["ended"] for exchange in talk.upstream.log()] == ["complete"] * 4


async def test_each_request_can_be_shown_as_it_was_sent(talk_to, form):
    talk = await talk_to(f"thinks-{form}", OPTIONS.get(form, ""))
    await talk.ask("Look around.", NotedTool())
    await talk.ask("And again?", NotedTool())

    rows = Completion.objects.select_related("system_prompt", "tool_schemas").order_by("id")
    rebuilt = [await in_thread(sent_request, completion) for completion in await in_thread(list, rows)]
    bodies = [exchange["body"] for exchange in talk.upstream.log()]
    field = "input" if form == "responses" else "messages"
    assert all(sent.is_exact for sent in rebuilt)
    assert [sent.body[field] for sent in rebuilt] == [body[field] for body in bodies]
    if field == "messages":  # over the other API the fake provider has put a chat beside what came
        assert [dict(sent.body) for sent in rebuilt] == bodies


async def test_what_goes_back_is_counted(talk_to, form):
    talk = await talk_to(f"thinks-{form}", OPTIONS.get(form, ""))
    reply = await talk.ask("Look around.", NotedTool())

    last = WindowRecord.from_json(await in_thread(lambda: Completion.objects.latest("id").window))
    [step, *_] = [entry for entry in last.entries if entry.kind == "tool_step"]
    stored = await in_thread(Message.objects.get, pk=step.message)
    kept_tokens = step.tokens - stored.content_tokens - chat_format(f"thinks-{form}").overhead_tokens
    assert (kept_tokens > 0) == bool(stored.kept_reasoning) == (form != "plain")
    assert last.prompt_tokens == last.priming_tokens + last.tool_schema_tokens + sum(e.tokens for e in last.entries)
    assert reply.kept_reasoning == ""


async def await_approval(talk):
    """Let a reply call a tool that needs approval, and approve it."""
    tool = NotedTool(needs_approval=True)
    reply = (await in_thread(post, talk.conversation, "Look around.")).reply
    await talk.begin(reply, tool)
    await in_thread(lambda: reply.calls.update(state="ready"))
    return reply, tool


async def test_reasoning_is_kept_while_a_call_awaits_approval(talk_to, form):
    talk = await talk_to(f"thinks-{form}", OPTIONS.get(form, ""))
    reply, tool = await await_approval(talk)
    ended = await talk.end(talk.begin(reply, tool))
    assert (ended.state, ended.content) == ("complete", "It is done.")


async def test_another_model_gets_no_reasoning_of_the_first(talk_to, settings):
    talk = await talk_to("thinks-deepseek", OPTIONS["deepseek"])
    reply, tool = await await_approval(talk)
    settings.LANGUAGE_MODELS = "thinks-plain context_window=16384 encoding=o200k_base input_usd=1 output_usd=2"
    ended = await talk.end(talk.begin(reply, tool))
    assert (ended.state, ended.content) == ("complete", "It is done.")

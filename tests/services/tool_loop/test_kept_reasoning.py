"""Reasoning that a provider demands back goes back with its step, byte for byte, while the loop lasts and not after."""

from __future__ import annotations

import json
import re

import pytest

from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Message
from conversations.providers.catalog.language_models import language_models
from conversations.providers.tokens.tokenizer import chat_format, count_prompt, count_text
from conversations.selectors.conversations.sent_request import sent_request
from conversations.selectors.conversations.window import sent_window
from tests.support.people import post
from tests.support.thinking_dialogues import DEMANDED, HIDDEN
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


@pytest.mark.parametrize(
    ("form", "options", "marks"),
    [
        ("responses", "wire=responses cache_breakpoints=openai", [0, 0, 1, 1]),
        ("plain", "cache_breakpoints=anthropic", [1, 1, 2, 2]),  # of the last tool, and before the second question
    ],
)
async def test_breakpoints_are_taken_and_rebuilt_where_no_system_message_is(talk_to, form, options, marks):
    talk = await talk_to(f"thinks-{form}", options)
    for question in ("Look around.", "And again?"):
        reply = await talk.ask(question, NotedTool(), NotedTool("see"))
        assert (reply.state, reply.error_params) == ("complete", {})
    rows = Completion.objects.select_related("system_prompt", "tool_schemas").order_by("id")
    rebuilt = [await in_thread(sent_request, completion) for completion in await in_thread(list, rows)]
    assert all(sent.is_exact for sent in rebuilt)
    bodies = [exchange["body"] for exchange in talk.upstream.log()]
    assert [_marks(sent.body) for sent in rebuilt] == [_marks(body) for body in bodies] == marks


def _marks(body):
    told = json.dumps([body.get("input") or body["messages"], body["tools"]])
    return told.count('"cache_control"') + told.count('"prompt_cache_breakpoint"')


async def test_the_page_of_a_request_names_its_tools_over_either_api(talk_to, form):
    talk = await talk_to(f"thinks-{form}", OPTIONS.get(form, ""))
    reply = await talk.ask("Look around.", NotedTool(), NotedTool("see"))
    with_question = await in_thread(Message.objects.select_related("parent", "conversation").get, pk=reply.pk)
    assert (await in_thread(sent_window, with_question)).view.tools == ["look", "see"]


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


@pytest.mark.parametrize("options", ["", "wire=responses"])
async def test_an_id_that_hides_a_signature_is_whole_in_the_loop_and_short_where_it_is_stored(talk_to, options):
    talk = await talk_to("thinks-hidden", options)
    for question in ("Look around.", "And again?"):
        reply = await talk.ask(question, NotedTool())
        assert (reply.state, reply.content) == ("complete", "It is done.")
    _, looped, _, last = talk.prompts()
    assert [call["id"] for call in looped[1]["tool_calls"]] == [looped[2]["tool_call_id"]]
    assert looped[1]["tool_calls"][0]["id"].endswith(HIDDEN)
    path = await talk.path()
    stored = [message.tool_call_id for message in path if message.role == "tool"]
    assert len(set(stored)) == 2
    assert all(re.fullmatch(r"call_[0-9a-f]{24}", each) for each in stored)
    assert last[1]["tool_calls"][0]["id"] == last[2]["tool_call_id"] == stored[0]


async def test_the_ids_that_are_sent_are_those_that_are_counted(talk_to):
    talk = await talk_to("thinks-hidden")
    await talk.ask("Look around.", NotedTool())
    completion = await in_thread(Completion.objects.latest, "id")
    record = WindowRecord.from_json(completion.window)
    prompt = (await in_thread(sent_request, completion)).prompt
    schemas = talk.upstream.log()[-1]["body"]["tools"]
    counted = count_prompt(prompt, language_model=language_models()["thinks-hidden"].language_model, tools=schemas)
    assert record.prompt_tokens == counted > 2 * count_text("o200k_base")(HIDDEN)


async def test_reasoning_that_is_too_long_to_be_sent_back_ends_the_reply_without_another_request(talk_to):
    talk = await talk_to("thinks-endlessly", "sent_back=reasoning_content reply_reserve=8192")
    reply = await talk.ask("Look around.", tool := NotedTool())
    assert (reply.state, reply.error_code) == ("failed", "kept_reasoning_too_long")
    assert reply.error_params == {"characters": "1,100,000", "most": "1,000,000"}
    assert (len(talk.upstream.log()), tool.ran, await talk.calls()) == (1, [], [])
    row = await in_thread(Completion.objects.get)
    assert (row.error_code, row.finish_reason) == ("", "tool_calls")


async def test_reasoning_of_any_length_is_no_hindrance_where_it_is_not_demanded_back(talk_to):
    talk = await talk_to("thinks-endlessly", "sent_back=none reply_reserve=8192")
    reply = await talk.ask("Look around.", NotedTool())
    assert (reply.state, reply.content) == ("complete", "It is done.")


async def test_reasoning_that_can_t_be_sent_is_left_out_and_the_loop_goes_on(talk_to):
    talk = await talk_to("thinks-strangely")
    reply = await talk.ask("Look around.", NotedTool())
    assert (reply.state, reply.content, reply.error_code) == ("complete", "It is done.", "")
    assert len(talk.upstream.log()) == 2


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

"""Ten turns with tools and large results, at small language models, against the recording upstream.

Every request body is looked at as it came there, and counted with the tokenizer itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from conversations.core.window.truncation import TRUNCATION_MARK
from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Message, Scenario
from conversations.providers.tokens.tokenizer import count_text
from conversations.selectors.conversations.sent_request import sent_request
from conversations.services.messages.mark_message import pin_message
from tests.runs.conftest import upstream, worker  # noqa: F401  # fixtures
from tests.support.people import begin, make_user, post
from tests.support.tool_dialogues import wrong_with
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
TOOLS = ["search_archive", "megabytes", "take_note"]
OVERHEAD, PRIMING, CALL, SCHEMAS = 5, 5, 3, 22  # of an open model's chat format


def search(topic: str, words: int) -> dict[str, Any]:
    return {"name": "search_archive", "arguments": {"topic": topic, "words": words}}


def note(length: int) -> dict[str, Any]:
    return {"name": "take_note", "arguments": {"note": "so it is " * (length // 9)}}


TURNS = [
    [[search("rivers", 2_000)]],
    [[search("bridges", 300)], [search("tolls", 900), note(50)]],
    [[note(40)]],
    [],
    [[{"name": "megabytes", "arguments": {"count": 10}}]],
    [[search("floods", 60)], [search("dams", 60)], [search("fish", 60)]],
    [[search("boats", 5_000), search("ferries", 5_000), search("rafts", 20)]],
    [[{"name": "no_such_tool", "arguments": {}}], [{"name": "search_archive", "arguments": "{not JSON"}]],
    [[note(900)], [note(900)], [search("mills", 400)]],
    [[search("ports", 100)]],
]


@dataclass
class Talk:
    """A conversation with a worker that makes its replies, and the bodies of all requests for them."""

    conversation: Any
    upstream: Any
    context_window_tokens: int
    grounding: list[dict[str, Any]] = field(default_factory=list)

    async def ask(self, number: int, steps: list[Any]) -> Message:
        """Ask question *number*, for which the language model takes *steps*; return the reply."""
        script = json.dumps({"calls": steps, "answer": f"That is answer {number}."})
        content = f"Question {number}: {script}"
        posted = await in_thread(post, self.conversation, content, grounding=self.grounding)
        ended = Message.objects.filter(pk=posted.reply.pk).exclude(state="streaming")
        return await wait_until(ended.first)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [exchange["body"] for exchange in self.upstream.log()]

    @property
    def completions(self) -> list[Completion]:
        found = Completion.objects.filter(conversation=self.conversation, window__isnull=False)
        return list(found.select_related("system_prompt", "tool_schemas", "reply__parent").order_by("id"))


@pytest.fixture(params=[4096, 2048])
def talk(request, settings, upstream, transactional_db):  # noqa: F811
    upstream.reset()
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = upstream.base_url, "sk-test"
    settings.LANGUAGE_MODELS = f"tools-script context_window={request.param} encoding=o200k_base"
    settings.TOOL_MODULES = ["tests.support.large_results"]
    settings.MESSAGES_PER_MINUTE = 0
    conversation = begin(make_user("alice"))
    Scenario.objects.filter(pk=conversation.scenario_id).update(tools=TOOLS, system_prompt="Be kind.")
    return Talk(conversation, upstream, request.param)


def count(body: dict[str, Any]) -> int:
    """Count a request as it came: messages, calls with their arguments, and the tools' schemas."""
    tokens_in = count_text("o200k_base")
    schemas = json.dumps(body["tools"], sort_keys=True, ensure_ascii=False)
    texts = [text for message in body["messages"] for text in texts_of(message)]
    calls = sum(len(message.get("tool_calls", ())) for message in body["messages"])
    fixed = PRIMING + OVERHEAD * len(body["messages"]) + CALL * calls + SCHEMAS
    return fixed + tokens_in(schemas) + sum(map(tokens_in, texts))


def texts_of(message: dict[str, Any]) -> Iterator[str]:
    yield message["content"]
    yield message.get("tool_call_id", "")
    for call in message.get("tool_calls", ()):
        yield from (call["id"], call["function"]["name"], call["function"]["arguments"])


def question_of(body: dict[str, Any]) -> str:
    return [message["content"] for message in body["messages"] if message["role"] == "user"][-1]


async def check(talk: Talk, asked: list[tuple[str, int]]) -> None:
    """Check all that was sent: *asked* are, for each request in turn, its question and the number of its step."""
    completions = await in_thread(lambda: talk.completions)
    for body, completion, (question, step) in zip(talk.bodies, completions, asked, strict=True):
        record = WindowRecord.from_json(completion.window)
        assert count(body) == record.prompt_tokens == completion.estimated_input_tokens
        assert record.prompt_tokens + body["max_tokens"] <= talk.context_window_tokens
        assert wrong_with(body) is None
        assert question_of(body).endswith(question)
        assert completion.step == step
        shown = await in_thread(sent_request, completion)
        assert (shown.is_exact, shown.body) == (True, body)
        await in_thread(check_cuts, record, body)


def check_cuts(record: WindowRecord, body: dict[str, Any]) -> None:
    """Every result that is not whole is marked as cut in the text, and where in the record."""
    stored = Message.objects.in_bulk([entry.message for entry in record.entries if entry.message])
    for entry, message in zip(record.entries, body["messages"], strict=True):
        if message["role"] != "tool":
            assert entry.truncated_to is None
        elif entry.truncated_to is None:
            assert message["content"] == stored[entry.message].content
        else:
            assert message["content"].endswith(TRUNCATION_MARK)
            assert (
                message["content"].removesuffix(f" {TRUNCATION_MARK}")
                in stored[entry.message].content[: entry.truncated_to]
            )


async def hold(talk: Talk) -> list[tuple[str, int]]:
    """Hold the dialogue; return for each request its question and step."""
    asked = []
    for number, steps in enumerate(TURNS):
        before = len(talk.bodies)
        reply = await talk.ask(number, steps)
        assert (reply.state, reply.content) == ("complete", f"That is answer {number}.")
        question = await in_thread(lambda reply=reply: reply.parent.content)
        asked += [(question, step) for step in range(1, len(talk.bodies) - before + 1)]
    return asked


async def test_ten_turns_with_large_results_keep_every_promise(worker, talk):  # noqa: F811
    asked = await hold(talk)
    await check(talk, asked)
    assert len(talk.bodies) >= 20


async def test_a_reply_whose_calls_take_too_much_loses_the_oldest_and_has_to_answer(worker, talk):  # noqa: F811
    steps = [[note(600)], [note(600)], [note(600)], [note(600)]]
    reply = await talk.ask(0, steps)
    records = [WindowRecord.from_json(completion.window) for completion in await in_thread(lambda: talk.completions)]
    has_lost = [record.lost_steps for record in records]
    assert reply.content == "That is answer 0."
    assert [body.get("tool_choice") for body in talk.bodies] == [("none" if lost else None) for lost in has_lost]
    assert has_lost == ([False] * 5 if talk.context_window_tokens == 4096 else [False, False, True])


async def test_large_results_of_long_ago_do_not_hide_what_was_said(worker, talk):  # noqa: F811
    for number in range(10):
        await talk.ask(number, [[search(f"river {number}", 2_000)]])
    at_first, _ = talk.bodies[-2:]
    questions = [message["content"] for message in at_first["messages"] if message["role"] == "user"]
    assert [question.partition(":")[0] for question in questions] == [f"Question {number}" for number in range(10)]
    assert not any(message["role"] == "tool" for message in at_first["messages"])
    *_, completion, _ = await in_thread(lambda: talk.completions)
    record = WindowRecord.from_json(completion.window)
    assert [out.reason for out in record.left_out] == ["oversized"] * 18


async def test_grounding_and_pins_share_the_room_with_results(worker, talk):  # noqa: F811
    first = await talk.ask(100, [])
    pinned = await in_thread(lambda: first.parent.content)
    await in_thread(lambda: pin_message(conversation=talk.conversation, message_id=first.parent_id, pinned=True))
    talk.grounding = [{"text": "Tolls are paid in silver. " * 60, "source": f"{n}.txt", "score": 0.9} for n in range(4)]
    await check(talk, [(pinned, 1), *await hold(talk)])
    records = [WindowRecord.from_json(completion.window) for completion in await in_thread(lambda: talk.completions)]
    cut = [record for record in records if any(entry.truncated_to is not None for entry in record.entries)]
    assert any(record.grounding.included and record.grounding.left_out for record in cut)
    assert all(body["messages"][1]["content"] == pinned for body in talk.bodies[1:])

"""The dialogue of the source: three questions, each with what was looked up for it, at a small language model.

The third succeeds because a grounding is sent only with its own question. With the same passages pasted into the
questions, and nothing dropped, it is refused.
"""

from __future__ import annotations

import json

import pytest

from conversations.core.errors import PromptError
from conversations.core.prompt.grounding_text import render_question
from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Message, Scenario
from conversations.selectors.conversations.sent_request import passage_of, sent_request
from conversations.services.conversations.default_scenario import BUILT_IN_TOOLS
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.grounding.documents import store_document
from tests.grounding.timeouts import patient_searches  # noqa: F401  # a fixture
from tests.runs.conftest import upstream, worker  # noqa: F401  # fixtures
from tests.support.people import begin, make_user, post
from tests.support.source import PROJECT
from tests.support.waiting import in_thread, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("patient_searches")]
QUESTIONS = ["Is there a talk about build times?", "and one on testing?", "What sessions are about mobile?"]
ANSWER = "Hello from the upstream."
TALKS = json.loads((PROJECT / "conversations/example/conference.json").read_text(encoding="utf-8"))


def aloud(talk):
    return talk["title"], "\n".join(f"{name}: {value}" for name, value in talk.items() if name != "title")


@pytest.fixture(params=[(4096, False), (2048, False), (4096, True), (2048, True)], ids=str)
def conversation(request, settings, upstream, transactional_db):  # noqa: F811
    """Return one at a language model with so many tokens, whose scenario has the conference and maybe tools."""
    context_window, has_tools = request.param
    upstream.reset()
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = upstream.base_url, "sk-test"
    settings.LANGUAGE_MODELS = f"ok context_window={context_window} encoding=o200k_base"
    conversation = begin(make_user("alice"))
    Scenario.objects.filter(pk=conversation.scenario_id).update(tools=BUILT_IN_TOOLS if has_tools else [])
    store_document(conversation.scenario, [aloud(talk) for talk in TALKS], name="conference.json")
    return conversation


async def ask(conversation, question):
    """Return the completion that answered *question*."""
    posted = await in_thread(post, conversation, question)
    await wait_until(lambda: Message.objects.filter(pk=posted.reply.pk, state="complete").first())
    return await in_thread(Completion.objects.select_related("system_prompt", "reply__parent").get, reply=posted.reply)


@pytest.fixture
async def dialogue(worker, conversation):  # noqa: F811
    return [await ask(conversation, question) for question in QUESTIONS]


async def test_every_question_is_sent_with_its_own_grounding_and_those_before_it_without(dialogue, upstream):  # noqa: F811
    first, second, third = (exchange["body"]["messages"] for exchange in upstream.log())
    assert [message["role"] for message in third] == ["user", "assistant", "user", "assistant", "user"]
    assert [message["content"] for message in third[:-1]] == [QUESTIONS[0], ANSWER, QUESTIONS[1], ANSWER]
    assert "Cutting Build Times from Forty Minutes to Four" in first[-1]["content"]
    assert "testing" in second[-1]["content"].partition("\n\n[2] ")[0].casefold()
    assert "Forty Minutes" not in second[-1]["content"]
    assert third[-1]["content"].endswith(QUESTIONS[2])


async def test_tools_that_are_offered_go_with_every_request(dialogue, upstream, conversation):  # noqa: F811
    offered = await in_thread(lambda: Scenario.objects.get(pk=conversation.scenario_id).tools)
    for exchange in upstream.log():
        assert [tool["function"]["name"] for tool in exchange["body"].get("tools", [])] == sorted(offered)


async def test_the_broad_question_gets_whole_passages_and_is_told_what_was_left_out(dialogue, upstream):  # noqa: F811
    record = WindowRecord.from_json(dialogue[-1].window).grounding
    content = upstream.log()[-1]["body"]["messages"][-1]["content"]
    stored = dialogue[-1].reply.parent.grounding
    assert record.left_out
    assert f"({len(record.left_out)} more passages were found but did not fit.)" in content
    assert record.tokens <= record.limit_tokens
    for passage in record.included:
        assert passage.truncated_to is not None or stored[passage.number - 1]["text"] in content
    assert all(stored[passage.number - 1]["text"] not in content for passage in record.left_out)


async def test_what_was_sent_is_shown_exactly(dialogue, upstream):  # noqa: F811
    for completion, exchange in zip(dialogue, upstream.log(), strict=True):
        shown = await in_thread(sent_request, completion)
        assert (shown.is_exact, shown.body) == (True, exchange["body"])


async def test_with_the_passages_pasted_into_the_questions_and_nothing_dropped_it_is_refused(dialogue):
    with pytest.raises(PromptError):
        await in_thread(paste, dialogue)


def paste(dialogue):
    """Hold the same dialogue again, as it would be without grounding."""
    Scenario.objects.update(policy_name="full")
    conversation = begin(make_user("bob"))
    for completion in dialogue:
        question = completion.reply.parent
        pasted = render_question(question.content, [passage_of(entry) for entry in question.grounding])
        posted = post(conversation, pasted)
        end_reply(posted.reply.pk, COMPLETE, content=ANSWER)

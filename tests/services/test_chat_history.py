"""AIConfig's chat history: apart from the configuration, OpenAI's format in and out, stored when it succeeded."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from chatsite.accounts.models import User
from conversations.core.errors import InvalidHistory, NothingToRegenerate, ReplyInProgress, ScenarioNotFound
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.models import Conversation, Message, Scenario
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.language_models.model_context import model_context
from conversations.services.portability.chat_history import ChatHistory
from conversations.services.replies.end_reply import COMPLETE, Ending, end_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.windows.build_window import build_window, draft_message
from tests.support.hypothesis_profile import count_cases
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
TOOL_TURN = [
    {"role": "user", "content": "How warm is it in Oslo?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "12"},
    {"role": "assistant", "content": "12 degrees."},
]
GREETING = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good morning."}]


@pytest.fixture
def alice():
    return make_user("alice")


def of(user, messages, **options):
    return ChatHistory.from_openai(user=user, messages=messages, **options)


def prompt_after(history, content):
    """Return what would be sent if its owner wrote *content* now."""
    conversation = Conversation.objects.select_related("scenario", "head").get(pk=history.conversation.pk)
    position = conversation.head.position + 1 if conversation.head else 0
    draft = draft_message(content, position=position, context=model_context(conversation.scenario))
    return [message.to_json() for message in build_window(conversation, draft).prompt]


# AIConfig: each row of its proposal


def test_aiconfig_the_same_scenario_with_two_histories_gives_two_prompts(alice):
    tools = {"tools": ["calculator"]}  # without any, no calls are sent either
    scenario = Scenario.objects.create(owner=alice, name="Guide", system_prompt="Be brief.", **tools)
    histories = [of(alice, messages, scenario_id=scenario.pk) for messages in (GREETING, TOOL_TURN)]
    system, question = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "And now?"}
    assert prompt_after(histories[0], "And now?") == [system, *GREETING, question]
    assert prompt_after(histories[1], "And now?") == [system, *TOOL_TURN, question]


def test_aiconfig_messages_come_and_go_in_openais_format(alice):
    assert of(alice, TOOL_TURN).to_openai() == TOOL_TURN


def test_a_history_with_steps_of_a_reply_made_here_comes_out_and_goes_in_again(alice):
    posted = post(begin(alice), "What is 17 × 23?")
    add_call(posted.reply, arguments={"expression": "17 * 23"}, result="391")
    add_call(posted.reply, "current_time", result="Saturday")
    end_step(posted.reply, text="Let me see.")
    end_reply(posted.reply.pk, COMPLETE, content="It is 391.")
    written = ChatHistory(posted.message.conversation).to_openai()
    assert [each["role"] for each in written] == ["user", "assistant", "tool", "tool", "assistant"]
    assert of(alice, written).to_openai() == written


def test_tool_turns_that_lead_to_a_reply_become_its_steps(alice):
    question, asked, result, reply = of(alice, TOOL_TURN).conversation.messages.order_by("position")
    assert asked.step_of == result.step_of == reply
    assert {each.parent for each in (asked, result, reply)} == {question}
    call = reply.calls.get()
    assert (call.tool, call.arguments, call.message, call.state) == ("weather", '{"city": "Oslo"}', result, "succeeded")


def test_each_of_several_steps_keeps_its_number(alice):
    second = {**CALL, "id": "c2"}
    again = [{"role": "assistant", "content": "", "tool_calls": [second]}, {**TOOL_TURN[2], "tool_call_id": "c2"}]
    history = of(alice, [*TOOL_TURN[:3], *again, TOOL_TURN[3]])
    reply = history.conversation.head
    assert [(call.step, call.call_id) for call in reply.calls.all()] == [(1, "c1"), (2, "c2")]
    assert reply.first_position == 1


def test_results_in_another_order_belong_to_their_calls(alice):
    calls = [CALL, {**CALL, "id": "c2"}]
    results = [{"role": "tool", "tool_call_id": id_, "content": id_} for id_ in ("c2", "c1")]
    asked = {"role": "assistant", "content": "", "tool_calls": calls}
    reply = of(alice, [TOOL_TURN[0], asked, *results, TOOL_TURN[3]]).conversation.head
    assert [(call.index, call.message.content) for call in reply.calls.all()] == [(0, "c1"), (1, "c2")]


def test_a_tool_turn_without_a_reply_is_no_ones_step(alice):
    history = of(alice, TOOL_TURN[:3])
    assert not history.conversation.messages.exclude(step_of=None).exists()


def test_aiconfig_messages_can_be_read_and_added(alice):
    history = of(alice, GREETING)
    history.add("user", "And now?")
    assert history.messages()[-1] == PromptMessage("user", "And now?")
    assert prompt_after(history, "Well?")[-2]["content"] == "And now?"


@pytest.mark.parametrize("state", ["failed", "stopped", "interrupted"])
def test_aiconfig_output_is_in_the_history_only_when_its_completion_succeeded(alice, state):
    posted = post(begin(alice), "Hello")
    end_reply(posted.reply.pk, Ending(state), content="Good mor")
    history = ChatHistory(posted.message.conversation)
    assert history.messages() == [PromptMessage("user", "Hello")]
    assert history.messages(with_partial=True)[1].content == "Good mor"
    assert Message.objects.get(pk=posted.reply.pk).content == "Good mor"


def test_aiconfig_a_completed_reply_is_in_the_history(alice):
    posted = post(begin(alice), "Hello")
    end_reply(posted.reply.pk, COMPLETE, content="Good morning.")
    assert ChatHistory(posted.message.conversation).to_openai() == GREETING


def test_aiconfig_each_conversation_has_a_history_of_its_own(alice):
    first, second = of(alice, GREETING), of(alice, GREETING)
    first.add("user", "Only here")
    assert (len(first.messages()), len(second.messages())) == (3, 2)


# System text is the scenario's


def test_a_system_message_becomes_a_scenario_of_ones_own(alice):
    history = of(alice, [{"role": "system", "content": "Answer in rhymes."}, *GREETING])
    scenario = history.conversation.scenario
    assert (scenario.owner, scenario.system_prompt, scenario.name) == (alice, "Answer in rhymes.", "Answer in rhymes.")
    assert history.to_openai() == GREETING
    assert history.to_openai(include_system=True)[0] == {"role": "system", "content": "Answer in rhymes."}


def test_the_same_system_message_makes_no_second_scenario(alice):
    messages = [{"role": "system", "content": "Answer in rhymes."}, *GREETING]
    assert of(alice, messages).conversation.scenario == of(alice, messages).conversation.scenario


def test_the_same_system_message_with_other_settings_is_another_scenario(alice):
    system = [{"role": "system", "content": "Answer in rhymes."}, *GREETING]
    tight = Scenario.objects.create(owner=alice, name="Tight", cap_tokens=500)
    of(alice, system)
    taken_over = of(alice, system, scenario_id=tight.pk).conversation.scenario
    assert (taken_over.system_prompt, taken_over.cap_tokens) == ("Answer in rhymes.", 500)


def test_a_system_message_that_is_the_scenarios_own_changes_nothing(alice):
    scenario = Scenario.objects.create(owner=alice, name="Guide", system_prompt="Be brief.")
    history = of(alice, [{"role": "system", "content": "Be brief."}, *GREETING], scenario_id=scenario.pk)
    assert history.conversation.scenario == scenario


def test_without_a_system_message_it_begins_with_the_default(alice):
    assert of(alice, GREETING).conversation.scenario == default_scenario()


def test_a_system_message_that_no_language_model_can_take_is_refused(alice):
    with pytest.raises(InvalidHistory, match="system message"):
        of(alice, [{"role": "system", "content": "long " * 200_000}, *GREETING])
    assert not Conversation.objects.exists()


def test_another_users_scenario_is_not_found(alice):
    theirs = Scenario.objects.create(owner=make_user("bob"), name="Bob's")
    with pytest.raises(ScenarioNotFound):
        of(alice, GREETING, scenario_id=theirs.pk)


# How it lies in the database


def test_a_tool_turn_is_one_path(alice):
    conversation = of(alice, TOOL_TURN).conversation
    path = list(conversation.messages.order_by("position"))
    assert [(row.position, row.role, row.active) for row in path] == [
        (0, "user", True),
        (1, "assistant", True),
        (2, "tool", True),
        (3, "assistant", True),
    ]
    assert [row.parent for row in path] == [None, *3 * path[:1]]
    assert conversation.head == path[-1]
    assert conversation.title == "How warm is it in Oslo?"


def test_what_is_taken_over_is_counted_with_its_calls(alice):
    conversation = of(alice, TOOL_TURN).conversation
    context = model_context(conversation.scenario)
    call = PromptToolCall("c1", "weather", '{"city": "Oslo"}')
    stored = conversation.messages.get(position=1)
    assert stored.content_tokens == context.content_tokens(PromptMessage("assistant", "", tool_calls=(call,))) > 0
    assert stored.encoding == context.language_model.encoding


def test_10_000_messages_are_stored_in_few_statements(alice):
    default_scenario()
    messages = GREETING * 5_000
    with CaptureQueriesContext(connection) as queries:
        conversation = of(alice, messages).conversation
    assert len(queries) < 30
    assert conversation.head.position == 9_999
    assert conversation.messages.filter(parent__position__lt=9_999).count() == 9_999
    assert not conversation.messages.filter(content_tokens=0).exists()


def test_a_message_of_a_megabyte_is_stored_and_counted(alice):
    history = of(alice, [{"role": "user", "content": "word " * 200_000}, GREETING[1]])
    assert history.conversation.messages.get(position=0).content_tokens > 100_000
    assert prompt_after(history, "Continue")[-1] == {"role": "user", "content": "Continue"}


def test_what_is_refused_leaves_nothing(alice):
    with pytest.raises(InvalidHistory):
        of(alice, [{"role": "system", "content": "New."}, *TOOL_TURN[:2]])
    assert not Conversation.objects.exists()
    assert not Scenario.objects.filter(owner=alice).exists()


# Adding


def test_a_tool_turn_can_be_added_step_by_step(alice):
    history = of(alice, TOOL_TURN[:1])
    history.add("assistant", "", tool_calls=[PromptToolCall("c1", "weather", '{"city": "Oslo"}')])
    history.add("tool", "12", tool_call_id="c1")
    history.add("assistant", "12 degrees.")
    assert history.to_openai() == TOOL_TURN


def test_names_of_speakers_are_kept_and_exported_and_not_sent(alice):
    named = [{**GREETING[0], "name": "Ada"}, {**GREETING[1], "name": "Ben"}]
    history, bare = of(alice, named), of(alice, GREETING)
    assert history.to_openai() == named
    assert prompt_after(history, "Well?")[:-1] == GREETING
    counts = [list(each.conversation.messages.values_list("content_tokens", flat=True)) for each in (history, bare)]
    assert counts[0] == counts[1]


def test_an_empty_name_is_none_and_a_bad_one_is_refused(alice):
    assert of(alice, [{**GREETING[0], "name": " "}]).to_openai() == GREETING[:1]
    for name in (7, "x" * 101):
        with pytest.raises(InvalidHistory, match="name"):
            of(alice, [{**GREETING[0], "name": name}])


def test_an_open_call_is_never_sent_without_its_result(alice):
    history = of(alice, GREETING)
    history.add("assistant", "", tool_calls=[PromptToolCall("c1", "weather", "{}")])
    assert history.to_openai() == GREETING
    assert prompt_after(history, "Well?")[:-1] == GREETING


@pytest.mark.parametrize(
    ("role", "content", "fields", "words"),
    [
        ("user", "And?", {}, "no result"),
        ("tool", "12", {"tool_call_id": "other"}, "no call"),
        ("tool", "12", {}, "which call"),
        ("system", "Late.", {}, "does not come first"),
        ("wizard", "Hello", {}, "role"),
        ("user", "\x00 ", {}, "empty"),
    ],
)
def test_what_can_not_follow_an_open_call_is_refused(alice, role, content, fields, words):
    history = of(alice, TOOL_TURN[:1])
    history.add("assistant", "", tool_calls=[PromptToolCall("c1", "weather", "{}")])
    with pytest.raises(InvalidHistory, match=words):
        history.add(role, content, **fields)
    assert len(history.messages()) == 2


def test_a_call_is_answered_once(alice):
    history = of(alice, TOOL_TURN[:3])
    with pytest.raises(InvalidHistory, match="two results"):
        history.add("tool", "13", tool_call_id="c1")


def test_nothing_is_added_while_a_reply_is_written(alice):
    posted = post(begin(alice), "Hello")
    with pytest.raises(ReplyInProgress):
        ChatHistory(posted.message.conversation).add("user", "And?")


def test_the_first_message_may_be_added_to_an_empty_conversation(alice):
    history = ChatHistory(begin(alice))
    assert history.add("user", "Hello").position == 0
    with pytest.raises(InvalidHistory, match="no call"):
        history.add("tool", "12", tool_call_id="c1")


# The rest of the product


def test_what_is_excluded_does_not_leave(alice):
    history = of(alice, [*GREETING, *TOOL_TURN])
    Message.objects.filter(role="tool").update(excluded=True)
    assert history.to_openai() == [*GREETING, TOOL_TURN[0], TOOL_TURN[3]]


def test_the_conversation_goes_on_as_any_other(alice):
    conversation = of(alice, TOOL_TURN).conversation
    posted = post(conversation, "And in Bergen?")
    assert (posted.message.position, posted.reply.position) == (4, 5)


@pytest.mark.parametrize("messages", [GREETING[1:], [*GREETING, GREETING[1]]])
def test_a_reply_that_answers_no_message_of_a_person_is_not_made_again(alice, messages):
    conversation = of(alice, messages).conversation
    with pytest.raises(NothingToRegenerate):
        regenerate_reply(user=alice, conversation=conversation, reply_id=conversation.head_id)


def test_a_reply_that_was_taken_over_can_be_made_again(alice):
    conversation = of(alice, GREETING).conversation
    again = regenerate_reply(user=alice, conversation=conversation, reply_id=conversation.head_id)
    assert (again.position, again.state) == (1, "streaming")


def test_its_page_opens(client, alice):
    client.force_login(alice)
    conversation = of(alice, TOOL_TURN).conversation
    page = client.get(f"/c/{conversation.public_id}/").text
    assert "12 degrees." in page
    assert [page.count(f">{by}</bdi>") for by in ("You", "Tool result", "Reply")] == [1, 0, 1]
    assert "weather" in page


WORDS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@st.composite
def turns(draw):
    ids = draw(st.lists(st.sampled_from("abc"), unique=True, max_size=3))
    calls = [{"id": each, "type": "function", "function": {"name": "f", "arguments": draw(WORDS)}} for each in ids]
    calling = [{"role": "assistant", "content": "", "tool_calls": calls}] if calls else []
    results = [{"role": "tool", "content": draw(WORDS), "tool_call_id": each} for each in draw(st.permutations(ids))]
    said = [{"role": role, "content": draw(WORDS)} for role in ("user", "assistant")]
    return [said[0], *calling, *results, said[1]]


@settings(max_examples=count_cases(20), deadline=None)
@given(st.lists(turns(), min_size=1, max_size=3))
def test_what_goes_in_comes_out(messages):
    written = [message for turn in messages for message in turn]
    user, _ = User.objects.get_or_create(email="alice@example.org")
    assert of(user, written).to_openai() == written

"""A prompt as it is written for both APIs, and where its cache breakpoints stand."""

from __future__ import annotations

import json

import pytest

from conversations.core.prompt.kept_reasoning import KeptReasoning, without_unsendable
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.prompt.pictures import PromptPicture
from conversations.core.prompt.prompt_format import PLAIN_FORMAT, PromptFormat
from conversations.core.prompt.written_prompt import system_text, tool_names, write_prompt, write_tools

CALL = PromptToolCall("call_1", "look", "{}")
SYSTEM, Q1, A1, Q2, A2, Q3 = (
    PromptMessage("system", "Be kind."),
    PromptMessage("user", "one"),
    PromptMessage("assistant", "first"),
    PromptMessage("user", "two"),
    PromptMessage("assistant", "second"),
    PromptMessage("user", "three, with grounding"),
)
CALLED = PromptMessage("assistant", "", tool_calls=(CALL,))
RESULT = PromptMessage("tool", "4", tool_call_id="call_1")
OPENAI, ANTHROPIC = PromptFormat("chat", "openai"), PromptFormat("chat", "anthropic")
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("look", "see")]


def marked(prompt, form=OPENAI):
    """Return the texts that a breakpoint stands behind."""
    parts = [part for message in write_prompt(prompt, form) for part in message.get("content") or () if part != "4"]
    return [part["text"] for part in parts if isinstance(part, dict) and len(part) > 2]


def marked_tools(prompt, form):
    """Return the names of the tools that a breakpoint stands behind."""
    written = write_tools(TOOLS, prompt, form)
    is_marked = [
        bool({"cache_control", "prompt_cache_breakpoint"} & {*tool, *tool.get("function", {})}) for tool in written
    ]
    return [name for name, marked in zip(tool_names(written), is_marked, strict=True) if marked]


@pytest.mark.parametrize("wire", ["chat", "responses"])
@pytest.mark.parametrize(
    ("breakpoints", "texts"), [("openai", ["Be kind.", "one", "two"]), ("anthropic", ["Be kind.", "first", "second"])]
)
def test_breakpoints_stand_after_the_system_prompt_and_before_both_newest_questions(wire, breakpoints, texts):
    """OpenAI takes none on what the model wrote."""
    assert marked((SYSTEM, Q1, A1, Q2, A2, Q3), PromptFormat(wire, breakpoints)) == texts


@pytest.mark.parametrize("form", [OPENAI, ANTHROPIC])
def test_what_one_request_marks_last_the_next_one_marks_too(form):
    before = marked((SYSTEM, Q1, A1, Q2), form)
    after = marked((SYSTEM, Q1, A1, Q2, A2, Q3), form)
    assert before[-1] in ("one", "first")
    assert before[-1] in after


@pytest.mark.parametrize(("form", "last"), [(OPENAI, "one"), (ANTHROPIC, "first")])
def test_the_newest_question_and_its_steps_are_never_before_a_breakpoint(form, last):
    assert marked((SYSTEM, Q1, A1, Q2, CALLED, RESULT), form) == ["Be kind.", last]
    assert marked((SYSTEM, Q1), form) == ["Be kind."]
    assert marked((Q1,), form) == []


@pytest.mark.parametrize("form", [OPENAI, ANTHROPIC])
def test_a_message_without_text_can_t_be_marked(form):
    assert marked((SYSTEM, Q1, CALLED, RESULT, Q2), form) == ["Be kind.", "one"]


@pytest.mark.parametrize("form", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("begin", [(SYSTEM,), ()])
def test_at_most_three_breakpoints_are_set(form, begin):
    """Providers take four."""
    prompt = (*begin, *(message for _ in range(50) for message in (Q1, A1)), Q3)
    marks = len(marked(prompt, form)) + len(marked_tools(prompt, form))
    assert marks == (2 if form == OPENAI and not begin else 3)


@pytest.mark.parametrize("prompt", [(Q1,), (Q1, CALLED, RESULT), (Q1, A1, Q2), (PromptMessage("system", "S."), Q1)])
def test_tools_that_no_system_message_follows_have_a_breakpoint_after_the_last_one(prompt):
    assert marked_tools(prompt, ANTHROPIC) == ([] if prompt[0].role == "system" else ["see"])
    assert [tool["function"] for tool in write_tools(TOOLS, prompt, ANTHROPIC)] == [t["function"] for t in TOOLS]


@pytest.mark.parametrize("form", [PLAIN_FORMAT, OPENAI, PromptFormat("responses", "openai")])
def test_no_tool_is_marked_where_none_can_be(form):
    assert marked_tools((Q1,), form) == []
    assert write_tools((), (Q1,), ANTHROPIC) == []


@pytest.mark.parametrize("form", [PLAIN_FORMAT, ANTHROPIC, PromptFormat("responses")])
def test_the_names_of_tools_can_be_read_again(form):
    assert tool_names(write_tools(TOOLS, (Q1,), form)) == ["look", "see"]


def test_a_prompt_without_breakpoints_is_written_as_before():
    prompt = (SYSTEM, Q1, CALLED, RESULT, A1, Q2)
    assert write_prompt(prompt, PLAIN_FORMAT) == [message.to_json() for message in prompt]


@pytest.mark.parametrize("form", [PLAIN_FORMAT, OPENAI, PromptFormat("responses"), PromptFormat("responses", "openai")])
def test_the_system_prompt_can_be_read_again(form):
    assert system_text(write_prompt((SYSTEM, Q1), form)) == "Be kind."
    assert system_text(write_prompt((Q1,), form)) is None
    assert system_text(["a text to be embedded"]) is None


def test_kept_fields_stand_with_the_message_and_its_calls():
    content = {"fields": {"reasoning_content": "Hm.\n“é”\u2028"}, "calls": [{"extra_content": {"google": "s=="}}]}
    kept = KeptReasoning.from_content(content, language_model="m", wire="chat", tokens=5)
    [message] = write_prompt((CALLED._replace(kept=kept),), PLAIN_FORMAT)
    assert message["reasoning_content"] == "Hm.\n“é”\u2028"
    assert message["tool_calls"] == [{**CALL.to_json(), "extra_content": {"google": "s=="}}]
    assert kept.belongs_to(language_model="m", wire="chat")
    assert not kept.belongs_to(language_model="m", wire="responses")


@pytest.mark.parametrize("unsendable", [float("nan"), float("inf"), "\ud800", {"\udfff": [1]}], ids=ascii)
def test_what_can_t_be_sent_is_not_kept(unsendable):
    good, bad = {"type": "reasoning", "id": "a"}, {"type": "reasoning", "id": "b", "x": [unsendable]}
    content = {
        "fields": {"reasoning_content": "\u0000é", "thinking_blocks": [unsendable]},
        "calls": [{"extra_content": unsendable}, None, {"extra_content": "s"}],
        "items": [good, {"call": 0}, bad, {"call": 1}],
    }
    assert without_unsendable(content) == {
        "fields": {"reasoning_content": "\u0000é"},
        "calls": [None, None, {"extra_content": "s"}],
        "items": [good, {"call": 0}, {"call": 1}],
    }
    assert without_unsendable({"calls": content["calls"][:2], "items": [bad, {"call": 0}]}) == {}


def test_kept_items_stand_between_the_calls():
    second = PromptToolCall("call_2", "see", "{}")
    items = [{"type": "reasoning", "id": "a"}, {"call": 0}, {"type": "reasoning", "id": "b"}, {"call": 1}, {"call": 7}]
    kept = KeptReasoning.from_content({"items": items}, language_model="m", wire="responses", tokens=5)
    step = PromptMessage("assistant", "Let me see.", tool_calls=(CALL, second), kept=kept)
    written = write_prompt((step,), PromptFormat("responses"))
    assert [item.get("id") or item.get("call_id") or item["type"] for item in written] == [
        "a", "message", "call_1", "b", "call_2"
    ]  # fmt: skip


@pytest.mark.parametrize("call", [0, [1], "x", None, {}])
def test_an_item_of_the_provider_is_never_taken_for_our_mark_of_a_call(call):
    item = {"type": "reasoning", "id": "a", "call": call}
    kept = KeptReasoning.from_content({"items": [item, {"call": 0}]}, language_model="m", wire="responses", tokens=5)
    written = write_prompt((CALLED._replace(kept=kept),), PromptFormat("responses"))
    assert (written[0], [each["type"] for each in written]) == (item, ["reasoning", "function_call"])


def test_a_picture_is_a_part_of_its_message_over_both_apis():
    picture = PromptPicture("ab12", "image/png", 640, 480, "high")
    asked = PromptMessage("user", "What is this?", pictures=(picture,))
    chat, response = write_prompt((asked,), PLAIN_FORMAT), write_prompt((asked,), PromptFormat("responses"))
    assert chat[0]["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "picture:image/png;ab12", "detail": "high"}},
    ]
    assert response[0]["content"] == [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": "picture:image/png;ab12", "detail": "high"},
    ]


@pytest.mark.parametrize("form", [OPENAI, PromptFormat("responses", "openai")])
def test_a_message_of_pictures_alone_can_be_marked(form):
    alone = PromptMessage("user", "", pictures=(PromptPicture("ab12", "image/png", 640, 480),))
    written = write_prompt((alone, PromptMessage("user", "And now?")), form)
    assert written[0]["content"][-1]["prompt_cache_breakpoint"] == {"mode": "explicit"}


def test_kept_reasoning_is_parsed_once_however_often_it_is_read(monkeypatch):
    parsed = []
    content = {"fields": {"reasoning_content": "Hm."}, "calls": [{"extra_content": 1}], "ids": ["long"]}
    kept = KeptReasoning.from_content(content, language_model="m", wire="chat", tokens=5)
    monkeypatch.setattr("json.loads", lambda text, loads=json.loads: parsed.append(text) or loads(text))
    assert (kept.tokens, kept.fields, kept.ids) == (5, content["fields"], ["long"])
    assert write_prompt((CALLED._replace(kept=kept),), PLAIN_FORMAT) == [CALLED._replace(kept=kept).to_json()]
    assert parsed == [kept.text]

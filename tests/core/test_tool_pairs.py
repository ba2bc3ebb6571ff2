"""Tool calls in exports of other programs: each with its result is a step of its reply, and halves are left out."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.imports.tool_pairs import LONGEST_ARGUMENTS, LONGEST_RESULT, ToolUse, pair_uses
from conversations.core.prompt.openai_messages import ToolTurns
from conversations.core.tools.tool_spec import TOOL_NAME, is_object
from tests.support.exports import as_json, chatgpt, claude, librechat, node, open_webui, read_one


def said(message):
    """Return the steps as they are read: name and arguments of a call, the text of a result."""
    return [
        (step.tool_calls[0].name, json.loads(step.tool_calls[0].arguments)) if step.tool_calls else step.content
        for _, step in message.steps
    ]


def are_whole(steps):
    turns = ToolTurns()
    for _, step in steps:
        turns.take(step)
    turns.end()


def adds_up(conversation):
    taken = sum(len(message.source_ids) for message in conversation.messages)
    return conversation.found == taken + conversation.left_out.total()


def call(key, parent, recipient, text):
    return node(key, parent, "assistant", {"content_type": "code", "text": text}, recipient=recipient)


def result(key, parent, name, content, **about):
    return node(key, parent, "tool", content, author={"role": "tool", "name": name}, **about)


def pictures(*pointers, prompt=""):
    made = {"dalle": {"prompt": prompt}}
    return {
        "content_type": "multimodal_text",
        "parts": [
            {"content_type": "image_asset_pointer", "asset_pointer": each, "metadata": made} for each in pointers
        ],
    }


def test_calls_of_chatgpt_have_the_results_of_their_tool():
    read = read_one(as_json([chatgpt("c", [
        node("q", "root", "user", "2+2, and the sea?"),
        node("t", "q", "assistant", "Let me see."),
        call("c1", "t", "python", "print(2+2)"),
        call("c2", "c1", "web.run", '{"q": "sea"}'),
        result("r2", "c2", "web.run", {"content_type": "tether_quote", "url": "https://sea.example", "text": "Blue."}),
        result("r1", "r2", "python", {"content_type": "execution_output", "text": "4"}),
        result("r3", "r1", "web.run", "More."),
        node("a", "r3", "assistant", "Four, and blue."),
    ], "a")]))  # fmt: skip
    _, reply = read.messages
    assert reply.content == "Let me see.\n\nFour, and blue."
    assert said(reply) == [
        ("python", {"input": "print(2+2)"}), "4",
        ("web_run", {"q": "sea"}), "https://sea.example\nBlue.\n\nMore.",
    ]  # fmt: skip
    assert reply.source_ids == ["t", "a", "r3", "c1", "r1", "c2", "r2"]
    assert adds_up(read)


def test_halves_of_a_pair_and_calls_without_an_answer_are_left_out():
    read = read_one(as_json([chatgpt("c", [
        node("q", "root", "user", "go"),
        result("r0", "q", "file_search", "what no call asked for"),
        call("c1", "r0", "python", "1"),
        node("a", "c1", "assistant", "Yes."),
        node("q2", "a", "user", "and?"),
        call("c2", "q2", "python", "1"),
        result("r2", "c2", "python", "1"),
    ], "r2")]))  # fmt: skip
    assert [message.steps for message in read.messages] == [[], [], []]
    assert read.left_out == Counter(tools=4)
    assert adds_up(read)


def test_pictures_that_chatgpt_made_are_pictures_of_the_reply():
    read = read_one(as_json([chatgpt("c", [
        node("q", "root", "user", "Draw the sea"),
        call("c1", "q", "dalle.text2im", '{"prompt": "the sea"}'),
        result("r1", "c1", "dalle.text2im", pictures("file-service://file-a", "sediment://file_b", prompt="the\nsea")),
        node("a", "r1", "assistant", "Here."),
        node("q2", "a", "user", "Plot it"),
        call("c2", "q2", "python", "plot()"),
        result("r2", "c2", "python", {"content_type": "execution_output", "text": ""}, metadata={
            "aggregate_result": {"messages": [{"message_type": "image", "image_url": "file-service://file-c"}]}}),
    ], "r2")]))  # fmt: skip
    _, drawn, _, plotted = read.messages
    assert [(each.key, each.alt_text) for each in drawn.pictures] == [("file-a", "the sea"), ("file_b", "the sea")]
    assert (drawn.content, said(drawn)) == ("Here.", [("dalle_text2im", {"prompt": "the sea"}), ""])
    assert [each.key for each in plotted.pictures] == ["file-c"]
    assert (plotted.content, said(plotted), read.head) == ("", [("python", {"input": "plot()"}), ""], "r2")
    assert (read.missing, read.left_out) == (Counter(), Counter())
    assert adds_up(read)


def test_versions_of_a_reply_share_no_step():
    read = read_one(as_json([chatgpt("c", [
        node("q", "root", "user", "go"), call("c1", "q", "python", "1"), result("r1", "c1", "python", "1"),
        node("a", "r1", "assistant", "one"), node("b", "r1", "assistant", "two"),
    ], "b")]))  # fmt: skip
    assert [len(message.steps) for message in read.messages] == [0, 2, 0]
    assert adds_up(read)


def test_a_change_of_a_canvas_is_a_call_where_its_result_is_there():
    read = read_one(as_json([chatgpt("c", [
        node("q", "root", "user", "go"), call("c1", "q", "canmore.update_textdoc", '{"updates": []}'),
        result("r1", "c1", "canmore.update_textdoc", "Done"), node("a", "r1", "assistant", "So."),
    ], "a")]))  # fmt: skip
    assert said(read.messages[1]) == [("canmore_update_textdoc", {"updates": []}), "Done"]


def use(key, name, given):
    return {"type": "tool_use", "id": key, "name": name, "input": given}


def answer(key, content, **about):
    return {"type": "tool_result", "tool_use_id": key, "content": content, **about}


def test_calls_of_claude_are_steps_and_files_that_it_wrote_are_text():
    blocks = [
        use("x", "web_search", {"query": "sea"}),
        answer("x", [{"type": "knowledge", "title": "Sea", "url": "https://sea.example", "text": "Blue."}]),
        use(None, "repl", {"code": "1"}), answer(None, "1"),
        use(None, "create_file", {"path": "/a.md", "file_text": "# A"}), answer(None, "written"),
        use("e", "str_replace", {"old_str": "A", "new_str": "B"}), answer("e", [{"type": "image"}, {"type": "local"}]),
        use("h", "web_fetch", {"url": "u"}), answer("nothing", "lost"),
        {"type": "text", "text": "Done."},
    ]  # fmt: skip
    rows = [{"uuid": "q", "sender": "human", "text": "go"}, {"uuid": "a", "sender": "assistant", "content": blocks}]
    read = read_one(as_json([claude(messages=rows)]))
    reply = read.messages[1]
    assert said(reply) == [
        ("web_search", {"query": "sea"}), "Sea\nhttps://sea.example\nBlue.",
        ("repl", {"code": "1"}), "1",
        ("str_replace", {"old_str": "A", "new_str": "B"}), '[Picture]\n\n{"type": "local"}',
    ]  # fmt: skip
    assert reply.content == "**a.md**\n\n```\n# A\n```\n\nDone."
    assert read.missing == Counter(tool_parts=3)
    assert reply.source_ids == ["a"]


@pytest.mark.parametrize(
    "told",
    [
        {"content": '<details type="tool_calls" done="true" id="k" name="get_weather" '
                    'arguments="{&quot;city&quot;: &quot;Bergen&quot;}" result="&quot;rain&quot;">\n'
                    "<summary>Tool Executed</summary>\n</details>\nRain."},
        {"content": '<details type="tool_calls" done="true" id="k" name="get_weather" '
                    'arguments="{&quot;city&quot;: &quot;Bergen&quot;}">\n<summary>Tool Executed</summary>\n'
                    "&quot;rain&quot;\n</details>\nRain."},
        {"content": "Rain.", "output": [
            {"type": "function_call", "call_id": "k", "name": "get_weather", "arguments": '{"city": "Bergen"}'},
            {"type": "function_call_output", "call_id": "k", "output": [{"type": "input_text", "text": '"rain"'}]}]},
    ],
)  # fmt: skip
def test_calls_of_open_webui_are_steps_in_each_form(told):
    row = open_webui()
    row["chat"]["history"]["messages"]["m2"] |= told
    reply = read_one(as_json([row])).messages[1]
    assert (reply.content, said(reply)) == ("Rain.", [("get_weather", {"city": "Bergen"}), '"rain"'])
    assert reply.steps[0][1].tool_calls[0].id == "k"


def test_code_that_open_webui_ran_is_a_call():
    row = open_webui()
    row["chat"]["history"]["messages"]["m2"]["content"] = (
        '<details type="code_interpreter" done="true" output="4"><summary>Analyzed</summary>\n1+3\n</details>\nFour.'
    )
    reply = read_one(as_json([row])).messages[1]
    assert (reply.content, said(reply)) == ("Four.", [("code_interpreter", {"input": "1+3"}), "4"])


def test_a_call_of_librechat_is_a_step_if_it_has_an_output():
    asked = librechat()
    asked["messages"][0]["content"].append(
        {"type": "tool_call", "tool_call": {"id": "k", "name": "x", "args": {"a": 1}, "output": "one"}}
    )
    read = read_one(as_json(asked))
    [reply] = [each for each in read.messages if each.role == "assistant"]
    assert (said(reply), read.missing) == ([("x", {"a": 1}), "one"], Counter(tool_parts=1))


def test_steps_of_a_reply_without_a_question_are_left_out():
    blocks = [use("x", "f", {}), answer("x", "1"), {"type": "text", "text": "Hello."}]
    read = read_one(as_json([claude(messages=[{"uuid": "a", "sender": "assistant", "content": blocks}])]))
    assert (read.messages[0].steps, read.missing) == ([], Counter(tool_parts=2))


KEYS = st.sampled_from(["", "a", "b", "c" * 200, "\0"])
USES = st.builds(
    ToolUse, KEYS, st.sampled_from(["", "f", "web.run", "é" * 100]),
    st.sampled_from(["", "{}", '{"a":1}', "1", "\ud800"]),
    KEYS, st.booleans(), st.sampled_from(["", "tools"]),
)  # fmt: skip


@given(st.lists(USES, max_size=12))
def test_steps_are_whole_pairs_whatever_comes(uses):
    paired = pair_uses(uses)
    are_whole(paired.steps)
    for _, step in paired.steps:
        assert all(TOOL_NAME.fullmatch(each.name) and is_object(each.arguments) for each in step.tool_calls)
    shown = sum(1 for each in uses if not each.is_result and not each.kind)
    merged = len(uses) - len(paired.steps) - len(paired.left) - shown
    assert merged >= 0  # further results of one call


def test_long_arguments_and_results_are_shortened_and_counted():
    long = [ToolUse("", "f", "x" * 60_000, "k", kind="t"), ToolUse("", "f", "y" * 300_000, "k", is_result=True)]
    paired = pair_uses(long)
    (_, asked), (_, answered) = paired.steps
    assert LONGEST_ARGUMENTS < len(asked.tool_calls[0].arguments) < LONGEST_ARGUMENTS + 50
    assert (len(answered.content) <= LONGEST_RESULT + 10, paired.cut) == (True, 2)

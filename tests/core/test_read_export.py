"""Reading exports: each format with its oddities, all forms of files, and what can't be read."""

from __future__ import annotations

import datetime as dt
import io
import json
import zipfile
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.errors import (
    ExportDamaged,
    ExportEncrypted,
    ExportForeign,
    ExportManifestOnly,
    ExportNotJson,
    ExportTooLarge,
    ExportUnknown,
    ExportWithoutConversations,
)
from conversations.core.imports import archive, json_stream
from conversations.core.imports.imported import BrokenConversation, ImportedConversation
from conversations.core.imports.json_stream import CutOff, JsonStream
from conversations.core.imports.moments import read_moment
from conversations.core.imports.read_export import FailedFile
from tests.support.exports import (
    as_json,
    as_zip,
    chatgpt,
    chatgpt_files,
    claude,
    claude_messages,
    export_of,
    librechat,
    node,
    odd_chatgpt,
    open_webui,
    read_all,
    read_one,
)


def lines(conversation):
    """Return what is visible: the id, that of the message before, the role and the content."""
    return [(each.source_id, each.parent, each.role, each.content) for each in conversation.messages]


def adds_up(conversation):
    taken = sum(len(message.source_ids) for message in conversation.messages)
    return conversation.found == taken + conversation.left_out.total()


# ChatGPT


def test_each_oddity_of_chatgpt_is_read_or_named():
    read = read_one(as_zip(chatgpt_files(odd_chatgpt(), picture=b"png")))
    assert lines(read) == [
        ("n2", None, "user", "Text before the picture\nand after"),
        ("n7", "n2", "assistant", "It is a lighthouse. ([Sea](https://sea.example))"),
        ("n8", "n7", "user", "old wording"),
        ("n9", "n7", "user", "new wording\n\n[File: plan.pdf]"),
        ("n10", "n9", "assistant", "**Plan**\n\n# The plan"),
    ]
    assert read.messages[1].reasoning == ["**Look**\n\nA small picture."]
    assert (read.messages[1].model, read.messages[1].also) == ("gpt-x", ["n3"])
    assert [each.content for _, each in read.messages[1].steps] == ["", "X\nrobots"]
    assert (read.head, read.title, read.archived) == ("n10", "", True)
    assert read.left_out == Counter(
        {"system": 1, "hidden": 1, "reasoning_notes": 1, "canvas_changes": 1, "empty": 1,
         "unknown:super_widget": 1}
    )  # fmt: skip
    assert read.missing == Counter({"voice": 1, "other_files": 1})
    assert read.found == 14
    assert adds_up(read)


def test_hidden_instructions_are_in_no_message():
    read = read_one(as_json([odd_chatgpt()]))
    assert "Lives by the sea" not in str(lines(read))


def test_a_picture_is_found_by_its_id_and_named_by_the_map():
    export = export_of(as_zip(chatgpt_files(odd_chatgpt(), picture=b"png")))
    [found] = export.read()
    [source] = found.conversation.messages[0].pictures
    assert export.read_picture(source, most_bytes=100) == ("sea.png", b"png")
    assert export.read_picture(source, most_bytes=2) is None


@pytest.mark.parametrize("path", ["file-1-sea.png", "dalle-generations/file-1.webp", "user-9/file-1-abc.png"])
def test_a_picture_of_an_older_export_is_found_in_any_folder(path):
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1#part?x"}
    asked = chatgpt("c", [node("a", None, "user", {"content_type": "multimodal_text", "parts": [pointer]})])
    export = export_of(as_zip({"conversations.json": [asked], "file-10-other.png": b"other", path: b"sea"}))
    [found] = export.read()
    assert export.read_picture(found.conversation.messages[0].pictures[0], most_bytes=9) == ("", b"sea")


def test_consecutive_texts_of_a_reply_are_one_message_and_versions_are_not():
    nodes = [
        node("q", "root", "user", "go"),
        node("a", "q", "assistant", "first"),
        node("b", "a", "assistant", "second"),
        node("c", "b", "user", "on"),
        node("d", "c", "assistant", "third"),
        node("e1", "d", "assistant", "one end"),
        node("e2", "d", "assistant", "another"),
    ]
    read = read_one(as_json([chatgpt("c", nodes, "e1")]))
    assert [(each.parts, each.parent) for each in read.messages] == [
        ([("q", "go")], None),
        ([("a", "first"), ("b", "second")], "q"),
        ([("c", "on")], "a"),
        ([("d", "third")], "c"),
        ([("e1", "one end")], "d"),
        ([("e2", "another")], "d"),
    ]
    assert read.head == "e1"


def test_citations_are_links_or_nothing():
    citations = [{"metadata": {"title": "A [b]", "url": "https://a.example"}}]
    groups = [{"entries": [{"title": "Found", "url": "https://f.example",
                            "ref_id": {"turn_index": 0, "ref_index": 4}}]}]  # fmt: skip
    text = (
        "Old\u30101\u2020source\u3011 new\ue200cite\ue202turn0search4\ue201 \ue203span\ue204 "
        'by \ue200entity\ue202["people","Ann Example",0]\ue201 and\ue200navlist\ue202x\ue201.'
    )
    about = {"citations": citations, "search_result_groups": groups}
    read = read_one(as_json([chatgpt("c", [node("a", "root", "assistant", text, metadata=about)])]))
    expected = "Old([A  b](https://a.example)) new([Found](https://f.example)) span by Ann Example and."
    assert read.messages[0].content == expected


def test_a_conversation_without_messages_does_not_stop_the_others():
    without = {"id": "c-2", "title": "none", "create_time": 1}
    found = read_all(as_json([without, chatgpt("c", [node("a", None, "user", "x")])]))
    assert found[0] == BrokenConversation("none", "no_messages")
    assert isinstance(found[1], ImportedConversation)


def test_messages_in_a_circle_are_counted_and_a_whole_circle_is_broken():
    circle = [node("a", "b", "user", "x"), node("b", "a", "assistant", "y")]
    half = chatgpt("half", [*circle, node("c", "root", "user", "seen")])
    whole = {"id": "whole", "title": "whole", "mapping": {each["id"]: each for each in circle}}
    read, broken = read_all(as_json([half, whole]))
    assert lines(read) == [("c", None, "user", "seen")]
    assert read.left_out == Counter(cycle=2)
    assert broken == BrokenConversation("whole", "cycle")


def test_a_parent_that_is_not_there_makes_a_beginning():
    read = read_one(as_json([chatgpt("c", [node("a", "elsewhere", "user", "x"), node("b", "b", "user", "y")])]))
    assert [line[:2] for line in lines(read)] == [("a", None), ("b", None)]


@st.composite
def trees(draw):
    """Return nodes in any order: each follows an earlier one, or none."""
    count = draw(st.integers(1, 25))
    kinds = st.sampled_from(["user", "assistant", "hidden", "tool", "thoughts", "empty", "null"])
    nodes = []
    for number in range(count):
        kind = draw(kinds)
        parent = draw(st.sampled_from(["root", "gone", *(f"n{before}" for before in range(number))]))
        made = node(f"n{number}", parent, "assistant" if kind in ("thoughts", "empty", "null") else kind, f"t{number}")
        if kind == "hidden":
            made["message"]["author"]["role"], made["message"]["weight"] = "user", 0
        if kind == "thoughts":
            made["message"]["content"] = {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}
        if kind == "empty":
            made["message"]["content"] = {"content_type": "text", "parts": [""]}
        if kind == "null":
            made["message"] = None
        nodes.append((kind, made))
    return draw(st.permutations(nodes))


@given(trees())
def test_every_visible_message_of_any_tree_is_there_below_its_parent(tree):
    tree = [("user", node("first", "root", "user", "t")), *tree]
    parents = {made["id"]: made["parent"] for _, made in tree}
    kinds = {made["id"]: kind for kind, made in tree}
    read = read_one(as_json([chatgpt("c", [made for _, made in tree])]))
    owner = {key: message.source_id for message in read.messages for key, _ in message.parts}
    visible = {key for key, kind in kinds.items() if kind in ("user", "assistant")}
    assert set(owner) == visible
    by_id = {message.source_id: message for message in read.messages}
    for key in visible:
        above = parents[key]
        while above in kinds and above not in visible:
            above = parents[above]
        above = above if above in visible else None
        message = by_id[owner[key]]
        joined = [part for part, _ in message.parts]
        place = joined.index(key)
        assert (joined[place - 1] if place else message.parent and by_id[message.parent].parts[-1][0]) == above
        assert dict(message.parts)[key] == ("t" if key == "first" else f"t{key[1:]}")
    assert adds_up(read)
    assert read.found == sum(kind != "null" for kind in kinds.values())


# The others


def test_claude_blocks_files_and_versions_are_read():
    read = read_one(as_zip({"conversations.json": [claude()], "users.json": [], "memories.json": {"a": "b"}}))
    assert lines(read) == [
        ("m1", None, "user", "Read my note\n\n[File: note.txt]\n\nhello\n\n[File: photo.png]"),
        ("m2", "m1", "assistant", "**a.md**\n\n```\n# A\n```\n\nDone."),
        ("m3", "m1", "assistant", "Second try"),
    ]
    assert (read.messages[1].reasoning, read.messages[1].reasoning_seconds) == (["short"], 2.0)
    assert (read.head, read.messages[1].model) == ("m3", "")
    assert read.missing == Counter({"missing_files": 1, "tool_parts": 1, "unknown:hologram": 1})
    assert read.created_at == dt.datetime(2026, 3, 1, 10, 0, 0, 123456, dt.UTC)


def test_claude_without_parents_is_a_line_and_one_without_messages_is_named():
    rows = [{**row, "parent_message_uuid": None} for row in claude_messages()]
    line, empty = read_all(as_json([claude(messages=rows), {**claude("e"), "chat_messages": []}]))
    assert [each.parent for each in line.messages] == [None, "m1", "m2"]
    assert empty == BrokenConversation("Notes", "no_messages")


def test_a_single_conversation_that_an_extension_saved_is_read():
    read = read_one(as_json(claude(current_leaf_message_uuid="m2", model="big", is_starred=True)))
    assert (read.head, read.starred, read.messages[1].model) == ("m2", True, "big")


def test_open_webui_is_read_by_its_parents():
    read = read_one(as_json([open_webui()]))
    assert lines(read) == [
        ("m1", None, "user", "Hi"),
        ("m2", "m1", "assistant", "Hello"),
        ("m4", "m2", "user", "and more"),
    ]
    assert (read.messages[1].reasoning, read.messages[1].model) == (["x"], "a")
    assert (read.head, read.starred) == ("m4", True)
    assert (read.left_out, read.missing) == (Counter(failed=1), Counter(missing_files=1))
    assert read.messages[0].pictures[0].content == b"\0\0\0"


@pytest.mark.parametrize("nested", [False, True])
def test_librechat_flat_and_nested_are_the_same(nested):
    read = read_one(as_json(librechat(nested=nested)))
    assert sorted(lines(read)) == [
        ("q1", None, "user", "Well?"),
        ("q2", None, "user", "Or so?"),
        ("r1", "q1", "assistant", "Yes."),
    ]
    reply = next(each for each in read.messages if each.role == "assistant")
    assert (reply.reasoning, reply.model, reply.columns) == (["hm"], "big", {"state": "interrupted"})
    assert read.head == "r1"


OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "2+2?"}]},
    {"role": "assistant", "content": None,
     "tool_calls": [{"id": "1", "type": "function", "function": {"name": "sum", "arguments": "{}"}}]},
    {"role": "tool", "content": "4", "tool_call_id": "1"},
    {"role": "assistant", "content": "4"},
]  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [as_json(OPENAI), as_json({"messages": OPENAI}), b"\n".join(map(as_json, OPENAI)), as_json([{"messages": OPENAI}])],
)
def test_openai_messages_are_one_conversation_in_each_form(content):
    read = read_one(content)
    assert [(each.role, each.content) for each in read.messages] == [("user", "2+2?"), ("assistant", "4")]
    assert [message.role for _, message in read.messages[1].steps] == ["assistant", "tool"]
    assert read.left_out == Counter(system=1)
    assert adds_up(read)


def test_a_tool_turn_that_is_not_whole_is_left_out():
    read = read_one(as_json([*OPENAI[:3], OPENAI[4]]))
    assert [each.steps for each in read.messages] == [[], []]
    assert read.left_out == Counter(system=1, tools=1)


def test_lines_of_objects_are_a_conversation_each():
    content = b"\n".join(as_json({"messages": [{"role": "user", "content": text}]}) for text in ("a", "b"))
    first, second = read_all(content)
    assert first.source_id != second.source_id
    assert read_all(content)[0].source_id == first.source_id


# Files


def test_all_forms_of_a_chatgpt_export_are_the_same():
    asked = chatgpt("c", [node("a", None, "user", "x")])
    forms = [
        as_json([asked]),
        as_json(asked),
        as_json({"conversations": [asked]}),
        as_zip({"conversations.json": [asked]}),
        as_zip({"some/folder/conversations-000.json": [asked], "__MACOSX/x.json": b"\0"}),
        b"\xef\xbb\xbf" + as_json([asked]),
        json.dumps([asked]).encode("utf-16"),
    ]
    for form in forms:
        assert lines(read_one(form)) == [("a", None, "user", "x")]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", ExportNotJson),
        (b"hello", ExportNotJson),
        (b'"text"', ExportNotJson),
        (b"[]", ExportUnknown),
        (b"{}", ExportUnknown),
        (as_json([{"a": 1}] * 600), ExportUnknown),
        (as_json([{"title": "Prompted x", "header": "Gemini Apps", "time": "x"}]), ExportForeign),
        (as_json([{"conversations": [{"from": "human", "value": "x"}]}]), ExportUnknown),
        (as_json({"conversations": [{"from": "human", "value": "x"}]}), ExportForeign),
        (as_json([{"mapping": {"a": {"message": {"fragments": []}}}}]), ExportForeign),
        (as_json({"exports": [{"url": "https://x.example/projects-000.zip?sig=1"}]}), ExportManifestOnly),
        (as_zip({"user.json": {"id": 1}, "a.txt": b"x"}), ExportWithoutConversations),
        (as_zip({"conversations.json": [odd_chatgpt()]})[:-30], ExportDamaged),
        (as_json([chatgpt("c", [node("a", None, "user", "x")])])[:-30], ExportDamaged),
    ],
)
def test_what_is_no_export_is_named(content, error):
    found = read_all(content)
    assert isinstance(found[-1], FailedFile)
    assert isinstance(found[-1].error, error)


def test_what_is_whole_before_a_cut_is_read():
    asked = [chatgpt(f"c{number}", [node("a", None, "user", "x")]) for number in range(3)]
    found = read_all(as_json(asked)[:-10])
    assert [each.source_id for each in found[:2]] == ["c0", "c1"]
    assert isinstance(found[2].error, ExportDamaged)


def test_an_encrypted_archive_is_named():
    packed = bytearray(as_zip({"conversations.json": [odd_chatgpt()]}))
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    assert isinstance(read_all(bytes(packed))[0].error, ExportEncrypted)


def test_a_zip_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(archive, "BOMB_BYTES", 10_000)
    packed = as_zip({"conversations.json": b"[" + b" " * 10_000_000})
    assert isinstance(read_all(packed)[-1].error, ExportTooLarge)
    monkeypatch.setattr(archive, "MOST_JSON_BYTES", 1_000_000)
    assert isinstance(read_all(packed)[-1].error, ExportTooLarge)


def test_an_archive_of_too_many_files_is_refused_before_its_list_is_read(monkeypatch):
    monkeypatch.setattr(archive, "MOST_ENTRIES", 2)
    monkeypatch.setattr(archive, "ZipFile", None)
    packed = as_zip({f"{number}.json": {} for number in range(3)})
    assert isinstance(read_all(packed)[0].error, ExportTooLarge)


def test_paths_that_lead_elsewhere_are_only_names():
    asked = chatgpt("c", [node("a", None, "user", "x")])
    assert read_one(as_zip({"../../../etc/conversations.json": [asked]})).source_id == "c"


def test_a_damaged_file_in_an_archive_does_not_stop_the_others():
    asked = [chatgpt(f"c{number}", [node("a", None, "user", "x" * 300)]) for number in range(2)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for number, each in enumerate(asked):
            made.writestr(f"{number}.json", as_json([each]))
    content = packed.getvalue().replace(b"x" * 300, b"y" * 300, 1)
    found = read_all(content)
    assert [each.error.code for each in found if isinstance(each, FailedFile)] == ["export_damaged"]
    assert found[-1].source_id == "c1"


# The stream


def test_values_that_span_pieces_are_read_and_broken_ones_are_passed_over(monkeypatch):
    monkeypatch.setattr(json_stream, "PIECE_BYTES", 7)
    monkeypatch.setattr(json_stream, "MOST_CHARACTERS", 60)
    monkeypatch.setattr(json_stream, "LONGEST_NUMBER", 10)
    text = b'[1, true, null, -2.5e3, "a\\"]b", {"k": [1, {"x": "}"}]}, {bad: 1}, ' + as_json("z" * 500) + b', ["ok"]]'
    found = list(JsonStream(io.BytesIO(text)).items())
    reasons = [each.reason if isinstance(each, Exception) else each for each in found]
    assert reasons == [1, True, None, -2500.0, 'a"]b', {"k": [1, {"x": "}"}]}, "not_json", "too_large", ["ok"]]


def test_deep_nesting_is_one_broken_value():
    deep = b"[" * 200_000 + b"]" * 200_000
    found = list(JsonStream(io.BytesIO(b"[" + deep + b",2]")).items())
    assert (found[0].reason, found[1]) == ("too_deep", 2)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)), st.integers(1, 20))  # fmt: skip
def test_any_list_is_read_as_the_standard_library_does(value, piece):
    class Slow:
        def __init__(self):
            self.file = io.BytesIO(json.dumps([value, value]).encode())

        def read(self, size):
            return self.file.read(piece)

    assert list(JsonStream(Slow()).items()) == [value, value]


def test_a_list_that_ends_too_early_says_so():
    with pytest.raises(CutOff):
        list(JsonStream(io.BytesIO(b'[1, {"a": ')).items())


@pytest.mark.parametrize(
    "value", [None, "", "x", True, 0, -(10**15), 1e300, float("nan"), "0000-01-01", "9999-12-31T00:00:00Z", [], "1970"]
)
def test_a_moment_that_can_not_be_is_none(value):
    assert read_moment(value) is None


def test_moments_are_read_in_seconds_milliseconds_and_words():
    at = dt.datetime(2025, 10, 20, 22, 40, tzinfo=dt.UTC)
    assert [read_moment(each) for each in (1761000000, 1761000000000, "2025-10-20T22:40:00Z")] == [at] * 3

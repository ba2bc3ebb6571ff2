"""Exports made to cost time, memory or room: what is read of them stays within a small multiple of what was sent."""

from __future__ import annotations

import contextlib
import io
import json
import struct
import time
import tracemalloc
import zipfile

import pytest

from conversations.core.errors import ExportDamaged, ExportError, ExportTooLarge, ExportUnknown
from conversations.core.imports import archive, json_conversations, json_stream
from conversations.core.imports.citations import replace_citations
from conversations.core.imports.imported import Broken, BrokenConversation, unknown
from conversations.core.imports.open_webui import read_details
from conversations.core.imports.read_export import FailedFile
from tests.support.exports import as_json, as_zip, chatgpt, export_of, node, read_all, read_one

MANY = 20_000


def peak_memory_mb(work):
    """Return how much memory *work* has at its peak, as Python counts it."""
    tracemalloc.start()
    try:
        with contextlib.suppress(ExportError):
            work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


SECONDS = 3  # a hundred times what it takes; before, a minute and more


@pytest.mark.parametrize(
    "text",
    [
        '<details type="reasoning">' * MANY,
        '<details type="reasoning"' * MANY,
        '<details type="reasoning">' + "<summary>" * 2 * MANY + "</details>",
        '<details type="tool_calls" ' + "a" * 50 * MANY + "></details>",
        '<details type="tool_calls" ' + 'a="' * MANY + "></details>",
    ],
)
def test_folded_parts_that_never_end_are_read_in_linear_time(text):
    began = time.process_time()
    read_details(text)
    assert time.process_time() - began < SECONDS


def test_folded_parts_are_taken_out_one_after_the_other():
    content = (
        'a <details type="reasoning" done="true"><summary>Thought</summary>\n&gt; why</details>\n'
        'b <details type="tool_calls" result="x"></details> c <details type="other">kept</details> '
        'd <details type="reasoning">open'
    )
    kept = 'a b c <details type="other">kept</details> d <details type="reasoning">open'
    text, reasoning, uses = read_details(content)
    assert (text, reasoning, [use.text for use in uses]) == (kept, ["why"], ["", "x"])


@pytest.mark.parametrize(
    "hostile",
    [
        "[[" + "[]," * 500_000 + "[]]]",
        '{"mapping": {"a": [' + '"ab",' * 300_000 + "1]}}",
        '{"conversationId": "x", "messages": [' + "[[],[],[],[],[],[],[],[],[]]," * 50_000 + "[]]}",
        '{"a": [' + "[],{}," * 10_000 + "1]" + ', "b": [' + "[],{}," * 200_000 + "1]}",
    ],
    ids=["list", "texts", "messages", "members"],
)
def test_what_has_very_many_small_values_is_refused_before_they_are_built(hostile, monkeypatch):
    for module in (json_stream, json_conversations):  # a twentieth of what they are
        monkeypatch.setattr(module, "MOST_VALUES", 75_000)
    monkeypatch.setattr(json_stream, "PIECE_BYTES", 50_000)
    assert peak_memory_mb(lambda: read_all(hostile.encode())) < 15


def test_values_are_counted_but_not_the_marks_in_texts(monkeypatch):
    monkeypatch.setattr(json_stream, "MOST_VALUES", 12)
    monkeypatch.setattr(json_stream, "PIECE_BYTES", 8)
    said = json.dumps([{"a": "1,2,[3],{4},5,6,7,8,9,10,11,12,13"}, [1, 2], list(range(20)), [3]]).encode()
    stream = json_stream.JsonStream(io.BytesIO(said))
    read = list(stream.items())
    assert read[:2] == [{"a": "1,2,[3],{4},5,6,7,8,9,10,11,12,13"}, [1, 2]]
    assert isinstance(read[2], Broken)
    assert (read[2].reason, read[3:]) == ("too_large", [[3]])


def test_a_thought_is_in_one_answer_however_many_hang_below_it():
    thoughts = [node(f"t{number}", f"t{number - 1}" if number else "q", "assistant",
                     {"content_type": "thoughts", "thoughts": [{"content": "x" * 100}]})
                for number in range(200)]  # fmt: skip
    answers = [node(f"a{number}", "t199", "assistant", f"answer {number}") for number in range(200)]
    read = read_one(as_json([chatgpt("c", [node("q", "root", "user", "go"), *thoughts, *answers])]))
    assert sum(len(message.reasoning) for message in read.messages) == 200
    assert sum(len(message.also) for message in read.messages) == 200
    assert read.found == sum(len(message.source_ids) for message in read.messages) + read.left_out.total()


@pytest.mark.parametrize("by_result", [False, True])
def test_a_citation_that_is_repeated_does_not_multiply_what_is_said_of_it(by_result):
    mark = "\ue200cite\ue202turn0search0\ue201"
    if by_result:
        entry = {"title": "x" * 10_000, "url": "https://sea.example", "ref_id": {"turn_index": 0, "ref_index": 0}}
        said = {"search_result_groups": [{"entries": [entry]}]}
    else:
        said = {"content_references": [{"matched_text": mark, "alt": "x" * 10_000}]}
    written = replace_citations(mark * 1_000, said)
    assert 10_000 < len(written) < 500_000


def test_the_name_of_an_unknown_kind_can_be_stored():
    assert unknown("a\x00b\ud800c") == "unknown:abc"


def archive_of(count):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for number in range(count):
            packed.writestr(f"{number}.json", "[]")
    return content.getvalue()


def test_a_zip_file_that_says_it_has_few_files_is_counted(monkeypatch):
    monkeypatch.setattr(archive, "MOST_ENTRIES", 10)
    packed = bytearray(archive_of(11))
    packed[-14:-10] = struct.pack("<HH", 1, 1)
    with pytest.raises(ExportTooLarge):
        archive.Archive(io.BytesIO(packed))


def test_a_zip_file_can_not_name_another_list_than_the_one_that_is_read(monkeypatch):
    """The standard library reads the record before the locator, wherever that points."""
    monkeypatch.setattr(archive, "MOST_DIRECTORY_BYTES", 200)
    packed = archive_of(11)
    entries, size, offset = struct.unpack("<HLL", packed[-12:-2])
    small = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 46, 0)
    large = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, size, offset + len(small))
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    hostile = small + packed[:-22] + large + locator + end
    assert len(zipfile.ZipFile(io.BytesIO(hostile)).infolist()) == 11
    with pytest.raises(ExportTooLarge):
        archive.Archive(io.BytesIO(hostile))


def test_a_large_archive_of_many_files_is_read_still(monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 5)
    packed = archive_of(11)
    assert b"PK\x06\x06" in packed
    assert len(archive.Archive(io.BytesIO(packed)).json_entries) == 11


def test_items_that_are_looked_at_are_bounded_by_their_size(monkeypatch):
    monkeypatch.setattr(json_conversations, "LOOKED_AT_CHARACTERS", 1_000)
    items = [{"x": "y" * 100}] * 50
    export = export_of(json.dumps([*items, chatgpt("c", [node("q", "root", "user", "go")])]).encode())
    [failed] = export.read()
    assert isinstance(failed.error, ExportUnknown)


@pytest.mark.parametrize("messages", [True, False])
def test_an_object_of_many_values_is_bounded_and_the_next_one_is_read(monkeypatch, messages):
    monkeypatch.setattr(json_conversations, "MOST_CHARACTERS", 1_000)
    said = [{"role": "user", "content": "y" * 100}] * 50
    large = {"messages": said} if messages else {**{f"k{number}": "y" * 100 for number in range(50)}, "messages": said}
    small = {"messages": [{"role": "user", "content": "go"}]}
    first, second, third = read_all("\n".join(json.dumps(each) for each in (small, large, small)).encode())
    assert isinstance(second, BrokenConversation)
    assert second.reason == "too_large"
    assert [message.content for message in third.messages] == ["go"]
    assert first.source_id == third.source_id


def test_what_waits_to_be_stored_is_counted_with_all_that_it_holds():
    thought = {"content_type": "thoughts", "thoughts": [{"content": "x" * 5_000}]}
    nodes = [node("q", "root", "user", "go"), node("t", "q", "assistant", thought), node("a", "t", "assistant", "yes")]
    assert 6_000 < read_one(as_json([chatgpt("c", nodes, title="y" * 1_000)])).characters < 7_000


def test_a_message_that_no_page_could_show_is_cut_and_that_is_said(monkeypatch):
    monkeypatch.setattr(json_conversations, "LONGEST_MESSAGE", 10)
    nodes = [node("q", "root", "user", "x" * 10), node("a", "q", "assistant", "y" * 8),
             node("b", "a", "assistant", "z" * 8), node("c", "b", "assistant", "more")]  # fmt: skip
    read = read_one(as_json([chatgpt("c", nodes)]))
    assert [message.content for message in read.messages] == ["x" * 10, "y" * 8 + "\n\nzz\n\n[…]"]
    assert read.messages[1].source_ids == ["a", "b", "c"]
    assert read.missing == {"ends": 1}


@pytest.mark.parametrize("kind", ["dropped", "kept", "many files"])
def test_files_that_are_made_to_be_slow_are_given_up(kind, monkeypatch):
    """Millions of brackets took minutes of a worker, while others waited."""
    monkeypatch.setattr(json_stream, "PIECE_BYTES", 1_000)
    if kind == "dropped":
        monkeypatch.setattr(json_stream, "MOST_VALUES", 10_000)
    good, slow = as_json([chatgpt("c", [node("a", None, "user", "x")])]), b"[" + b"[]," * 20_000 + b"[]]"
    content = good[:-1] + b"," + slow + b"]"
    export = export_of(*[content] * 3 if kind == "many files" else [content])
    export._marks.left = 150_000 if kind == "many files" else 30_000
    found = list(export.read())
    assert found[0].conversation.source_id == "c"
    assert isinstance(found[-1].error, ExportTooLarge)
    assert len([each for each in found if isinstance(each, FailedFile)]) == 1


def test_a_file_of_an_archive_that_is_too_large_is_named_beside_others(monkeypatch):
    monkeypatch.setattr(archive, "BOMB_BYTES", 10_000)
    files = {"a.json": [chatgpt("c", [node("a", None, "user", "x")])], "b.json": b"[" + b" " * 10_000_000 + b"]"}
    found = read_all(as_zip(files))
    assert found[0].source_id == "c"
    assert isinstance(found[1].error, ExportTooLarge)


def test_a_way_of_packing_that_asks_for_much_memory_is_refused():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("conversations.json", as_json([chatgpt("c", [node("a", None, "user", "x")])]))
    assert isinstance(read_all(content.getvalue())[0].error, ExportDamaged)

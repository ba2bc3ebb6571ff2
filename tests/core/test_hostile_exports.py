"""Exports made to cost time, memory or room: what is read of them stays within a small multiple of what was sent."""

from __future__ import annotations

import time

import pytest

from conversations.core.imports.citations import replace_citations
from conversations.core.imports.imported import unknown
from conversations.core.imports.open_webui import read_details
from tests.support.exports import as_json, chatgpt, node, read_one

MANY = 20_000
SECONDS = 3  # a hundred times what it takes; before, a minute and more


@pytest.mark.parametrize(
    "text",
    [
        '<details type="reasoning">' * MANY,
        '<details type="reasoning"' * MANY,
        '<details type="reasoning">' + "<summary>" * 2 * MANY + "</details>",
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
    assert read_details(content) == (kept, ["why"], 1)


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

"""Streaming gives the same HTML as rendering at once, however the text is cut, and in whole blocks."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conversations.rendering import BlockStream, RenderedBlock, block_stream, markdown, render_markdown
from conversations.rendering.block_stream import BlockSplitter, LineBuffer
from conversations.rendering.cpu_limit import CpuLimit
from conversations.rendering.markdown import parse_blocks, render_block
from tests.rendering.random_markdown import ANY_TEXT, MARKDOWN
from tests.rendering.replies import REPLIES
from tests.support.hypothesis_profile import count_cases


def stream(text: str, cuts: list[int]) -> list[RenderedBlock]:
    blocks = BlockStream()
    ends = [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    starts = [0, *ends[:-1]]
    rendered = [block for start, end in zip(starts, ends, strict=True) for block in blocks.feed(text[start:end])]
    return rendered + blocks.finish()


@given(MARKDOWN)
@settings(max_examples=count_cases(600), deadline=None)
@example("- a\n```\nb\n\nc\n```\nd")
@example("- # a\n    b\n\nc")
@example("$$\n- a\n$$\n  ```\nb\n\nc\n  ```\n")
@example("    a\n\n    b\nc")
def test_blocks_joined_equal_the_text_parsed_as_a_whole(text):
    assert render_markdown(text) == render_block(text, {})


@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_in_blocks_equals_the_reply_parsed_as_a_whole(reply):
    assert render_markdown(reply) == render_block(reply, {})


@given(MARKDOWN | ANY_TEXT, st.lists(st.integers(min_value=0), max_size=20))
@settings(max_examples=count_cases(400), deadline=None)
@example("a\r\n\r\nb\rc\r", [1, 2, 3, 4, 5, 6, 7, 8])
def test_cutting_the_text_differently_never_changes_the_blocks(text, cuts):
    assert stream(text, cuts) == stream(text, [])


@given(MARKDOWN | ANY_TEXT, st.lists(st.integers(min_value=0), max_size=20))
@settings(max_examples=count_cases(300), deadline=None)
def test_blocks_tile_the_text_without_gap_or_overlap(text, cuts):
    blocks = stream(text, cuts)
    assert [block.start for block in blocks] == [0, *(block.end for block in blocks)][: len(blocks)]
    assert (blocks[-1].end if blocks else 0) == len(text)


@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_fed_character_by_character_equals_the_reply_at_once(reply):
    blocks = stream(reply, list(range(len(reply))))
    assert "".join(block.html for block in blocks) == render_markdown(reply)


@given(MARKDOWN | ANY_TEXT)
@settings(max_examples=count_cases(400), deadline=None)
@example("- a\n\nb\n\n```\n\n```\n")
@example("[a]: https://b.example\n\n[a]\n\n")
def test_what_the_splitter_has_asked_of_the_parser_is_what_the_parser_says_of_the_finished_text(text):
    splitter = BlockSplitter(CpuLimit(1))
    sources = [source for line in LineBuffer().take(text) for source in splitter.take(line)]
    asked = [source for source in sources if source.parsed]
    assert [source.parsed for source in asked] == [parse_blocks(source.text) for source in asked]


def test_a_finished_paragraph_and_a_finished_list_are_parsed_once(monkeypatch):
    parsed = []
    monkeypatch.setattr(markdown, "parse_blocks", lambda text: parsed.append(text) or parse_blocks(text))
    monkeypatch.setattr(block_stream, "parse_blocks", markdown.parse_blocks)
    stream("One.\n\n- a\n- b\n\nTwo.\n\n", [])
    assert parsed == ["One.\n\n", "- a\n- b\n\n", "Two.\n\n"]


def test_a_paragraph_is_finished_by_the_blank_line_after_it():
    blocks = BlockStream()
    assert blocks.feed("One *two") == []
    assert blocks.feed("* three.\n") == []
    assert blocks.feed("\nFour") == [RenderedBlock(0, 18, "<p>One <em>two</em> three.</p>\n")]
    assert blocks.finish() == [RenderedBlock(18, 22, "<p>Four</p>\n")]


def test_a_fence_with_blank_lines_is_finished_by_its_closing_line():
    blocks = BlockStream()
    assert blocks.feed("```\na\n\nb\n``\n\n") == []
    (block,) = blocks.feed("```\n")
    assert "a\n\nb\n``\n\n</code>" in block.html


def test_a_loose_list_stays_one_list_until_other_text_begins():
    blocks = BlockStream()
    assert blocks.feed("1. a\n\n   b\n\n2. c\n\n") == []
    (block,) = blocks.feed("Done.\n")
    assert block.html.count("<ol>") == 1
    assert block.end == len("1. a\n\n   b\n\n2. c\n\n")


def test_a_link_finds_a_definition_in_an_earlier_block_of_the_stream():
    blocks = stream("[a]: https://b.example\n\nSee [a].\n", [])
    assert 'href="https://b.example"' in blocks[-1].html


def test_a_whole_message_finds_a_definition_in_a_later_block():
    assert 'href="https://b.example"' in render_markdown("See [a].\n\n[a]: https://b.example")


def test_text_that_is_only_blank_gives_no_html_but_keeps_its_place():
    assert stream("\n \n", []) == [RenderedBlock(0, 3, "")]
    assert stream("", []) == []

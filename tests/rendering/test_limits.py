"""Hostile size and depth: the time stays in proportion to the text, and the text stays readable."""

import time

import pytest

from conversations.rendering import BlockStream, render_markdown, render_plain
from conversations.rendering import block_stream as stream
from conversations.rendering.code_blocks import render_code
from tests.rendering.html_rules import problems_of

HOSTILE = {
    "brackets": "[" * 32_768,
    "backticks": "`" * 100_000,
    "letters": "a" * 1_000_000,
    "new lines": "\n" * 1_000_000,
    "returns": "\r" * 300_000,
    "ideographs": "的" * 300_000,
    "elements": "<div>" * 40_000,
    "stars": "*" * 199_000,
    "stars and letters": "*a **b " * 28_000,
    "nested emphasis": "**" * 4_000 + "x" + "**" * 4_000,
    "nested quotations": ">" * 199_000,
    "nested lists": "- " * 99_000 + "x",
    "deep lists": "\n".join("  " * depth + "- x" for depth in range(400)),
    "nested images": "![" * 3_000 + "](https://a.example)" * 3_000,
    "images": "![a](https://b.example)" * 8_000,
    "links": "[a](" * 4_900,
    "addresses": "https://a.example/) " * 9_000,
    "long address": "https://a.example/" + ")" * 19_000,
    "padded table": "|a" * 250 + "\n" + "|-" * 250 + "\n" + "x\n" * 250,
    "formulas": "$a$ " * 4_900,
    "deep formula": "$" + "{" * 990 + "}" * 990 + "$",
    "formulas not closed": "$$ a\n" * 3_900,
    "brackets not closed": "\\[ a\n" * 3_900,
    "fences": "```\n" * 40_000,
    "open fence": "```\n" + "a\n\n" * 60_000,
    "list and headings": "- a\n\n# b\n" * 20_000,
    "references": "[a]: b 'c\n" * 19_000,
    "java without text": "```java\n" + "\n" * 40_000 + "\n```",
    "diff in one line": "```diff\n" + "- " * 20_000 + "\n```",
    "special token": "<|endoftext|>" * 10_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_rendered_safely_and_in_time(name):
    started = time.thread_time()
    html = render_markdown(HOSTILE[name])
    assert time.thread_time() - started < 8
    assert problems_of(html) == []


def test_text_over_the_limit_goes_on_as_plain_text(monkeypatch):
    monkeypatch.setattr(stream, "MAX_CHARACTERS", 20)
    assert render_markdown("*a*\n\n*b*\n\n" + "*c* " * 9) == "<p><em>a</em></p>\n<p><em>b</em></p>\n" + (
        render_plain("*c* " * 9)
    )


def test_text_after_too_much_work_goes_on_as_plain_text(monkeypatch):
    monkeypatch.setattr(stream, "MAX_CPU_SECONDS", 0.0)
    assert render_markdown("*a*\n\n*b*\n").endswith("<p>*b*</p>\n")


def test_a_block_nested_too_deeply_is_plain_and_its_neighbours_are_not():
    html = render_markdown("*a*\n\n" + "**" * 300 + "x" + "**" * 300 + "\n\n*b*")
    assert html.startswith("<p><em>a</em></p>\n<p>****")
    assert html.endswith("<p><em>b</em></p>\n")


def test_a_table_is_not_filled_up_without_bound():
    assert len(render_markdown(HOSTILE["padded table"])) < 200_000


def test_code_too_long_to_highlight_is_shown_without_colours():
    code = "return 1\n" * 6_000
    assert "<pre><code>return 1\n" in render_code(code, language="python")
    assert '<pre><code><span class="k">' in render_code(code[:9_000], language="python")


def test_an_endless_line_is_not_joined_at_every_delta():
    blocks = BlockStream()
    started = time.thread_time()
    for _ in range(150_000):
        blocks.feed("a")
    assert time.thread_time() - started < 3
    assert blocks.finish()[0].end == 150_000

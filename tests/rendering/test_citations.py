"""Numbers in brackets become citations where passages were sent, and nowhere else."""

import time

import pytest

from conversations.rendering import BlockStream, render_markdown
from tests.rendering.html_rules import problems_of
from tests.rendering.payloads import PAYLOADS

ONE = '<button type="button" class="citation" data-citation="1">[1]</button>'
TWO = ONE.replace("1", "2")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("So it is [1].", f"So it is {ONE}."),
        ("So it is.[1][2]", f"So it is.{ONE}{TWO}"),
        ("[1, 2]", ONE + TWO),
        ("[1;2]", ONE + TWO),
        ("对[1，2]。", f"对{ONE}{TWO}。"),
        ("**[2]**", f"<strong>{TWO}</strong>"),
        ("[1]: the first", f"{ONE}: the first"),
        ("[see [1] there]", f"[see {ONE} there]"),
        ("Great![1]", f"Great!{ONE}"),
    ],
)
def test_a_number_in_brackets_is_a_citation(written, shown):
    assert render_markdown(written, passages=2) == f"<p>{shown}</p>\n"


@pytest.mark.parametrize(
    "written", ["[3]", "[0]", "[01]", "[1-2]", "[x]", "[]", "[1 2]", "[999999999]", "[1](nowhere)"]
)
def test_other_brackets_are_text(written):
    assert render_markdown(written, passages=2) == f"<p>{written}</p>\n"


def test_a_number_that_was_not_sent_stays_text_beside_one_that_was():
    assert render_markdown("[1, 7]", passages=2) == f"<p>{ONE}[7]</p>\n"


@pytest.mark.parametrize(
    "written",
    [
        "`[1]`",
        "```\n[1]\n```",
        "[see [1]](https://a.example)",
        "[1](https://a.example)",
        "![a [1]](https://a.example/cat.png)",
        "[1]\n\n[1]: https://a.example",
        "$x[1]$",
    ],
)
def test_code_links_images_and_formulas_hold_no_citation(written):
    assert "data-citation" not in render_markdown(written, passages=2)


def test_nothing_is_a_citation_where_no_passages_were_sent():
    assert render_markdown("So it is [1].") == "<p>So it is [1].</p>\n"


def test_citations_stream_with_their_blocks():
    blocks = BlockStream(passages=2)
    html = [block.html for character in "A [1].\n\n- b [2]\n\nc\n" for block in blocks.feed(character)]
    assert html == [f"<p>A {ONE}.</p>\n", f"<ul>\n<li>b {TWO}</li>\n</ul>\n"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_beside_citations_renders_to_allowed_html(payload):
    assert problems_of(render_markdown(f"[1] {payload} [2]\n\n[[1]{payload}]({payload})", passages=2)) == []


@pytest.mark.parametrize("hostile", ["[1]" * 60_000, "[1, " * 40_000, "[" * 16_000 + "1]" * 16_000], ids=len)
def test_hostile_citations_take_no_long_time(hostile):
    started = time.thread_time()
    assert problems_of(render_markdown(hostile, passages=9)) == []
    assert time.thread_time() - started < 8

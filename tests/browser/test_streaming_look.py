"""A reply while it is written looks as it will at its end, and nothing on the page moves when a block ends."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page

WRITE = """async ({ pieces, waits }) => {
  document.body.dataset.markdown = "/static/js/markdown/markdown.js";
  const { ReplyView } = await import("/static/js/messages/reply_view.js");
  const sentences = document.createElement("script");
  sentences.type = "application/json";
  sentences.id = "sentences";
  sentences.textContent = JSON.stringify({ copy: "Copy", thoughtFor: "%(time)s" });
  document.getElementById("sentences") ?? document.body.append(sentences);
  const article = document.createElement("article");
  article.className = "message prose";
  article.dataset.step = "1";
  article.dataset.passages = "2";
  article.dataset.state = "streaming";
  for (const name of ["blocks", "tail"]) {
    const part = document.createElement("div");
    part.dataset[name] = "";
    part.className = name;
    article.append(part);
  }
  article.lastChild.dataset.at = "0";
  document.body.append(article);
  const view = new ReplyView(article);
  window.changes = 0;
  const observer = new MutationObserver(() => { window.changes += 1; });
  observer.observe(article, { subtree: true, childList: true, characterData: true });
  let at = 0;
  const shown = [];
  for (const text of pieces) {
    view.take({ type: "reply.delta", step: 1, at, text });
    at += text.length;
    await new Promise(requestAnimationFrame);
    if (!waits && at < pieces.join("").length) {
      continue;
    }
    while (!view.open.isCurrent) {
      await new Promise(requestAnimationFrame);
    }
    view.open.drawn?.settle();
    shown.push(view.article.querySelector("[data-tail]").innerHTML);
  }
  article.remove();
  return shown;
}"""


@pytest.fixture(scope="module")
def write(site, browser) -> Any:
    """Give pieces of a reply to the page; return what stands in the open block after each."""
    page: Page = browser.new_page(base_url=site.address)
    page.goto("/accounts/login/")
    yield lambda *pieces: page.evaluate(WRITE, {"pieces": pieces, "waits": True})
    page.close()


@pytest.fixture(scope="module")
def write_fast(site, browser) -> Any:
    """Give a piece of a reply with each frame; return what stands there at the end, and how often that changed."""
    page: Page = browser.new_page(base_url=site.address)
    page.goto("/accounts/login/")

    def write(*pieces: str) -> tuple[str, int]:
        shown = page.evaluate(WRITE, {"pieces": pieces, "waits": False})
        return shown[-1], page.evaluate("window.changes")

    yield write
    page.close()


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("so **bold and *both", "<p>so <strong>bold and <em>both</em></strong></p>"),
        ("so **bold*", "<p>so <strong>bold</strong></p>"),
        ("a ~~wrong", "<p>a <s>wrong</s></p>"),
        ("run `make te", "<p>run <code>make te</code></p>"),
        ("5*3 is", "<p>5*3 is</p>"),
        ("see [the page](https://exam", "<p>see the page</p>"),
        ("see [the pa", "<p>see the pa</p>"),
        ("as said [1", "<p>as said </p>"),
        ("costs $x_1 and **y", "<p>costs $x_1 and **y</p>"),
        ("one\ntwo", "<p>one\ntwo</p>"),
        ("Title\n-", "<p>Title</p>"),
        ("# Tit", "<h3>Tit</h3>"),
        ("- one\n  - tw", "<ul><li>one\n<ul><li>tw\n</li></ul></li></ul>"),
        ("> said **so", "<blockquote><p>said <strong>so</strong></p></blockquote>"),
        ("| a | b |", ""),
    ],
)
def test_what_is_open_is_shown_closed(write, text, drawn):
    [shown] = write(text)
    assert shown == drawn


def test_a_code_box_opens_with_its_first_line_and_grows(write):
    early, opened, grown, closed = write("```pyth", "on\nprint(", "1)\n``", "`\n")
    assert early == ""
    assert '<span class="code-block-language">python</span>' in opened
    assert "<code>print(</code>" in opened
    assert "<code>print(1)\n</code>" in grown
    assert "<code>print(1)\n</code>" in closed


def test_a_table_keeps_the_widths_of_its_first_row(write):
    *_, waiting, first, second = write("| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "| much longer than that | **4")
    assert "is-waiting-for-row" in waiting
    widths = [part.split(";")[0] for part in first.split("width: ")[1:]]
    assert widths
    assert widths == [part.split(";")[0] for part in second.split("width: ")[1:]]
    assert "<strong>4</strong>" in second


def test_a_citation_is_a_button_at_once(write):
    [shown] = write("as said [1] and")
    assert 'data-citation="1"' in shown


def test_what_is_too_long_to_draw_grows_as_text(write):
    long = "word **bold** " * 2_000
    first, second = write(long, "and **more")
    assert first == long
    assert second == long + "and **more"


@pytest.mark.parametrize("begin", ["", "```\n"], ids=["text", "code"])
def test_what_is_very_long_grows_seldom_and_is_whole_at_the_end(write_fast, begin):
    pieces = [begin, *["words and words " * 60 for _ in range(200)]]  # 192,000 characters
    shown, changes = write_fast(*pieces)
    assert "".join(pieces)[len(begin) :].strip() in shown
    assert changes < len(pieces) / 2


BAD = {
    "500 columns": "\n".join(["| head " * 500 + "|", "|---" * 500 + "|", *["| cell " * 500 + "|"] * 4]),
    "10,000 items": "\n".join(f"- item {number}" for number in range(10_000)),
    "nested fences": "".join("`" * (3 + number % 20) + "\ncode\n" for number in range(400)),
    "unclosed TeX": "$$ \\frac{a}{b} + " * 4_000,
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_written_badly_is_shown_to_its_last_letter(write_fast, name):
    text = BAD[name]
    size = len(text) // 8 + 1
    shown, _ = write_fast(*(text[at : at + size] for at in range(0, len(text), size)))
    assert letters_of(re.sub(r'<div class="code-block-bar">.*?</div>|<[^>]*>', "", shown)) == letters_of(text)


def letters_of(text: str) -> int:
    return sum(each.isascii() and each.isalnum() for each in text)


HEIGHTS = """async (block) => {
  for (const sheet of ["tokens", "base", "messages"]) {
    await new Promise((done) => document.head.append(Object.assign(document.createElement("link"), {
      rel: "stylesheet", href: `/static/css/${sheet}.css`, onload: done })));
  }
  const prose = Object.assign(document.createElement("div"), { className: "prose" });
  prose.innerHTML = "<div data-blocks><p>before</p></div><div class='tail is-drawn'></div>";
  document.body.prepend(prose);
  const heights = [[block, ""], ["", block]].map(([tail, finished]) => {
    prose.firstChild.innerHTML = `<p>before</p>${finished}`;
    prose.lastChild.innerHTML = tail;
    return prose.getBoundingClientRect().height;
  });
  prose.remove();
  return heights;
}"""


@pytest.mark.parametrize(
    "block",
    [
        "<hr>",
        "<p>Words</p>",
        "<h3>Words</h3>",
        "<h5>Words</h5>",
        "<ul><li>Words</li></ul>",
        "<blockquote><p>Words</p></blockquote>",
        "<div class='table-scroll'><table><tr><th>Words</th></tr></table></div>",
    ],
)
def test_nothing_below_moves_when_a_block_ends(site, browser, block):
    page: Page = browser.new_page(base_url=site.address)
    page.goto("/accounts/login/")
    while_written, ended = page.evaluate(HEIGHTS, block)
    page.close()
    assert ended == while_written

"""The block that is being written, as the browser draws it: at its end the same as the server draws it."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.html import escape
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from conversations.rendering import code_blocks, formulas
from conversations.rendering.citations import citation_env
from conversations.rendering.markdown import render_block
from tests.rendering.payloads import PAYLOADS
from tests.rendering.replies import REPLIES

PASSAGES = 3
DRAW = """async ({ texts, passages, open }) => {
  const { MarkdownTree } = await import("/static/js/markdown/markdown_tree.js");
  const { DrawnMarkdown } = await import("/static/js/markdown/drawn_markdown.js");
  const wanted = (root) => [...root.childNodes].flatMap((node) => {
    if (node instanceof Text) {
      return [node.data];
    }
    const names = [...node.attributes].map(({ name, value }) => `${name}=${value}`).sort();
    return [[node.localName, names, wanted(node)]];
  });
  const isBlock = (each) => Array.isArray(each)
    && /^(blockquote|div|h\\d|hr|li|ol|p|pre|ul|table|thead|tbody|tr|th|td)$/.test(each[0]);
  // Of white space, what no layout shows: between blocks, and at their ends.
  const tidy = (nodes, keeps) => {
    const joined = [];
    for (const node of nodes) {
      if (typeof node === "string" && typeof joined.at(-1) === "string") {
        joined[joined.length - 1] += node;
      } else {
        joined.push(node);
      }
    }
    return joined.flatMap((node, index) => {
      if (typeof node !== "string") {
        const [tag, names, children] = node;
        return [[tag, names, tidy(children, keeps || tag === "pre" || tag === "code")]];
      }
      if (keeps) {
        return node ? [node] : [];
      }
      let text = node;
      if (!index || isBlock(joined[index - 1])) text = text.replace(/^[\\n\\t ]+/, "");
      if (index === joined.length - 1 || isBlock(joined[index + 1])) text = text.replace(/[\\n\\t ]+$/, "");
      return text ? [text] : [];
    });
  };
  return texts.map(({ text, html }) => {
    const ours = document.createElement("div");
    let isPlain = false;
    try {
      const tree = new MarkdownTree(passages);
      const drawn = new DrawnMarkdown(ours, { fades: false });
      for (const cut of open) {
        drawn.show(tree.readOpen(text.slice(0, Math.floor(text.length * cut))));
      }
      drawn.show(tree.read(text));
    } catch (error) {
      if (error.constructor.name !== "BlockTooComplex") throw error;
      isPlain = true;
    }
    const theirs = document.createElement("template");
    theirs.innerHTML = html;
    return {
      isPlain,
      ours: JSON.stringify(tidy(wanted(ours), false)),
      theirs: JSON.stringify(tidy(wanted(theirs.content), false)),
    };
  });
}"""

MARKS = [
    "*",
    "**",
    "_",
    "__",
    "~~",
    "~",
    "`",
    "``",
    "***",
    "[",
    "]",
    "(",
    ")",
    "](",
    "![",
    "<",
    ">",
    "\\",
    "&amp;",
    "&copy;",
    "$",
    "$$",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "|",
    "&#35;",
    "&nothing;",
    "\\*",
    "[1]",
    "[2, 3]",
    "[7]",
    "[1][9]",
    "  \n",
]
ADDRESSES = [
    "https://example.org/a_b",
    "[link](https://example.org/?q=1&r=2 'title')",
    "[other.example](http://example.org)",
    "![picture](https://example.org/a.png)",
    "<https://example.org/>",
    "<who@example.org>",
    "www.example.org.",
    "[x](javascript:alert)",
    "[name]",
    "[text][name]",
    "[mail](mailto:who@example.org)",
    "(https://example.org/a)",
]
WORDS = ["word", "a", "5", "é", "的", "😀", "two words", "x_y_z", "end.", "— “so”", "snake_case"]
STARTS = [
    "",
    "",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "10. ",
    "> ",
    ">",
    "# ",
    "### ",
    "####### ",
    "    ",
    "  ",
    "   ",
    "\t",
    "- - ",
    "> - ",
    "- > ",
    "- [ ] ",
    "- [x] ",
    "1. - ",
    "   - ",
    "  1. ",
    "> > ",
]
LINES = [
    "",
    "",
    "---",
    "***",
    "===",
    "```",
    "~~~",
    "```python",
    "~~~~ text",
    "````",
    "| a | b |",
    "|---|:-:|",
    "| 1 | 2",
    "-|-",
    "$$",
    "\\[",
    "\\]",
    "[name]: https://example.org/d 'x'",
    "[other]: <https://example.org>",
    "#",
    "-",
    "1.",
    ">",
    "| a \\| b | `c|d` |",
    "a | b",
    "--- | ---",
    ":-- | --:",
    "x | y | z",
]
text = st.lists(st.sampled_from(MARKS + ADDRESSES + WORDS + [" ", " ", " "]), min_size=1, max_size=9).map("".join)
line = st.one_of(
    st.sampled_from(LINES),
    st.tuples(st.sampled_from(STARTS), st.one_of(text, st.sampled_from(LINES))).map("".join),
)
documents = st.lists(line, min_size=1, max_size=9).map("\n".join)


@pytest.fixture(scope="module")
def drawn(site, browser) -> Any:
    """Draw texts in the browser, beginnings of them first; return that next to what the server draws."""
    page: Page = browser.new_page(base_url=site.address)
    page.goto("/accounts/login/")

    def draw(texts: list[str], beginnings: tuple[float, ...] = ()) -> list[dict[str, Any]]:
        pairs = [{"text": each, "html": str(render_block(each, citation_env(PASSAGES)))} for each in texts]
        return page.evaluate(DRAW, {"texts": pairs, "passages": PASSAGES, "open": list(beginnings)})

    with pytest.MonkeyPatch.context() as patch:
        # What the browser leaves to the server: formulas stay as they are written, code has no colours.
        patch.setattr(formulas, "render_formula", lambda source, *, display, written: str(escape(written)))
        patch.setattr(code_blocks, "_is_highlightable", lambda code, language: False)
        yield draw
    page.close()


def check(texts: list[str], outcomes: list[dict[str, Any]]) -> None:
    """Compare them. What is beyond a limit is plain text in the browser; such a text is none of ours here."""
    for each, outcome in zip(texts, outcomes, strict=True):
        if not outcome["isPlain"]:
            assert outcome["ours"] == outcome["theirs"], each


@given(texts=st.lists(documents, min_size=1, max_size=60))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_finished_block_is_drawn_as_the_server_draws_it(drawn, texts):
    check(texts, drawn(texts))


@given(texts=st.lists(documents, min_size=1, max_size=40), cuts=st.lists(st.floats(0, 1), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_was_drawn_of_its_beginning_leaves_nothing_behind(drawn, texts, cuts):
    check(texts, drawn(texts, tuple(sorted(cuts))))


@pytest.mark.parametrize("texts", [REPLIES, PAYLOADS], ids=["replies", "payloads"])
def test_replies_and_hostile_texts_are_drawn_as_the_server_draws_them(drawn, texts):
    check(list(texts), drawn(list(texts), (0.3, 0.6)))

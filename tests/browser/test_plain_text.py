"""The plain text of rendered Markdown, as the browser makes it for the clipboard and for screen readers."""

from __future__ import annotations

import pytest

PLAIN = """async (html) => {
  const { plainText } = await import("/static/js/shared/plain_text.js");
  const element = document.createElement("div");
  element.innerHTML = html;
  return plainText(element);
}"""


READ = """async (html) => {
  const { Announcer } = await import("/static/js/shared/announcer.js");
  const [region, article] = [document.createElement("p"), document.createElement("article")];
  article.innerHTML = `<h2 class="message-name">Demo</h2><div data-content>${html}</div>`;
  new Announcer(region).readReply(article);
  return region.textContent;
}"""


@pytest.fixture(scope="module")
def evaluate(site, browser):
    page = browser.new_page(base_url=site.address)
    page.goto("/accounts/login/")
    yield page.evaluate
    page.close()


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One <strong>two</strong>\nthree</p><p>Four<br>five</p>", "One two three\n\nFour\nfive"),
        ("<ul><li>a</li><li><p>b</p><ul><li>c</li></ul></li></ul>", "- a\n- b\n  - c"),
        ('<ol start="9"><li>a</li><li>b</li></ol>', "9. a\n10. b"),
        (
            "<table><thead><tr><th>x</th><th>y</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
            "x\ty\n1\t2",
        ),
        (
            '<div><div class="code-block-bar">python<button>Copy</button></div><pre><code>a\n  b\n</code></pre></div>',
            "a\n  b",
        ),
        ("<blockquote><p>said</p></blockquote><hr><h2>Then</h2>", "said\n\nThen"),
        ("<p>  </p>", ""),
    ],
)
def test_blocks_stand_apart_and_marks_are_gone(evaluate, html, text):
    assert evaluate(PLAIN, html) == text


def test_a_finished_reply_is_read_without_the_words_of_buttons(evaluate):
    code = '<div class="code-block-bar">python<button>Copy</button></div><pre><code>a</code></pre>'
    assert evaluate(READ, f"<p>Code:</p>\n<div>{code}</div>").strip() == "Demo: Code:\na"

"""The plain text of rendered Markdown, as the browser makes it for the clipboard."""

from __future__ import annotations

import pytest

PLAIN = """async (html) => {
  const { plainText } = await import("/static/js/shared/plain_text.js");
  const element = document.createElement("div");
  element.innerHTML = html;
  return plainText(element);
}"""


@pytest.fixture(scope="module")
def plain(site, browser):
    page = browser.new_page(base_url=site.address)
    page.goto("/accounts/login/")
    yield lambda html: page.evaluate(PLAIN, html)
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
def test_blocks_stand_apart_and_marks_are_gone(plain, html, text):
    assert plain(html) == text

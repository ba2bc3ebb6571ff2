"""What people see: links, tables, tasks, code and headings."""

import pytest
from hypothesis import given, settings

from conversations.rendering import links, render_markdown, render_plain
from tests.rendering.random_markdown import PARAGRAPHS
from tests.support.hypothesis_profile import count_cases


def test_a_bare_address_is_linked_without_the_punctuation_after_it():
    html = render_markdown("See (https://a.example/b_(c)), or www.d.example.")
    assert ">https://a.example/b_(c)</a>)," in html
    assert 'href="https://www.d.example"' in html
    assert html.endswith("</a>.</p>\n")


def test_a_bare_address_ends_at_full_width_punctuation():
    assert ">https://a.example/路</a>。" in render_markdown("看https://a.example/路。謝謝")


def test_addresses_in_code_and_in_links_are_left_alone():
    html = render_markdown("`https://a.example` [https://b.example](https://b.example)")
    assert html.count("<a ") == 1


def test_a_link_says_where_it_leads():
    assert 'title="https://a.example/x"' in render_markdown("[docs](https://a.example/x 'safe')")


@pytest.mark.parametrize("text", ["bank.example", "https://bank.example/login", "www.bank.example", "a.example.bank"])
def test_a_link_whose_text_names_another_host_shows_its_own(text):
    html = render_markdown(f"[{text}](https://evil.example)")
    assert f'{text}<span class="link-host"> (evil.example)</span></a>' in html


@pytest.mark.parametrize(
    "text",
    ["here", "https://www.bank.example/docs/x.html", "bank.example", "www.bank.example", "https://bank.example/x"],
)
def test_a_link_whose_text_is_honest_shows_nothing_more(text):
    assert "link-host" not in render_markdown(f"[{text}](https://www.bank.example/x)")


@pytest.mark.parametrize("address", ["/x", "//a.example", "javascript:x", "https:/a", "https://b@a.example", "ftp://a"])
def test_an_address_that_is_not_allowed_stays_the_text_that_was_written(address):
    assert render_markdown(f"[x]({address})") == f"<p>[x]({address})</p>\n"


@given(PARAGRAPHS)
@settings(max_examples=count_cases(1_000), deadline=None)
def test_text_that_is_not_looked_through_for_links_has_none(text):
    html = render_markdown(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links, "_may_link", lambda token: True)
        assert render_markdown(text) == html


def test_code_has_its_language_a_copy_button_and_colours_by_class():
    html = render_markdown("```python title\nreturn 1 < 2\n```")
    assert html.startswith(
        '<div class="code-block"><div class="code-block-bar"><span class="code-block-language">python</span>'
        '<button type="button" class="code-block-copy" data-copy=""></button></div><pre><code>'
    )
    assert '<span class="k">return</span>' in html


@pytest.mark.parametrize("language", ["", "klingon", "kl'<b>"])
def test_code_in_an_unknown_language_is_plain(language):
    assert "<pre><code>return 1 &lt; 2\n</code></pre>" in render_markdown(f"```{language}\nreturn 1 < 2\n```")


def test_leading_blank_lines_of_code_are_kept():
    assert "<code>\n\n" in render_markdown("```text\n\n\nx\n```")


def test_headings_come_below_those_of_the_page():
    assert render_markdown("# a\n\n#### b") == "<h3>a</h3>\n<h6>b</h6>\n"


def test_table_cells_are_aligned_by_class_and_tables_can_scroll():
    html = render_markdown("| a |\n|--:|\n| b |")
    assert html.startswith('<div class="table-scroll"><table>')
    assert '<td class="align-right">b</td>' in html


def test_tasks_are_check_boxes_that_cannot_be_changed():
    html = render_markdown("- [x] a\n- [ ] b")
    assert html.count('disabled="" type="checkbox"') == 2
    assert html.count("checked") == 1


def test_strikethrough_and_emphasis():
    assert render_markdown("~~a~~ *b* **c**") == "<p><s>a</s> <em>b</em> <strong>c</strong></p>\n"


def test_nul_and_lone_surrogates_are_shown_as_replacement_characters():
    assert render_markdown("a\x00b\ud800c") == "<p>a\ufffdb\ufffdc</p>\n"
    assert render_plain("a\x00b\udfffc") == "<p>a\ufffdb\ufffdc</p>\n"


def test_plain_text_keeps_paragraphs_and_line_breaks():
    assert render_plain("a <b>\r\nc\n\n \nd") == "<p>a &lt;b&gt;<br>\nc</p>\n<p>d</p>\n"

"""No payload becomes markup that runs, loads or leads somewhere unseen: whole, in prefixes, streamed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.rendering import BlockStream, render_markdown, render_plain
from conversations.rendering.sanitizer import sanitize
from tests.rendering.html_rules import RuleChecker, problems_of
from tests.rendering.payloads import IMAGES, PAYLOADS
from tests.rendering.replies import REPLIES
from tests.support.hypothesis_profile import count_cases


def hrefs_of(html: str) -> list[str]:
    checker = RuleChecker()
    checker.feed(html)
    return checker.hrefs


def test_the_corpus_is_large():
    assert len(set(PAYLOADS)) >= 150


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_renders_to_allowed_html(payload):
    assert problems_of(render_markdown(payload)) == []


@pytest.mark.parametrize("payload", PAYLOADS)
def test_every_prefix_of_a_payload_renders_to_allowed_html(payload):
    assert [problems_of(render_markdown(payload[:end])) for end in range(len(payload))] == [[]] * len(payload)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_between_other_blocks_streams_as_allowed_html(payload):
    blocks = BlockStream()
    text = f"- a\n\n{payload}\n\n```\n{payload}\n```\n> {payload}\n\n$${payload}$$\n\n[{payload}]({payload})"
    html = [block.html for character in text for block in blocks.feed(character)]
    html += [block.html for block in blocks.finish()]
    assert [problems_of(part) for part in html] == [[]] * len(html)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_as_plain_text_is_only_paragraphs(payload):
    assert problems_of(render_plain(payload)) == []
    assert "<a" not in render_plain(payload)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_sanitizer_alone_stops_a_payload_that_the_parser_lets_through(payload):
    problems = problems_of(sanitize(payload))
    assert [problem for problem in problems if not problem.startswith(("unbalanced", "left open"))] == []


@pytest.mark.parametrize("payload", IMAGES)
def test_an_image_is_never_loaded(payload):
    html = render_markdown(payload)
    assert "<img" not in html
    assert "src=" not in html.replace("src=x onerror", "")


def test_an_image_becomes_a_link_with_its_description_and_host():
    html = render_markdown("![A cat](https://pictures.example/cat.png?d=1)")
    assert hrefs_of(html) == ["https://pictures.example/cat.png?d=1"]
    assert '>A cat<span class="link-host"> (pictures.example)</span></a>' in html


@pytest.mark.parametrize("reply", REPLIES)
def test_every_prefix_of_a_reply_renders_to_allowed_html(reply):
    prefixes = [reply[:end] for end in range(0, len(reply), 7)]
    assert [problems_of(render_markdown(prefix)) for prefix in prefixes] == [[]] * len(prefixes)


@given(st.lists(st.sampled_from(PAYLOADS) | st.text(max_size=20), max_size=5).map("".join))
@settings(max_examples=count_cases(300), deadline=None)
def test_payloads_run_together_render_to_allowed_html(text):
    assert problems_of(render_markdown(text)) == []


def test_forged_code_blocks_are_shown_as_text():
    html = render_markdown('<div class="code-block"><button data-copy>Copy</button></div>')
    assert html.startswith("<p>&lt;div class")
    assert "<button" not in html


def test_the_checker_itself_sees_what_is_forbidden():
    bad = '<img src=x><p style="a"><a href="javascript:x">y</a><script></script><!-- -->'
    assert len(problems_of(bad)) >= 6

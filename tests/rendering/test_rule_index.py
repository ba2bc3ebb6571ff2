"""The parser with its index says of each text what the parser without it says."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conversations.rendering.citations import citation_env
from conversations.rendering.markdown import build_parser, replace_unshowable
from conversations.rendering.rule_index import BLOCK_OPENERS, INLINE_OPENERS, index_rules, read_paragraph
from tests.rendering.payloads import PAYLOADS
from tests.rendering.random_markdown import ANY_TEXT, MARKDOWN, PARAGRAPHS
from tests.rendering.replies import REPLIES
from tests.support.hypothesis_profile import count_cases

PLAIN, INDEXED = build_parser(), build_parser()
index_rules(INDEXED)

WORDS = st.text(alphabet="aZé你\"'(.,:!? \t|=-\n\r1#", max_size=40)
TEXT = MARKDOWN | ANY_TEXT | PARAGRAPHS | WORDS


def tokens_of(parser, text):
    env = citation_env(2)
    return parser.parse(text, env), env


@given(TEXT)
@settings(max_examples=count_cases(2_000), deadline=None)
@example("[a:b](https://c.example) [d]e]: f")
@example("a\n|-|\n\n| b |\n|-|\n")
def test_random_text_gives_the_same_tokens(text):
    assert tokens_of(INDEXED, text) == tokens_of(PLAIN, text)


@pytest.mark.parametrize("text", REPLIES + PAYLOADS)
def test_a_reply_and_a_payload_give_the_same_tokens(text):
    assert tokens_of(INDEXED, text) == tokens_of(PLAIN, text)


@given(WORDS | ANY_TEXT | st.lists(WORDS, max_size=4).map("\n".join))
@settings(max_examples=count_cases(2_000), deadline=None)
@example("\n\na b \nc:\n\n")
@example("a\n---\n")
@example("a\n:-:\n")
def test_what_is_read_as_a_paragraph_is_one_to_the_parser_too(text):
    shown, env = replace_unshowable(text), {}
    tokens = read_paragraph(shown)
    if tokens is not None:
        assert tokens == PLAIN.block.parse(shown, PLAIN, env, [])
        assert env == {}


@pytest.mark.parametrize("text", ["Yes.\n", "“Quoted”, (in brackets)\nand 你好: a | b\n\n", "\n\nLater"])
def test_plain_lines_are_read_as_a_paragraph_without_the_parser(text):
    assert read_paragraph(text)


@pytest.mark.parametrize("opener", sorted({*"".join(BLOCK_OPENERS.values()), *" \t|:=\r"}))
def test_a_line_that_may_begin_something_else_is_left_to_the_parser(opener):
    assert read_paragraph(f"{opener}a\n") is None
    assert read_paragraph(f"a\n{opener}a\n") is None


def test_every_rule_is_named_but_those_that_are_asked_everywhere():
    active = PLAIN.get_active_rules()
    assert set(active["block"]) - set(BLOCK_OPENERS) == {"code", "lheading", "paragraph", "table"}
    assert set(active["inline"]) - set(INLINE_OPENERS) == {"text"}


def test_a_rule_that_is_not_named_is_asked_everywhere():
    parser = build_parser()
    asked = []
    parser.block.ruler.before("table", "new_block", lambda state, *_: asked.append("block") or False)
    parser.inline.ruler.before("text", "new_text", lambda state, *_: asked.append("inline") or False)
    index_rules(parser)
    parser.parse("a:b\n\nc")
    assert asked == ["block"] * 2 + ["inline"] * 4  # at "a", ":", "b" and "c"

"""The parser with its index says of each text what the parser without it says."""

import pytest
from hypothesis import example, given, settings

from conversations.rendering.citations import citation_env
from conversations.rendering.markdown import build_parser
from conversations.rendering.rule_index import BLOCK_OPENERS, INLINE_OPENERS, index_rules
from tests.rendering.payloads import PAYLOADS
from tests.rendering.random_markdown import ANY_TEXT, MARKDOWN, PARAGRAPHS, WORDS
from tests.rendering.replies import REPLIES
from tests.support.hypothesis_profile import count_cases

PLAIN, INDEXED = build_parser(), build_parser()
index_rules(INDEXED)

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

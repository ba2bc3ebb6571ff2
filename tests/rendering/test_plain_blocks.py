"""What is read without the parser is what the parser reads."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conversations.rendering.markdown import build_parser, replace_unshowable
from conversations.rendering.plain_blocks import read_plain_block
from conversations.rendering.rule_index import BLOCK_OPENERS
from tests.rendering.random_markdown import ANY_TEXT, MARKDOWN, WORDS
from tests.support.hypothesis_profile import count_cases

PARSER = build_parser()
HEADINGS = st.tuples(st.text(alphabet="#", max_size=7), st.text(alphabet=" \t#a*\u00a0\n", max_size=9)).map("".join)
FENCE_LINES = [
    "```",
    "````",
    "``",
    "~~~",
    "~~~~",
    " ```",
    "   ```  ",
    "    ```",
    "```py",
    "~~~ a`b",
    "```a`b",
    "",
    " ",
    "a",
    "- a",
]
FENCES = st.lists(st.sampled_from(FENCE_LINES), max_size=7).map("\n".join)


@given(WORDS | ANY_TEXT | MARKDOWN | HEADINGS | FENCES | st.lists(WORDS | FENCES | HEADINGS, max_size=4).map("\n".join))
@settings(max_examples=count_cases(4_000), deadline=None)
@example("\n\na b \nc:\n\n")
@example("a\n---\n")
@example("a\n:-:\n")
@example("## a \n\n")
@example("## \u00a0\n")
@example("```\n\na\n\n")
@example("```")
@example("```\na")
@example("\n~~~ a ~~~\n\n  b\n ~~~~ \t\n\n")
@example("```\na\n```\nb\n")
@example("```\n\t```\n")
def test_it_is_what_the_parser_reads(text):
    shown, env = replace_unshowable(text), {}
    tokens = read_plain_block(shown)
    if tokens is not None:
        assert tokens == PARSER.block.parse(shown, PARSER, env, [])
        assert env == {}


PLAIN = ["Yes.\n", "“Quoted”, (in brackets)\nand 你好: a | b\n\n", "\n\nLater", "\n### One, two\n\n", "# A *b*"]
PLAIN_FENCES = ["```py\na\n\n- b\n```\n\n", "~~~\n```\n~~~", "```\na\n\n"]


@pytest.mark.parametrize("text", PLAIN + PLAIN_FENCES)
def test_plain_blocks_are_read_without_the_parser(text):
    assert read_plain_block(text)


@pytest.mark.parametrize("opener", sorted({*"".join(BLOCK_OPENERS.values()), *" \t|:=\r"}))
def test_a_line_that_may_begin_something_else_is_left_to_the_parser(opener):
    assert read_plain_block(f"{opener}a\n") is None
    assert read_plain_block(f"a\n{opener}a\n") is None


@pytest.mark.parametrize("text", ["", "\n", "```\na\n```\nb\n", "# a #", "#a", "####### a", "a\n# b", "# a\nb", " # a"])
def test_what_may_be_more_than_one_block_or_another_is_left_to_the_parser(text):
    assert read_plain_block(text) is None

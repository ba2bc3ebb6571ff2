"""An index of the parser's rules by the character that each begins with: a rule is asked only where it may match.

The parser asks all rules at each line and at each special character, in their order, until one matches; most look at
one character and refuse. A rule that is not named here is asked everywhere, so one that a later version of the library
adds costs time and loses nothing.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

# All rules, and those that end what stands before them.
BLOCK_CHAINS = ("", "paragraph", "reference", "blockquote", "list")
# Rule → the characters of which one is the first of its line, after the white space.
BLOCK_OPENERS = {
    "blockquote": ">",
    "fence": "`~",
    "formula_block": "$\\",
    "heading": "#",
    "hr": "*-_",
    "list": "*+-0123456789",
    "reference": "[",
}
# Rule → the characters of which one stands where it matches.
INLINE_OPENERS = {
    "autolink": "<",
    "backticks": "`",
    "citation": "[",
    "emphasis": "*_",
    "entity": "&",
    "escape": "\\",
    "formula": "$\\",
    "image": "!",
    "link": "[",
    "newline": "\n",
    "strikethrough": "~",
}

# A bracket that closes one begins nothing, but the end of a link's text is looked for by it.
_INLINE_OPENER = re.compile(f"[{re.escape(''.join(INLINE_OPENERS.values()))}\\]]")

BlockRule = Callable[[StateBlock, int, int, bool], bool]
InlineRule = Callable[[StateInline, bool], bool]


def index_rules(parser: MarkdownIt) -> None:
    """Let the parser find its rules by a character. All rules must have been added and enabled before."""
    _index_chains(parser.block.ruler, BLOCK_CHAINS, BLOCK_OPENERS, _block_rule)
    _index_chains(parser.inline.ruler, ("",), INLINE_OPENERS, _inline_rule)
    if {"text", *INLINE_OPENERS}.issuperset(parser.inline.ruler.get_active_rules()):
        # Text goes on up to one of them, and not up to each colon, where no rule would begin.
        parser.inline.terminator_re = _INLINE_OPENER
        parser.core.ruler.at("inline", _parse_inline)


def _parse_inline(state: StateCore) -> None:
    """Parse the text in the blocks. Where no rule may begin, it is one piece of text."""
    for token in state.tokens:
        if token.type == "inline" and token.content:
            if _INLINE_OPENER.search(token.content):
                token.children = state.md.inline.parse(token.content, state.md, state.env, [])
            else:
                token.children = [Token("text", "", 0, content=token.content)]


def _index_chains(
    ruler: Ruler[Any], chains: Iterable[str], openers: Mapping[str, str], make_rule: Callable[..., Any]
) -> None:
    """Put one rule in place of each chain of them: it asks those of the chain that may match."""
    find_rules = ruler.getRules
    openers_of = {rule: openers.get(name) for rule, name in zip(find_rules(""), ruler.get_active_rules(), strict=True)}
    indexed = {
        chain: [make_rule(*_by_opener([(rule, openers_of[rule]) for rule in find_rules(chain)]))] for chain in chains
    }

    def find_indexed(chainName: str = "") -> list[Any]:  # noqa: N803 (the library's name)
        return indexed.get(chainName) or find_rules(chainName)

    ruler.getRules = find_indexed  # type: ignore[method-assign]


def _by_opener(members: Sequence[tuple[Any, str | None]]) -> tuple[dict[str, tuple[Any, ...]], tuple[Any, ...]]:
    """Return the rules of each character, in their order, and those of all other characters."""
    characters = {character for _, openers in members for character in openers or ""}
    by_opener = {
        character: tuple(rule for rule, openers in members if openers is None or character in openers)
        for character in characters
    }
    return by_opener, tuple(rule for rule, openers in members if openers is None)


def _block_rule(by_opener: dict[str, tuple[BlockRule, ...]], others: tuple[BlockRule, ...]) -> BlockRule:
    def match_line(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        first = state.bMarks[line] + state.tShift[line]
        for rule in by_opener.get(state.src[first : first + 1], others):  # noqa: SIM110 (a generator takes longer)
            if rule(state, line, end, silent):
                return True
        return False

    return match_line


def _inline_rule(by_opener: dict[str, tuple[InlineRule, ...]], others: tuple[InlineRule, ...]) -> InlineRule:
    def match_character(state: StateInline, silent: bool) -> bool:
        for rule in by_opener.get(state.src[state.pos], others):  # noqa: SIM110 (a generator takes longer)
            if rule(state, silent):
                return True
        return False

    return match_character

"""One block of Markdown, or of plain text, to safe HTML: CommonMark with tables, task lists and formulas."""

import logging
import re
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore, normalize
from markdown_it.rules_core import block as read_blocks
from markdown_it.token import Token

from conversations.rendering.citations import add_citation_rule
from conversations.rendering.code_blocks import add_code_rules
from conversations.rendering.formulas import add_formula_rules
from conversations.rendering.links import add_link_rules
from conversations.rendering.plain_blocks import read_plain_block
from conversations.rendering.rule_index import index_rules
from conversations.rendering.sanitizer import sanitize

logger = logging.getLogger(__name__)

References = MutableMapping[str, Any]
"""The parser's environment, shared by the blocks of a text: link definitions and the number of citable passages."""

_DEFINITIONS = "references"  # where the parser keeps them in its environment

MAX_PARAGRAPH_CHARACTERS = 20_000
MAX_NESTED_ELEMENTS = 100
MAX_PARTS = 10_000  # opened and closed elements, such as cells: a table of 3,000 is still a table
MAX_PADDED_CELLS = 2_000

# The page has its own first and second heading; those of a message come below them.
_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5"}


class BlockTooComplex(ValueError):
    """The block is above a limit; it is shown as plain text."""


@dataclass(frozen=True, slots=True)
class ParsedBlocks:
    """The blocks of a text, the text in them unparsed, and the link definitions among them. To be rendered once."""

    tokens: list[Token]
    definitions: Mapping[str, Any]


def parse_blocks(text: str) -> ParsedBlocks:
    """Parse into blocks only, leaving the text in them unparsed: a fraction of the work."""
    shown = replace_unshowable(text)
    if tokens := read_plain_block(shown):
        return ParsedBlocks(tokens, {})
    env: References = {}
    state = StateCore(shown, _PARSER, env)
    normalize(state)
    read_blocks(state)
    return ParsedBlocks(state.tokens, env.get(_DEFINITIONS, {}))


def add_definitions(definitions: Mapping[str, Any], references: References) -> None:
    """Let later text refer to the definitions, as far as it has none of the same name: the first one counts."""
    if definitions:
        known = references.setdefault(_DEFINITIONS, {})
        for name, definition in definitions.items():
            known.setdefault(name, definition)


def render_block(text: str, references: References, parsed: ParsedBlocks | None = None) -> SafeString:
    """Render the Markdown of one or more whole blocks; anything that fails is shown as plain text.

    *parsed* is what `parse_blocks` has made of the same text, if it has been asked already.
    """
    try:
        parsed = parsed or parse_blocks(text)
        add_definitions(parsed.definitions, references)
        html = _render(parsed.tokens, references)
        return SafeString(sanitize(html))
    except BlockTooComplex:
        return render_plain(text)
    except Exception:
        # A reply must be readable even where a parser is not up to it. The text stays out of the log.
        logger.exception("block of %d characters shown as plain text", len(text))
        return render_plain(text)


def _render(blocks: list[Token], references: References) -> str:
    """Parse the text in the blocks, and return the HTML of both, which is not safe yet."""
    state = StateCore("", _PARSER, references, blocks)
    for rule in _RULES_AFTER_BLOCKS:
        rule(state)
    _refuse_depth(state.tokens)
    return str(_PARSER.renderer.render(state.tokens, _PARSER.options, references))


def build_parser() -> MarkdownIt:
    """Return a parser that asks its rules one after the other."""
    parser = MarkdownIt("commonmark", {"html": False, "tasklists": True, "xhtmlOut": False})
    parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline"])
    add_formula_rules(parser)
    add_link_rules(parser)
    add_citation_rule(parser)
    add_code_rules(parser)
    parser.core.ruler.before("inline", "limits", _refuse_size)
    parser.core.ruler.push("page", _fit_into_page)
    parser.add_render_rule("table_open", lambda *_: '<div class="table-scroll"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    for mark in ("em", "s", "strong"):  # which have no attributes
        parser.add_render_rule(f"{mark}_open", lambda *_, html=f"<{mark}>": html)
        parser.add_render_rule(f"{mark}_close", lambda *_, html=f"</{mark}>": html)
    return parser


def _limit_table_padding() -> None:
    """Allow few empty cells to be added to short rows: 600 characters may ask for 65,000 by default."""
    import_module("markdown_it.rules_block.table").MAX_AUTOCOMPLETED_CELLS = MAX_PADDED_CELLS  # type: ignore[attr-defined]


def _refuse_size(state: StateCore) -> None:
    """Stop before the costly part, the parsing of text inside the blocks."""
    if len(state.tokens) > MAX_PARTS:
        raise BlockTooComplex
    if any(len(token.content) > MAX_PARAGRAPH_CHARACTERS for token in state.tokens if token.type == "inline"):
        raise BlockTooComplex


def _refuse_depth(tokens: Sequence[Token]) -> None:
    """Bound the nesting, in whose square the sanitiser's time grows."""
    if sum(1 + len(token.children or ()) for token in tokens) <= MAX_NESTED_ELEMENTS:
        return
    depth = 0
    for token in tokens:
        depth += token.nesting
        if depth + _inner_depth(token.children or ()) > MAX_NESTED_ELEMENTS:
            raise BlockTooComplex


def _inner_depth(tokens: Iterable[Token]) -> int:
    depth = deepest = 0
    for token in tokens:
        depth += token.nesting
        deepest = max(deepest, depth)
    return deepest


def _fit_into_page(state: StateCore) -> None:
    """Lower the headings below the page's own, and align cells by class, not by style."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = _HEADINGS.get(token.tag, "h6")
        elif token.type in ("th_open", "td_open") and "style" in token.attrs:
            alignment = str(token.attrs["style"]).removeprefix("text-align:")
            token.attrs = {"class": f"align-{alignment}"}


_limit_table_padding()
_PARSER = build_parser()
index_rules(_PARSER)
_RULES_AFTER_BLOCKS = [rule for rule in _PARSER.core.ruler.getRules("") if rule not in (normalize, read_blocks)]


UNSHOWABLE = re.compile("[\x00\ud800-\udfff]")
LINE_END = re.compile(r"\r\n|\r|\n")


def render_plain(text: str) -> SafeString:
    """Escape the text; blank lines part paragraphs, other line ends become `<br>`."""
    lines = LINE_END.split(replace_unshowable(text))
    groups = groupby(lines, key=lambda line: bool(line.strip()))
    paragraphs = ("<br>\n".join(escape(line) for line in group) for has_text, group in groups if has_text)
    return SafeString("".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs))


def replace_unshowable(text: str) -> str:
    """Put U+FFFD for NUL and lone surrogates, which HTML and UTF-8 cannot carry; the length stays."""
    return UNSHOWABLE.sub("\ufffd", text)

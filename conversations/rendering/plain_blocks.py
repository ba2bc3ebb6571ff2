"""Blocks that need no parser, since they can be nothing else: paragraphs of plain lines, headings, fences."""

import re

from markdown_it.common.utils import mdTrim
from markdown_it.token import Token

from conversations.rendering.rule_index import BLOCK_OPENERS

# A line that is text at any place in a paragraph: no rule begins with it, it is no indented code, and it neither
# underlines a heading nor parts a table's head from its rows.
_TEXT_LINE = f"[^\\s|:={re.escape(''.join(BLOCK_OPENERS.values()))}][^\\r\\n]*+"
_PARAGRAPH = re.compile(rf"\n*+({_TEXT_LINE}(?:\n{_TEXT_LINE})*+)\n*+")
_HEADING = re.compile(r"\n*+(#{1,6})[ \t]++([^\r\n#]++)\n*+")
# With a bar in it, the line may be the head of a table.
_OPENING_FENCE = re.compile(r"\n*+(```++(?![^\n]*`)|~~~++)([^\n|]*+)\n")


def read_plain_block(text: str) -> list[Token] | None:
    """Return the tokens that the parser would make of a text that is one such block, with empty lines around it."""
    if match := _PARAGRAPH.fullmatch(text):
        return _paragraph(match)
    if match := _HEADING.fullmatch(text):
        return _heading(match)
    match = _OPENING_FENCE.match(text)
    return _fence(match) if match and "\r" not in text else None


def _paragraph(match: re.Match[str]) -> list[Token]:
    lines = _lines(match.string, match.start(1), match.end(1))
    return [
        Token("paragraph_open", "p", 1, map=lines, block=True),
        Token("inline", "", 0, map=lines, level=1, content=mdTrim(match[1]), children=[], block=True),
        Token("paragraph_close", "p", -1, block=True),
    ]


def _heading(match: re.Match[str]) -> list[Token]:
    lines, mark = _lines(match.string, match.start(1), match.end(2)), match[1]
    return [
        Token("heading_open", f"h{len(mark)}", 1, map=lines, markup=mark, block=True),
        Token("inline", "", 0, map=lines, level=1, content=mdTrim(match[2]), children=[], block=True),
        Token("heading_close", f"h{len(mark)}", -1, markup=mark, block=True),
    ]


def _fence(opening: re.Match[str]) -> list[Token] | None:
    """Return a fence that is closed at the end of the text, or not at all."""
    text, mark = opening.string, opening[1]
    closing = re.compile(rf"^ {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE).search(text, opening.end())
    end = closing.start() if closing else len(text)
    if text[closing.end() :].strip("\n") if closing else text[-1] != "\n":
        return None
    lines = _lines(text, opening.start(1), closing.end() if closing else len(text) - 1)
    code = text[opening.end() : end]
    return [Token("fence", "code", 0, map=lines, content=code, markup=mark, info=opening[2], block=True)]


def _lines(text: str, start: int, end: int) -> list[int]:
    """Return the number of the line at which the block starts, and that of the one after its end."""
    first = text.count("\n", 0, start)
    return [first, first + text.count("\n", start, end) + 1]

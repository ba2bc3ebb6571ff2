"""A growing Markdown text to finished top-level blocks, line by line and in linear time.

Where a block ends is asked of the Markdown parser itself, but only at a blank line (or after one,
for lists), and only about the block that is still open. An open fence, list or indented block is
remembered instead of parsed again: a fence is over with its closing line, an indented block before
the first line that is not indented, a list before a line after a blank one that is neither indented
nor a list item. So each line is parsed at most a few times, and finished text never again.
"""

import re
from enum import Enum, auto

from markdown_it.token import Token

from conversations.rendering.markdown import block_tokens

_LINE_END = re.compile(r"\r\n|\n|\r(?=[^\n])")
_LIST_MARKER = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?:[ \t\r\n]|$)")


class LineBuffer:
    """Text in pieces of any size to whole lines, each with its line end."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._after_return = False

    def take(self, text: str) -> list[str]:
        """Add text and return the lines that it ends; a `\\r` waits for the character after it."""
        self._parts.append(text)
        may_end_line = self._after_return or "\n" in text or "\r" in text
        self._after_return = text.endswith("\r") if text else self._after_return
        return self._drain() if may_end_line else []

    def rest(self) -> str:
        """Return the text of the line that has not ended."""
        return "".join(self._parts)

    def _drain(self) -> list[str]:
        text, start, lines = self.rest(), 0, []
        for match in _LINE_END.finditer(text):
            lines.append(text[start : match.end()])
            start = match.end()
        self._parts = [text[start:]]
        return lines


class _Open(Enum):
    """What the last block of the open text is, as far as it can go on after a blank line."""

    PARAGRAPH = auto()  # or anything else that a blank line ends
    LIST = auto()
    INDENTED = auto()
    FENCE = auto()


_GOES_ON = {
    "bullet_list_close": _Open.LIST,
    "ordered_list_close": _Open.LIST,
    "code_block": _Open.INDENTED,
}
_NOTHING = Token("", "", 0)  # what is left of link definitions


class BlockSplitter:
    """Lines to finished top-level blocks. Blank lines go with the block before them, or the one after."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._open = _Open.PARAGRAPH
        self._after_blank = False
        self._has_text = False
        self._closing_fence = re.compile("")

    def take(self, line: str) -> list[str]:
        """Add a whole line and return the source of the blocks that are finished now: none, one or two."""
        finished = [self._cut()] if self._ends_before(line) else []
        self._lines.append(line)
        self._has_text = self._has_text or not _is_blank(line)
        if self._ends_with(line):
            finished.append(self._cut())
        self._after_blank = _is_blank(line)
        return finished

    def rest(self) -> str:
        """Return the source of the open block."""
        return "".join(self._lines)

    def _cut(self) -> str:
        block = self.rest()
        self._lines, self._open, self._has_text = [], _Open.PARAGRAPH, False
        return block

    def _ends_before(self, line: str) -> bool:
        if _is_blank(line):
            return False
        if self._open is _Open.INDENTED:
            return not _is_indented(line)
        if self._open is _Open.LIST and self._after_blank and not _may_continue_list(line):
            # Without a blank line, something else may have begun below the list: only a fence goes on.
            return self._look() is not _Open.FENCE
        return False

    def _ends_with(self, line: str) -> bool:
        if self._open is _Open.FENCE:
            return self._closing_fence.fullmatch(line) is not None
        if self._open is _Open.PARAGRAPH and self._has_text and _is_blank(line):
            return self._look() is _Open.PARAGRAPH
        return False

    def _look(self) -> _Open:
        """Ask the parser what the last block of the open text is; that text ends with a blank line."""
        tokens = block_tokens(self.rest())
        last = tokens[-1] if tokens else _NOTHING
        if last.type == "fence" and last.map and last.map[1] == len(self._lines):
            self._open = _Open.FENCE
            mark = re.escape(last.markup[0])
            self._closing_fence = re.compile(rf" {{0,3}}{mark}{{{len(last.markup)},}}[ \t]*[\r\n]*")
        else:
            self._open = _GOES_ON.get(last.type, _Open.PARAGRAPH)
        return self._open


def _is_blank(line: str) -> bool:
    return not line.strip(" \t\r\n")


def _is_indented(line: str) -> bool:
    return line.startswith(("    ", "\t", " \t", "  \t", "   \t"))


def _may_continue_list(line: str) -> bool:
    return line[0] in " \t" or _LIST_MARKER.match(line) is not None

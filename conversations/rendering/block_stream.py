"""A stream of Markdown: each finished top-level block is rendered once, the open rest stays text.

Where a block ends is asked of the Markdown parser itself, but only at a blank line (or after one,
for lists), and only about the block that is still open; if it ends there, what was parsed is rendered.
An open fence, list or indented block is remembered instead of parsed again: a fence is over with its
closing line, an indented block before the first line that is not indented, a list before a line after
a blank one that is neither indented nor a list item. So each line is parsed at most a few times, and
finished text never again.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

from django.utils.safestring import SafeString
from markdown_it.token import Token

from conversations.rendering.citations import citation_env
from conversations.rendering.cpu_limit import CpuLimit
from conversations.rendering.markdown import (
    ParsedBlocks,
    References,
    add_definitions,
    parse_blocks,
    render_block,
    render_plain,
)

_LINE_END = re.compile(r"\r\n|\n|\r(?=[^\n])")
_LIST_MARKER = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?:[ \t\r\n]|$)")


class LineBuffer:
    """Collects text in pieces of any size and returns whole lines, each with its line end."""

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


class _OpenBlock(Enum):
    """The kind of the last block of the open text, as far as it can continue after a blank line."""

    PARAGRAPH = auto()  # or anything else that a blank line ends
    LIST = auto()
    INDENTED = auto()
    FENCE = auto()


_CONTINUES = {
    "bullet_list_close": _OpenBlock.LIST,
    "ordered_list_close": _OpenBlock.LIST,
    "code_block": _OpenBlock.INDENTED,
}
_NOTHING = Token("", "", 0)  # what is left of link definitions


@dataclass(frozen=True, slots=True)
class Source:
    """The text of finished blocks, and what the parser has made of it, if it was asked."""

    text: str
    parsed: ParsedBlocks | None = None


class BlockSplitter:
    """Splits lines into finished top-level blocks. Blank lines go with the block before them, or the one after.

    The parser's work counts towards *cpu_limit* from then on.
    """

    def __init__(self, cpu_limit: CpuLimit) -> None:
        self._cpu_limit = cpu_limit
        self._lines: list[str] = []
        self._parsed: ParsedBlocks | None = None  # of just these lines
        self._open = _OpenBlock.PARAGRAPH
        self._after_blank = False
        self._has_text = False
        self._closing_fence = re.compile("")

    def take(self, line: str) -> list[Source]:
        """Add a whole line and return the source of the blocks that are finished now: none, one or two."""
        is_blank = not line.strip(" \t\r\n")
        finished = [self._cut()] if not is_blank and self._ends_before(line) else []
        self._lines.append(line)
        self._parsed = None
        self._has_text = self._has_text or not is_blank
        if self._ends_with(line, is_blank):
            finished.append(self._cut())
        self._after_blank = is_blank
        return finished

    def rest(self) -> str:
        """Return the source of the open block."""
        return "".join(self._lines)

    def _cut(self) -> Source:
        block = Source(self.rest(), self._parsed)
        self._lines, self._parsed = [], None
        self._open, self._has_text = _OpenBlock.PARAGRAPH, False
        return block

    def _ends_before(self, line: str) -> bool:
        if self._open is _OpenBlock.INDENTED:
            return not _is_indented(line)
        if self._open is _OpenBlock.LIST and self._after_blank and not _may_continue_list(line):
            # Without a blank line, something else may have begun below the list: only a fence goes on.
            return self._ask_parser() is not _OpenBlock.FENCE
        return False

    def _ends_with(self, line: str, is_blank: bool) -> bool:
        if self._open is _OpenBlock.FENCE:
            return self._closing_fence.fullmatch(line) is not None
        if self._open is _OpenBlock.PARAGRAPH and self._has_text and is_blank:
            return self._ask_parser() is _OpenBlock.PARAGRAPH
        return False

    def _ask_parser(self) -> _OpenBlock:
        """Ask the parser for the kind of the last block of the open text, which ends with a blank line."""
        self._cpu_limit.start()
        self._parsed = self._parsed or parse_blocks(self.rest())
        tokens = self._parsed.tokens
        last = tokens[-1] if tokens else _NOTHING
        if last.type == "fence" and last.map and last.map[1] == len(self._lines):
            self._open = _OpenBlock.FENCE
            mark = re.escape(last.markup[0])
            self._closing_fence = re.compile(rf" {{0,3}}{mark}{{{len(last.markup)},}}[ \t]*[\r\n]*")
        else:
            self._open = _CONTINUES.get(last.type, _OpenBlock.PARAGRAPH)
        return self._open


def _is_indented(line: str) -> bool:
    return line.startswith(("    ", "\t", " \t", "  \t", "   \t"))


def _may_continue_list(line: str) -> bool:
    return line[0] in " \t" or _LIST_MARKER.match(line) is not None


MAX_CHARACTERS = 200_000
MAX_CPU_SECONDS = 1.0


@dataclass(frozen=True)
class RenderedBlock:
    """HTML of the text from *start* up to *end*, in code points of the whole message."""

    start: int
    end: int
    html: SafeString


class BlockStream:
    """Renders Markdown in pieces of any size to blocks, which tile the text from its beginning.

    The text may cite so many *passages* by number. How it is cut into pieces does not change the
    blocks. From the block that is open after `MAX_CHARACTERS` or `MAX_CPU_SECONDS` of work, the rest
    is one block of plain text.

    Known limits, the price of never rendering a finished block again:
    a link whose definition (`[name]: address`) comes in a later block stays text; `render_markdown`
    knows all definitions. A list is one block until a line after a blank one that is neither indented
    nor a list item, so the browser alone draws a long list until then. Not thread-safe.
    """

    def __init__(self, references: References | None = None, *, passages: int = 0) -> None:
        if references is None:
            references = citation_env(passages) if passages else {}
        self._references: References = references
        self._buffer = LineBuffer()
        self._cpu_limit = CpuLimit(MAX_CPU_SECONDS)
        self._splitter = BlockSplitter(self._cpu_limit)
        self._overflow: list[str] = []
        self._read = self._rendered = 0

    def feed(self, delta: str) -> list[RenderedBlock]:
        """Add text and return the blocks that it finishes, in order."""
        try:
            return [self._render(source) for line in self._buffer.take(delta) for source in self._take_line(line)]
        finally:
            self._cpu_limit.stop()  # the next piece may come in another thread

    def finish(self) -> list[RenderedBlock]:
        """Return the open text as the last block; of blank text the HTML is empty."""
        self._read += len(self._buffer.rest())
        rest = "".join((self._splitter.rest(), *self._overflow, self._buffer.rest()))
        return [self._render(Source(rest))] if rest else []

    def _take_line(self, line: str) -> list[Source]:
        self._read += len(line)
        if self._is_beyond_limits():
            self._overflow.append(line)
            return []
        return self._splitter.take(line)

    def _render(self, source: Source) -> RenderedBlock:
        self._cpu_limit.start()
        start, self._rendered = self._rendered, self._rendered + len(source.text)
        if self._is_beyond_limits():
            html = render_plain(source.text)
        else:
            html = render_block(source.text, self._references, source.parsed)
        return RenderedBlock(start, self._rendered, html)

    def _is_beyond_limits(self) -> bool:
        return self._read > MAX_CHARACTERS or self._cpu_limit.is_exceeded()


def render_markdown(text: str, *, passages: int = 0) -> SafeString:
    """Render a whole message, by the same blocks and within the same limits as when it streams."""
    stream = BlockStream(_references_in(text, passages))
    blocks = stream.feed(text) + stream.finish()
    return SafeString("".join(block.html for block in blocks))


def _references_in(text: str, passages: int) -> References:
    """Collect the link definitions of the whole text, so that a link may come before its definition."""
    references: References = citation_env(passages)
    if "]:" in text and len(text) <= MAX_CHARACTERS:
        add_definitions(parse_blocks(text).definitions, references)
    return references

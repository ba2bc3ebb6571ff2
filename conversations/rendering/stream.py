"""A message as it streams: every finished top-level block once as HTML, the open rest as text."""

import time
from dataclasses import dataclass

from django.utils.safestring import SafeString

from conversations.rendering.citations import memory_for
from conversations.rendering.markdown import References, block_tokens, render_block
from conversations.rendering.plain import render_plain
from conversations.rendering.splitter import BlockSplitter, LineBuffer

MAX_CHARACTERS = 200_000
MAX_CPU_SECONDS = 1.0


@dataclass(frozen=True)
class RenderedBlock:
    """HTML of the text from *start* up to *end*, in code points of the whole message."""

    start: int
    end: int
    html: SafeString


class BlockStream:
    """Markdown in pieces of any size to rendered blocks, which tile the text from its beginning.

    The text may cite so many *passages* by number. How it is cut into pieces does not change the
    blocks. From the block that is open after `MAX_CHARACTERS` or `MAX_CPU_SECONDS` of work, the rest
    is one block of plain text.

    Known limits, the price of never rendering a finished block again:
    a link whose definition (`[name]: address`) comes in a later block stays text; `render_markdown`
    knows all definitions. A list is one block until a line after a blank one that is neither indented
    nor a list item, so a long list shows as text until then. Not thread-safe.
    """

    def __init__(self, references: References | None = None, *, passages: int = 0) -> None:
        self._references: References = memory_for(passages) if references is None else references
        self._buffer = LineBuffer()
        self._splitter = BlockSplitter()
        self._overflow: list[str] = []
        self._read = self._rendered = 0
        self._cpu_seconds = 0.0

    def feed(self, delta: str) -> list[RenderedBlock]:
        """Add text and return the blocks that it finishes, in order."""
        return [block for line in self._buffer.take(delta) for block in self._take_line(line)]

    def finish(self) -> list[RenderedBlock]:
        """Return what is still open as the last block; of blank text the HTML is empty."""
        self._read += len(self._buffer.rest())
        rest = "".join((self._splitter.rest(), *self._overflow, self._buffer.rest()))
        return [self._render(rest)] if rest else []

    def _take_line(self, line: str) -> list[RenderedBlock]:
        self._read += len(line)
        if self._is_beyond_limits():
            self._overflow.append(line)
            return []
        started = time.thread_time()
        blocks = [self._render(source) for source in self._splitter.take(line)]
        self._cpu_seconds += time.thread_time() - started
        return blocks

    def _render(self, source: str) -> RenderedBlock:
        start, self._rendered = self._rendered, self._rendered + len(source)
        html = render_plain(source) if self._is_beyond_limits() else render_block(source, self._references)
        return RenderedBlock(start, self._rendered, html)

    def _is_beyond_limits(self) -> bool:
        return self._read > MAX_CHARACTERS or self._cpu_seconds > MAX_CPU_SECONDS


def render_markdown(text: str, *, passages: int = 0) -> SafeString:
    """Render a whole message, by the same blocks and within the same limits as when it streams."""
    stream = BlockStream(_references_in(text, passages))
    blocks = stream.feed(text) + stream.finish()
    return SafeString("".join(block.html for block in blocks))


def _references_in(text: str, passages: int) -> References:
    """Collect the link definitions of the whole text, so that a link may come before its definition."""
    references: References = memory_for(passages)
    if "]:" in text and len(text) <= MAX_CHARACTERS:
        block_tokens(text, references)
    return references

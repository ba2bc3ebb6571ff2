"""Markdown from people and models to HTML that is safe to show.

The pipeline: lines → finished top-level blocks (`block_stream`) → tokens of markdown-it with our
rules for links, code and formulas (`markdown`) → an explicit allow-list (`sanitizer`). A text that is
too long, too deep or too slow is shown escaped (`render_plain`). Nothing here knows the database.
"""

from conversations.rendering.block_stream import BlockStream, RenderedBlock, render_markdown
from conversations.rendering.markdown import render_plain

__all__ = ["BlockStream", "RenderedBlock", "render_markdown", "render_plain"]

"""Markdown from people and models to HTML that is safe to show.

The way of a text: lines → finished top-level blocks (`splitter`) → tokens of markdown-it with our
rules for links, code and formulas (`markdown`) → an explicit allow-list (`sanitizer`). Whatever is
too long, too deep or too slow is shown as escaped text (`plain`). Nothing here knows the database.
"""

from conversations.rendering.plain import render_plain
from conversations.rendering.stream import BlockStream, RenderedBlock, render_markdown

__all__ = ["BlockStream", "RenderedBlock", "render_markdown", "render_plain"]

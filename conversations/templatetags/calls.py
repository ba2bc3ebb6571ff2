"""How pages write the calls of tools: in words, and what others wrote never as anything but text."""

from __future__ import annotations

from django import template

from conversations import tool_words
from conversations.core import readable_json
from conversations.tool_words import ToolWords

register = template.Library()


@register.simple_tag
def words_of(tool: str, source: str) -> ToolWords | None:
    """Return the words of a built-in tool, or nothing."""
    return tool_words.words_of(tool, source)


@register.filter
def short(arguments: str) -> str:
    """Return the arguments of a call on one line."""
    return readable_json.visible(tool_words.short_arguments(arguments))


@register.filter
def visible(text: str) -> str:
    """Return *text* with an escape in place of each character that nobody would see."""
    return readable_json.visible(text, keeping="\n\t")

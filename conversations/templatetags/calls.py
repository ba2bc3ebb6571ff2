"""Template tags for tool calls: labels, and text of others that is never anything but text."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from conversations.core.text.invisible_characters import Piece, visible_pieces
from conversations.core.text.readable_json import readable_json
from conversations.core.tools.tool_spec import BUILT_IN
from conversations.selectors.conversations.tool_calls import MOST_SHOWN_CHARACTERS, CallRow
from conversations.wording import tool_labels
from conversations.wording.tool_labels import ToolLabels

register = template.Library()


@register.simple_tag(name="built_in_labels")
def labels_of_built_in_tool(tool: str, source: str) -> ToolLabels | None:
    """Return the labels of a built-in tool, or None."""
    return tool_labels.built_in_labels(tool, source)


@register.filter
def short(call: CallRow) -> str:
    """Return the arguments of a call on one line."""
    are_sums = (call.tool, call.source) == ("calculator", BUILT_IN)
    return tool_labels.short_arguments(call.arguments, are_sums=are_sums)


@register.filter
def one_line(arguments: str) -> str:
    """Return the arguments of a call of a program's function on one line."""
    return tool_labels.short_arguments(arguments, are_sums=False)


@register.filter
def readable_arguments(call: CallRow) -> str:
    """Return the arguments laid out; very long ones only while the call awaits approval, because that takes time."""
    is_long = len(call.arguments) > MOST_SHOWN_CHARACTERS
    return call.arguments if is_long and not call.awaits_approval else readable_json(call.arguments)


@register.filter
def visible(text: str) -> SafeString:
    """Return *text* with the name of each invisible character, in a mark of its own."""
    return SafeString("".join(map(_marked, visible_pieces(text))))


@register.filter
def spelled(text: str) -> str:
    """Return the same for where there can be no marks."""
    return "".join(piece.text for piece in visible_pieces(text))


def _marked(piece: Piece) -> SafeString:
    return format_html('<span class="unseen">{}</span>' if piece.is_invisible else "{}", piece.text)

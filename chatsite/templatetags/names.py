"""`{{ conversation.title|isolate }}`: a name in a sentence of plain text, an attribute or a page's title.

Where it stands by itself, `<bdi>` or `dir="auto"` does the same.
"""

from __future__ import annotations

from django import template

from chatsite.names import isolate_name

register = template.Library()


@register.filter
def isolate(name: object) -> str:
    """Return *name* such that it changes the order of no word around it."""
    return isolate_name(name)

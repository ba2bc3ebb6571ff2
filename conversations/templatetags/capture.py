"""`{% capture as name %}…{% endcapture %}`: what is the same in each round of a loop, rendered once before it."""

from __future__ import annotations

from typing import Any

from django import template

register = template.Library()


@register.simple_block_tag(takes_context=False)
def capture(content: Any) -> Any:
    """Return *content*, for the variable behind `as`."""
    return content

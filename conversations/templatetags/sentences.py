"""Template tag for what the scripts of a page say, which is the same on all pages in a language."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.translation import get_language

register = template.Library()

LIMITS = ("most_megabytes", "most_picture_megabytes", "most_pictures")  # what the sentences tell, all else is fixed


@register.simple_tag(takes_context=True)
def script_sentences(context: dict[str, Any]) -> str:
    """Return the element with the sentences, about a hundred, rendered once for a language and these limits."""
    return _render(get_language(), *(context[name] for name in LIMITS))


@lru_cache(maxsize=32)
def _render(_language: str | None, *limits: int) -> str:
    return render_to_string("conversations/_sentences.html", dict(zip(LIMITS, limits, strict=True)))

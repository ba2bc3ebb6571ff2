"""`{% draw_meter_parts "bars" %}`: the parts of a window in the meter, drawn once for all readers of a language."""

from __future__ import annotations

from functools import cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from conversations.wording.window_labels import PART_LABELS

register = template.Library()


@register.simple_tag
def draw_meter_parts(shape: str) -> SafeString:
    """Return all parts in a *shape*: as "bars", as "rings" or as a "legend". Scripts give them their sizes."""
    return _draw(shape, get_language())


@cache
def _draw(shape: str, _language: str | None) -> SafeString:
    return render_to_string("conversations/_meter_parts.html", {"shape": shape, "parts": PART_LABELS})

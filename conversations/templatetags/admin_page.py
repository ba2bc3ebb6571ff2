"""`{{ html|with_landmarks }}`: a page of the admin as screen readers should read it.

django-unfold draws icons by words that its font replaces: its menu is read as "monitoring Overview", and a button may
have nothing but such a word. It marks neither the header nor the content. Its templates are many and change, so what
they made is mended, in one place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from django import template
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

register = template.Library()
ATTRIBUTES = r"""(?:[^<>"']|"[^"]*"|'[^']*')*"""
ICON_CLASS = "material-symbols-outlined"
ELEMENT = re.compile(rf"<(?P<tag>span|i)\b(?P<attributes>{ATTRIBUTES})>")
ONE_WORD = re.compile(
    rf"<(?P<tag>a|button|label|div)\b(?P<attributes>{ATTRIBUTES})>\s*"
    rf"<span\b(?P<icon>{ATTRIBUTES})>\s*(?P<name>\w+)\s*</span>(?P<end>\s*</(?P=tag)>)"
)
# What an icon says where nothing else does; others are decoration.
SPOKEN: Mapping[str, Promise] = {
    "check_small": _("Yes"),
    "close_small": _("No"),
    "question_mark": _("Unknown"),
    "search": _("Search"),
    "cancel": _("Remove"),
    "add": _("Add"),
    "download": _("Download"),
    "upload": _("Upload"),
    "file_upload": _("Upload"),
}
LANDMARKS = {
    '<div id="content"': '<div id="content" role="main"',
    '<div id="header-inner"': '<div id="header-inner" role="banner"',
}


@register.filter
def with_landmarks(html: SafeString) -> SafeString:
    """Return *html* with its content and header marked, its icons hidden, and words where an icon stood for them."""
    text = ELEMENT.sub(_hide_icon, ONE_WORD.sub(_add_words, str(html)))
    for opening, marked in LANDMARKS.items():
        text = text.replace(opening, marked, 1)
    return SafeString(text)  # it was safe, and nothing of a user's was added


def _hide_icon(element: re.Match[str]) -> str:
    attributes = element["attributes"]
    if ICON_CLASS not in attributes or "aria-hidden" in attributes:
        return element[0]
    return f'<{element["tag"]} aria-hidden="true"{attributes}>'


def _add_words(element: re.Match[str]) -> str:
    words, attributes = SPOKEN.get(element["name"]), element["attributes"]
    if words is None or ICON_CLASS not in element["icon"] or "aria-label" in attributes or " title=" in attributes:
        return element[0]
    return f'{element[0].removesuffix(element["end"])}<span class="visually-hidden">{words}</span>{element["end"]}'

"""Text shown as it is: escaped, in paragraphs, with its line breaks."""

import re
from itertools import groupby

from django.utils.html import escape
from django.utils.safestring import SafeString

UNSHOWABLE = re.compile("[\x00\ud800-\udfff]")
LINE_END = re.compile(r"\r\n|\r|\n")


def render_plain(text: str) -> SafeString:
    """Escape the text; blank lines part paragraphs, other line ends become `<br>`."""
    lines = LINE_END.split(replace_unshowable(text))
    groups = groupby(lines, key=lambda line: bool(line.strip()))
    paragraphs = ("<br>\n".join(escape(line) for line in group) for has_text, group in groups if has_text)
    return SafeString("".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs))


def replace_unshowable(text: str) -> str:
    """Put U+FFFD for NUL and lone surrogates, which HTML and UTF-8 cannot carry; the length stays."""
    return UNSHOWABLE.sub("\ufffd", text)

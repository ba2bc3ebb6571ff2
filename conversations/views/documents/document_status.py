"""What a document is at the moment, in words: for people who wait for it, and for those who wonder why it is not found.

Each row says it in one line; the list as a whole in a few words, for where there is no room for rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from conversations.models import Document
from conversations.models.document import DocumentState
from conversations.selectors.conversations.documents import ShownDocument

KILOBYTE = 1_000
MEGABYTE = 1_000_000


class Look(StrEnum):
    """What the eye shall tell apart: it is looked in, it will be, or somebody must do something."""

    READY = "ready"
    MOVING = "moving"
    FAILED = "failed"


def look_of(shown: ShownDocument) -> Look:
    if shown.document.state == DocumentState.FAILED:
        return Look.FAILED
    return Look.MOVING if shown.is_moving else Look.READY


def words_of(shown: ShownDocument) -> str:
    """Return how far it has come, or what is wrong with it."""
    match shown.document.state:
        case DocumentState.FAILED:
            return shown.error
        case DocumentState.READING:
            return gettext("Reading %(percent)s %%") % {"percent": shown.document.percent}
        case DocumentState.WAITING:
            return gettext("Waiting to be read")
    return _words_of_ready(shown.document)


def _words_of_ready(document: Document) -> str:
    passages = ngettext("%(count)s passage", "%(count)s passages", document.passage_count)
    tokens = ngettext("%(count)s token", "%(count)s tokens", document.tokens)
    return gettext("Ready · %(passages)s, %(tokens)s") % {
        "passages": _together(passages % {"count": _figure(document.passage_count)}),
        "tokens": _together(tokens % {"count": _figure(document.tokens)}),
    }


def _together(words: str) -> str:
    """Keep a figure and what it counts on one line."""
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def note_on(shown: ShownDocument) -> str:
    """Return what else there is to know: how it is found, and what of it is not read."""
    return " · ".join(filter(None, (_why_by_words(shown), _unread(shown.document))))


def _unread(document: Document) -> str:
    """Return of which parts how many are not read, in words."""
    counts = {part: document.unread.get(part, 0) for part in ("pages", "pictures", "comments")}
    sentences = {
        "pages": ngettext("%(count)s page without text", "%(count)s pages without text", counts["pages"]),
        "pictures": ngettext("%(count)s picture", "%(count)s pictures", counts["pictures"]),
        "comments": ngettext("%(count)s comment", "%(count)s comments", counts["comments"]),
    }
    parts = [_together(sentences[part] % {"count": _figure(count)}) for part, count in counts.items() if count]
    return gettext("Not read: %(parts)s") % {"parts": ", ".join(parts)} if document.is_ready and parts else ""


def _why_by_words(shown: ShownDocument) -> str:
    """Return why it is found by its words only, where that is about this document and not about the site."""
    match shown.why_by_words:
        case "failed":
            return gettext("Found by its words only. %(reason)s") % {"reason": shown.embedding_error}
        case "coming":
            figures = {
                "done": _figure(shown.document.embedded_count),
                "all": _figure(shown.document.passage_count),
            }
            return gettext("Learning its meaning: %(done)s of %(all)s") % figures
    return ""


def percent_of(shown: ShownDocument) -> int | None:
    """Return how far it has come in what it is at, or None if it is at nothing."""
    if shown.document.state == DocumentState.READING:
        return shown.document.percent
    if shown.why_by_words == "coming":
        return 100 * shown.document.embedded_count // max(1, shown.document.passage_count)
    return None


def size_of(document: Document) -> str:
    """Return the size as limits are counted: in thousands, whole ones where there is no need for more."""
    if document.size_bytes < KILOBYTE:
        return gettext("%(count)s bytes") % {"count": _figure(document.size_bytes)}
    if document.size_bytes < MEGABYTE:
        return gettext("%(count)s kB") % {"count": _figure(round(document.size_bytes / KILOBYTE))}
    return gettext("%(count)s MB") % {"count": number_format(round(document.size_bytes / MEGABYTE, 1), decimal_pos=1)}


def summary_of(looks: Iterable[Look]) -> list[tuple[Look, str]]:
    """Return how many there are of each look, in words."""
    counts = Counter(looks)
    return [(look, _counted(look, counts[look])) for look in Look if counts[look]]


def _counted(look: Look, count: int) -> str:
    sentences = {
        Look.READY: gettext("%(count)s ready"),
        Look.MOVING: ngettext("%(count)s is being read", "%(count)s are being read", count),
        Look.FAILED: ngettext("%(count)s could not be read", "%(count)s could not be read", count),
    }
    return sentences[look] % {"count": _figure(count)}


def _figure(number: int) -> str:
    return number_format(number, force_grouping=True)

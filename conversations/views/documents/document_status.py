"""The status of documents as text: a line for each, and a few words for a whole list where there is no room for rows.

It is read by people who wait for a document, and by those who wonder why it is not found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from conversations.models import Document
from conversations.models.document import DocumentState
from conversations.selectors.conversations.documents import ListedDocument
from conversations.wording.error_sentences import ReaderLocale, stored_error_sentence

KILOBYTE = 1_000
MEGABYTE = 1_000_000


class StatusKind(StrEnum):
    """The status of a document on pages: searched, soon searched, or its owner must act. CSS knows these values."""

    READY = "ready"
    MOVING = "moving"
    FAILED = "failed"


def status_kind(listed: ListedDocument) -> StatusKind:
    if listed.document.state == DocumentState.FAILED:
        return StatusKind.FAILED
    return StatusKind.MOVING if listed.is_moving else StatusKind.READY


def status_text(listed: ListedDocument, reader: ReaderLocale) -> str:
    """Return how far it has come, or what is wrong with it."""
    document = listed.document
    match document.state:
        case DocumentState.FAILED:
            return stored_error_sentence(document.error_code, document.error_params, reader)
        case DocumentState.PARSING:
            return gettext("Reading %(percent)s %%") % {"percent": document.percent}
        case DocumentState.WAITING:
            return gettext("Waiting to be read")
    return _ready_text(document)


def _ready_text(document: Document) -> str:
    passages = ngettext("%(count)s passage", "%(count)s passages", document.passage_count)
    tokens = ngettext("%(count)s token", "%(count)s tokens", document.tokens)
    return gettext("Ready · %(passages)s, %(tokens)s") % {
        "passages": _together(passages % {"count": _figure(document.passage_count)}),
        "tokens": _together(tokens % {"count": _figure(document.tokens)}),
    }


def _together(words: str) -> str:
    """Keep a figure and what it counts on one line."""
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def status_note(listed: ListedDocument, reader: ReaderLocale) -> str:
    """Return what else there is to know: how it is found, and which parts of it are not read."""
    return " · ".join(filter(None, (_missing_vectors_text(listed, reader), _unread_text(listed.document))))


def _unread_text(document: Document) -> str:
    """Return how many pages, pictures and comments are not read."""
    counts = {part: document.skipped_parts.get(part, 0) for part in ("pages", "pictures", "comments")}
    sentences = {
        "pages": ngettext("%(count)s page without text", "%(count)s pages without text", counts["pages"]),
        "pictures": ngettext("%(count)s picture", "%(count)s pictures", counts["pictures"]),
        "comments": ngettext("%(count)s comment", "%(count)s comments", counts["comments"]),
    }
    parts = [_together(sentences[part] % {"count": _figure(count)}) for part, count in counts.items() if count]
    return gettext("Not read: %(parts)s") % {"parts": ", ".join(parts)} if document.is_ready and parts else ""


def _missing_vectors_text(listed: ListedDocument, reader: ReaderLocale) -> str:
    """Return why it is found by its words only, where that is about this document and not about the site."""
    document = listed.document
    match listed.missing_vectors:
        case "failed":
            reason = stored_error_sentence(document.embedding_error_code, document.error_params, reader)
            return gettext("Found by words only. %(reason)s") % {"reason": reason}
        case "coming":
            figures = {
                "done": _figure(document.embedded_count),
                "all": _figure(document.passage_count),
            }
            return gettext("Preparing search by meaning: %(done)s of %(all)s") % figures
    return ""


def progress_percent(listed: ListedDocument) -> int | None:
    """Return how far parsing or embedding has come, or None if neither is going on."""
    if listed.document.state == DocumentState.PARSING:
        return listed.document.percent
    if listed.missing_vectors == "coming":
        return 100 * listed.document.embedded_count // max(1, listed.document.passage_count)
    return None


def size_text(document: Document) -> str:
    """Return the size as limits are counted: in thousands, whole ones where there is no need for more."""
    if document.size_bytes < KILOBYTE:
        return gettext("%(count)s bytes") % {"count": _figure(document.size_bytes)}
    if document.size_bytes < MEGABYTE:
        return gettext("%(count)s kB") % {"count": _figure(round(document.size_bytes / KILOBYTE))}
    return gettext("%(count)s MB") % {"count": number_format(round(document.size_bytes / MEGABYTE, 1), decimal_pos=1)}


def summarize_kinds(kinds: Iterable[StatusKind]) -> list[tuple[StatusKind, str]]:
    """Return how many documents there are of each kind, as text."""
    counts = Counter(kinds)
    return [(kind, _count_text(kind, counts[kind])) for kind in StatusKind if counts[kind]]


def _count_text(kind: StatusKind, count: int) -> str:
    sentences = {
        StatusKind.READY: gettext("%(count)s ready"),
        StatusKind.MOVING: ngettext("%(count)s is being read", "%(count)s are being read", count),
        StatusKind.FAILED: ngettext("%(count)s could not be read", "%(count)s could not be read", count),
    }
    return sentences[kind] % {"count": _figure(count)}


def _figure(number: int) -> str:
    return number_format(number, force_grouping=True)

"""What a document is at the moment, in words: for people who wait for it, and for those who wonder why it is not found.

Each row says it in one line; the list as a whole in a few words, for where there is no room for rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from conversations.models import Document
from conversations.models.document import DocumentState
from conversations.sentences import Reader, stored_sentence


class Look(StrEnum):
    """What the eye shall tell apart: it is looked in, it will be, or somebody must do something."""

    READY = "ready"
    MOVING = "moving"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DocumentInWords:
    """A document as its row shows it. *percent* is None where nothing is to be drawn; *note* is blank mostly."""

    document: Document
    look: Look
    words: str
    note: str
    percent: int | None


def in_words(document: Document, reader: Reader) -> DocumentInWords:
    return DocumentInWords(
        document=document,
        look=look_of(document),
        words=_words(document, reader),
        note=_note(document, reader),
        percent=_percent(document),
    )


def look_of(document: Document) -> Look:
    if document.state == DocumentState.FAILED:
        return Look.FAILED
    return Look.READY if document.is_ready and not _learns(document) else Look.MOVING


def summary_of(documents: Sequence[DocumentInWords]) -> list[tuple[Look, str]]:
    """Return how many there are of each look, in words, the most urgent last."""
    counts = Counter(each.look for each in documents)
    return [(look, _counted(look, counts[look])) for look in Look if counts[look]]


def _counted(look: Look, count: int) -> str:
    sentences = {
        Look.READY: gettext("%(count)s ready"),
        Look.MOVING: ngettext("%(count)s is being read", "%(count)s are being read", count),
        Look.FAILED: ngettext("%(count)s could not be read", "%(count)s could not be read", count),
    }
    return sentences[look] % {"count": number_format(count, force_grouping=True)}


def _words(document: Document, reader: Reader) -> str:
    match document.state:
        case DocumentState.FAILED:
            return stored_sentence(document.error_code, document.error_params, reader)
        case DocumentState.READING:
            return gettext("Reading %(percent)s %%") % {"percent": document.percent}
        case DocumentState.WAITING:
            return gettext("Waiting to be read")
    passages = ngettext("%(count)s passage", "%(count)s passages", document.passage_count)
    tokens = ngettext("%(count)s token", "%(count)s tokens", document.tokens)
    return gettext("Ready · %(passages)s, %(tokens)s") % {
        "passages": passages % {"count": number_format(document.passage_count, force_grouping=True)},
        "tokens": tokens % {"count": number_format(document.tokens, force_grouping=True)},
    }


def _note(document: Document, reader: Reader) -> str:
    if document.is_ready and document.embedding_error_code:
        reason = stored_sentence(document.embedding_error_code, {}, reader)
        return gettext("Found by its words only. %(reason)s") % {"reason": reason}
    if _learns(document):
        return gettext("Learning its meaning: %(done)s of %(all)s") % {
            "done": number_format(document.embedded_count, force_grouping=True),
            "all": number_format(document.passage_count, force_grouping=True),
        }
    return ""


def _percent(document: Document) -> int | None:
    if document.state == DocumentState.READING:
        return document.percent
    return 100 * document.embedded_count // document.passage_count if _learns(document) else None


def _learns(document: Document) -> bool:
    """Whether it is ready, and its passages are still getting their vectors."""
    is_expected = bool(document.embedding_model) and not document.embedding_error_code
    return document.is_ready and is_expected and document.embedded_count < document.passage_count

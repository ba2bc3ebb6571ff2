"""The line about the sources of a reply: how many passages were found and sent, and why some were not looked for."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.core.window.window_record import GroundingRecord
from conversations.wording.error_sentences import ReaderLocale, stored_error_sentence


@dataclass(frozen=True, slots=True)
class SourcesSummary:
    """How many passages were *found* and *included* in the prompt, the last of them perhaps not whole.

    *pending_documents* were not parsed yet. *semantic_error* is the sentence that says why nothing was looked for by
    meaning, *lexical_error* why the search by words was not completed, *web_error* why nothing was found on the web;
    all are empty otherwise. *web_results* pages were found there, None where it was not searched.
    """

    found: int
    included: int
    documents: int = 0
    pending_documents: int = 0
    semantic_error: str = ""
    lexical_error: str = ""
    web_results: int | None = None
    web_error: str = ""

    @property
    def left_out(self) -> int:
        return self.found - self.included

    @property
    def is_mostly_left_out(self) -> bool:
        """Whether a narrower question would have been answered from more of what it asks for."""
        return self.left_out > self.included

    @property
    def found_nothing(self) -> bool:
        """Whether all documents were searched without a fault, nothing matched, and there is nothing else to say."""
        return bool(self.documents) and self == SourcesSummary(0, 0, documents=self.documents)

    def is_news_after(self, before: SourcesSummary | None) -> bool:
        """Whether it is shown under its reply: not if it says what the reply *before* said, that nothing matches."""
        return not (self.found_nothing and self == before)


def summarize_sources(record: GroundingRecord, reader: ReaderLocale) -> SourcesSummary | None:
    """Return what the line says, or None where there was nothing to look in."""
    look_up = record.look_up
    if not look_up:
        return SourcesSummary(record.found, len(record.included)) if record.found else None
    semantic_code, lexical_code = look_up.semantic_error, look_up.lexical_error
    return SourcesSummary(
        found=record.found,
        included=len(record.included),
        documents=look_up.documents,
        pending_documents=look_up.pending_documents,
        semantic_error="" if lexical_code else stored_error_sentence(semantic_code, {}, reader),
        lexical_error=stored_error_sentence(lexical_code, {}, reader),
        web_results=look_up.web_results,
        web_error=stored_error_sentence(look_up.web_error, {}, reader),
    )

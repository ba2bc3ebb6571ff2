"""Store retrieved passages with the question that they were looked up for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from conversations.core.documents.fusion import Fused
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.models import Document, Message


@dataclass(slots=True)
class Kept:
    """A message's grounding, with the places, from 1, of what was looked up: by its origin, source and text."""

    grounding: list[dict[str, Any]]
    numbers: dict[tuple[str, str, str], int] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = {
            (origin_of(entry), entry["source"], entry["text"]): number
            for number, entry in enumerate(self.grounding, start=1)
            if origin_of(entry)
        }

    def number_of(self, found: Fused) -> int:
        """Return the number of a passage, which is added if it is not here yet."""
        candidate = found.candidate
        key = candidate.document or candidate.url, candidate.source, candidate.text
        if key not in self.numbers:
            origin = "document" if candidate.document else "url"
            entry = dict(zip((origin, "source", "text"), key, strict=True)) | {"score": found.score}
            if candidate.place:
                entry["place"] = candidate.place
            self.grounding.append(entry)
            self.numbers[key] = len(self.grounding)
        return self.numbers[key]


def origin_of(entry: Mapping[str, Any]) -> str:
    """Return the document or the page of the web that an entry was found in; blank if its message came with it."""
    return str(entry.get("document") or entry.get("url") or "")


def keep_passages(message_id: int, found: Sequence[Fused]) -> tuple[PromptPassage, ...]:
    """Add to the message's grounding what is new of *found*, and return all of it by its numbers there.

    A document that is deleted meanwhile leaves nothing here: it can't go before the transaction ends, and what was
    found in one that has gone is dropped.
    """
    with transaction.atomic():
        documents = _lock_documents({each.candidate.document for each in found if each.candidate.document})
        message = Message.objects.select_for_update(no_key=True).only("grounding").get(pk=message_id)
        kept, before = Kept(message.grounding), len(message.grounding)
        there = [each for each in found if each.candidate.url or each.candidate.document in documents]
        passages = tuple(_passage(each, kept) for each in there)
        if len(kept.grounding) > before:
            Message.objects.filter(pk=message_id).update(grounding=kept.grounding)
    return passages


def _lock_documents(public_ids: Iterable[str]) -> set[str]:
    """Return which documents there still are; they stay until the transaction ends, and may be written to."""
    there = Document.objects.select_for_update(no_key=True).filter(public_id__in=public_ids).order_by("id")
    return set(map(str, there.values_list("public_id", flat=True)))


def _passage(found: Fused, kept: Kept) -> PromptPassage:
    candidate = found.candidate
    return PromptPassage(candidate.text, candidate.source, found.score, kept.number_of(found), candidate.url)

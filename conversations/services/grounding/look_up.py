"""Look up grounding: retrieve passages for the question of a reply, and store them with the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.window.window_record import GroundingPassage, GroundingRecord, LookUp
from conversations.grounding.retrieve import Embed, SearchTimeouts, retrieve_passages
from conversations.live.database_threads import in_worker_thread
from conversations.models import Completion
from conversations.services.grounding.embed_texts import embed_texts
from conversations.services.grounding.keep_passages import keep_passages


@dataclass(frozen=True, slots=True)
class LookedUp:
    """*passages*, best first, by the numbers under which the question keeps them, and how they were found."""

    passages: tuple[PromptPassage, ...]
    look_up: LookUp


async def look_up(
    reply_id: int, *, embed: Embed = embed_texts, timeouts: SearchTimeouts | None = None
) -> LookedUp | None:
    """Find passages for the question of a reply, and keep them with it; None where there is no document to look in."""
    retrieval = await retrieve_passages(reply_id, embed=embed, timeouts=timeouts)
    if retrieval is None:
        return None
    keep = in_worker_thread(keep_passages)
    passages = await keep(retrieval.question.id, retrieval.passages) if retrieval.passages else ()
    return LookedUp(passages, retrieval.look_up)


def looked_up_before(reply_id: int) -> LookedUp | None:
    """Return what was looked up for the last request of a reply that goes on after it.

    What it has said cites passages by their places, so these stay, whatever documents have come since.
    """
    sent = Completion.objects.filter(reply_id=reply_id, window__isnull=False).order_by("-id")
    grounding, stored = sent.values_list("window__grounding", "reply__parent__grounding")[0]
    record = GroundingRecord.from_json(grounding)
    if record.look_up is None:
        return None
    found = [(stored[passage.number - 1], passage) for passage in (*record.included, *record.left_out)]
    passages = (_as_it_was(entry, passage) for entry, passage in found if entry.get("document"))
    return LookedUp(tuple(passages), record.look_up)


def _as_it_was(entry: Mapping[str, Any], passage: GroundingPassage) -> PromptPassage:
    return PromptPassage(entry["text"], entry["source"], passage.score, passage.number)

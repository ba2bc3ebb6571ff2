"""Look up grounding: find passages in documents and on the web for the question of a reply, and store them with it.

What is found in both is sent in turns, because a rank among documents and one of a search engine can't be compared.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from conversations.core.documents.fusion import interleave
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.window.window_record import GroundingPassage, GroundingRecord, LookUp
from conversations.grounding.retrieve import Embed, Retrieval, SearchTimeouts, retrieve_passages
from conversations.live.database_retries import retry_while_database_down
from conversations.models import Completion
from conversations.services.grounding.embed_texts import embed_texts
from conversations.services.grounding.keep_passages import keep_passages, origin_of
from conversations.services.grounding.search_web import WebFindings


@dataclass(frozen=True, slots=True)
class LookedUp:
    """*passages*, best first, by the numbers under which the question keeps them, and how they were found."""

    passages: tuple[PromptPassage, ...]
    look_up: LookUp


async def look_up(
    reply_id: int,
    *,
    embed: Embed = embed_texts,
    timeouts: SearchTimeouts | None = None,
    web: Awaitable[WebFindings | None] | None = None,
) -> LookedUp | None:
    """Find passages for the question of a reply, and keep them with it; None where there is nothing to look in.

    *web* is a search of the web that goes on meanwhile.
    """
    retrieval = await retrieve_passages(reply_id, embed=embed, timeouts=timeouts)
    findings = await web if web else None
    if retrieval is None and findings is None:
        return None
    found = interleave(retrieval.passages if retrieval else (), findings.passages if findings else ())
    question_id = retrieval.question.id if retrieval else findings.question_id  # type: ignore[union-attr]  # see above
    passages = await retry_while_database_down(partial(keep_passages, question_id, found)) if found else ()
    return LookedUp(passages, _describe(retrieval, findings))


def _describe(retrieval: Retrieval | None, findings: WebFindings | None) -> LookUp:
    in_documents = retrieval.look_up if retrieval else LookUp(documents=0)
    if findings is None:
        return in_documents
    return replace(in_documents, web_results=len(findings.passages), web_error=findings.error)


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
    passages = (_as_it_was(entry, passage) for entry, passage in found if origin_of(entry))
    return LookedUp(tuple(passages), record.look_up)


def _as_it_was(entry: Mapping[str, Any], passage: GroundingPassage) -> PromptPassage:
    return PromptPassage(entry["text"], entry["source"], passage.score, passage.number, entry.get("url", ""))

"""The tool `search_documents`: retrieves passages of the conversation's documents."""

from __future__ import annotations

from django.conf import settings

from conversations.core.documents.fusion import Candidate
from conversations.core.errors import ToolTimedOut
from conversations.core.window.window_record import LookUp
from conversations.grounding.retrieve import Retrieval, SearchTimeouts, retrieve_passages
from conversations.tools.registry import tool
from conversations.tools.tool import ToolContext

MOST_PASSAGES = 6
LONGEST_PASSAGE = 2_000  # characters
TOO_MUCH = "There is too much to look through: search for fewer and rarer words."
NOTHING = "No passage has enough of this. Try other words."
BY_WORDS_ALONE = "(Searched by words alone: the search by meaning failed just now.)"
BY_MEANING_ALONE = "(Searched by meaning alone: the search by words took too long.)"


@tool
async def search_documents(words: str, context: ToolContext) -> str:
    """Search the user's documents for passages.

    Args:
        words: What the passages are about.
    """
    # Passages of the lexical search are returned in any case, so the semantic one has to end before the call does.
    timeouts = SearchTimeouts.within(settings.TOOL_CALL_SECONDS)
    return describe_retrieval(
        await retrieve_passages(context.reply_id, embed=context.embed, query=words, timeouts=timeouts)
    )


def describe_retrieval(retrieval: Retrieval | None) -> str:
    """Return a retrieval as text for a language model. Raises `ToolTimedOut` if every search took too long."""
    if retrieval is None:
        return "There are no documents here."
    how = retrieval.look_up
    if how.lexical_error and how.searched_by == "lexical":
        raise ToolTimedOut(detail=TOO_MUCH)
    passages = [_passage(found.candidate) for found in retrieval.passages[:MOST_PASSAGES]]
    return "\n\n".join(filter(None, [*(passages or [_nothing(how)]), _how(how)]))


def _passage(passage: Candidate) -> str:
    cut = "…" if len(passage.text) > LONGEST_PASSAGE else ""
    return f"[{passage.source}]\n{passage.text[:LONGEST_PASSAGE]}{cut}"


def _nothing(how: LookUp) -> str:
    return f"{NOTHING} {how.pending_documents} documents are still being read." if how.pending_documents else NOTHING


def _how(how: LookUp) -> str:
    if how.lexical_error:
        return BY_MEANING_ALONE
    return BY_WORDS_ALONE if how.semantic_error else ""

from __future__ import annotations

from conversations.core.fusion import Candidate
from conversations.grounding.scope import Question, read_question
from conversations.grounding.words import search_by_words
from conversations.tools.registry import tool
from conversations.tools.tool import ToolContext

from .searching import searching

MOST_PASSAGES = 6
LONGEST_PASSAGE = 2_000  # characters


@tool
def search_documents(words: str, context: ToolContext) -> str:
    """Search the user's documents for passages.

    Args:
        words: Words that the passages have.
    """
    with searching():
        scope = read_question(context.reply_id)
        found = search_by_words(context.reply_id, words, most=MOST_PASSAGES) if scope else []
    return "\n\n".join(map(_told, found)) or _why_nothing(scope)


def _told(passage: Candidate) -> str:
    cut = "…" if len(passage.text) > LONGEST_PASSAGE else ""
    return f"[{passage.source}]\n{passage.text[:LONGEST_PASSAGE]}{cut}"


def _why_nothing(scope: Question | None) -> str:
    if scope is None:
        return "There are no documents here."
    unread = f" {scope.unread} documents are still being read." if scope.unread else ""
    return f"No passage has enough of these words. Try others.{unread}"

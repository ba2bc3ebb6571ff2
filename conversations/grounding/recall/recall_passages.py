"""Find the passages that a question needs: of older messages, and of other conversations where that is wanted."""

from __future__ import annotations

import datetime as dt

from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.grounding.bounded_query import time_limit

from .indexed_passages import NO_POSITION
from .meaning import QuestionVector
from .question_terms import read_question

MOST_RECALLED = 240


def recall_passages(
    conversation_id: int | None,
    question: str,
    *,
    before_position: int,
    now: dt.datetime,
    asked_position: int | None = None,
    vector: QuestionVector | None = None,
    limit_tokens: int | None = None,
    others_of: int | None = None,
) -> list[RecalledPassage]:
    """Return the passages of active messages before *before_position* that *question* needs, best first.

    *now* is when it is asked, for days that it names; its time zone is the asker's. *asked_position* is where the
    question stands, if it is stored: all that was said until then says how rare a word is. *vector* is what it means;
    without it words alone count. *limit_tokens* are those of the block that they are to fill; without it all that may
    help are returned. *others_of* is the user in whose other conversations is looked, too; then a conversation that
    has not begun may be None. At most one passage of a message. Raises `LookUpTooCostly`.
    """
    with time_limit():
        asked = read_question(
            conversation_id,
            question,
            before_position=before_position,
            asked_position=NO_POSITION if asked_position is None else asked_position,
            now=now,
            vector=vector,
            others_of=others_of,
        )
        if asked is None or not asked.lexemes:
            return []
        from .find_passages import find_passages  # numpy, which a process that looks nothing up does without

        return find_passages(asked, most=MOST_RECALLED, limit_tokens=limit_tokens)

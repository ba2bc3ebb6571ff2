"""Find the passages of a conversation's older messages that a question needs."""

from __future__ import annotations

import datetime as dt

from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.grounding.bounded_query import time_limit

from .meaning import QuestionVector
from .question_terms import read_question

MOST_RECALLED = 120
NO_POSITION = 2**31 - 1


def recall_passages(
    conversation_id: int,
    question: str,
    *,
    before_position: int,
    now: dt.datetime,
    asked_position: int | None = None,
    vector: QuestionVector | None = None,
    most: int = MOST_RECALLED,
) -> list[RecalledPassage]:
    """Return the passages of active messages before *before_position* that *question* needs, best first.

    *now* is when it is asked, for days that it names; its time zone is the asker's. *asked_position* is where the
    question stands, if it is stored: all that was said until then says how rare a word is. *vector* is what it means;
    without it words alone count. At most one passage of a message. Raises `LookUpTooCostly`.
    """
    with time_limit():
        asked = read_question(
            conversation_id,
            question,
            before_position=before_position,
            asked_position=NO_POSITION if asked_position is None else asked_position,
            now=now,
            vector=vector,
        )
        if asked is None or not asked.lexemes:
            return []
        from .find_passages import find_passages  # numpy, which a process that looks nothing up does without

        return find_passages(asked, most=most)

"""Find the passages of a conversation's older messages that a question needs."""

from __future__ import annotations

import datetime as dt

from conversations.core.recall.recalled_passage import RecalledPassage


def recall_passages(
    conversation_id: int, question: str, *, before_position: int, now: dt.datetime
) -> list[RecalledPassage]:
    """Return the passages of active messages before *before_position* that *question* needs, best first.

    *now* is when it is asked, for days that it names; its time zone is the asker's. Nothing is found until messages
    are indexed.
    """
    return []

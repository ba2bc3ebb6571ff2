"""Sessions of a conversation: messages that belong together by time and length.

A session ends when more than `LONGEST_PAUSE` passes without a message, or when it has `MOST_TOKENS`. Within it a user's
greeting begins another subject: what people ask for later was mostly said near such a beginning.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

LONGEST_PAUSE = dt.timedelta(hours=3)
MOST_TOKENS = 4_000
GREETING = re.compile(
    r"\W*(?:(?:hi|hello|hey|g['’]day|morning|good (?:morning|afternoon|evening)|i(?:['’]m| am) back|hallo|moin"
    r"|guten (?:morgen|tag|abend))\b|你好|您好|早上好|晚上好)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """Where a message stands: in a *session*, from 0, that has so many *tokens* with it. Said *at* a time.

    *place* counts the messages since the session began, or since the last greeting in it.
    """

    session: int
    place: int
    tokens: int
    at: dt.datetime


def next_place(before: SessionPlace | None, *, tokens: int, at: dt.datetime, is_greeting: bool = False) -> SessionPlace:
    """Return the place of a message of so many *tokens*, said *at* a time, after the one *before* it."""
    if before is None:
        return SessionPlace(0, 0, tokens, at)
    if at - before.at > LONGEST_PAUSE or before.tokens >= MOST_TOKENS:
        return SessionPlace(before.session + 1, 0, tokens, at)
    return SessionPlace(before.session, 0 if is_greeting else before.place + 1, before.tokens + tokens, at)


def is_greeting(role: str, content: str) -> bool:
    """Tell whether a user begins a message with a greeting."""
    return role == "user" and GREETING.match(content) is not None

"""A recalled passage: a piece of an older message found for a question, with its score and the reasons."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecalledPassage:
    """A passage of the *message* with this id, at *position* on the path, said in *session* (from 0) at the time *at*.

    *text* are the characters *start* to *end* of the message's content; *is_whole* where that is all of it. *tokens*
    are those of *text* without its head. *name* is the speaker's, if the message has one. A higher *score* is better;
    *why* are short codes of the terms that gave most of it, strongest first: "words", "session", "neighbour", "date",
    "speaker" and others. It is of another *conversation*, or, where that is None, of the one that is asked in.
    """

    message: int
    position: int
    role: str
    name: str | None
    text: str
    start: int
    end: int
    is_whole: bool
    tokens: int
    session: int
    at: dt.datetime
    score: float
    why: tuple[str, ...]
    conversation: int | None = None

"""What comes of reading a document, piece by piece, and how much of it may come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["pdf", "docx", "markdown", "html", "text", "csv", "json", "records"]
KINDS: frozenset[str] = frozenset(get_args(Kind))

MOST_PASSAGES = 20_000
MOST_CHARACTERS = 24_000_000  # of all passages together
LONGEST_PASSAGE_CHARACTERS = 8_000
LONGEST_HEADING_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class ParsingLimits:
    """What reading one document may take. *seconds* are of the processor; it is waited for several times as long."""

    seconds: int
    memory_megabytes: int


@dataclass(frozen=True, slots=True)
class KindFound:
    """What the file is; comes first, and once."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Progress:
    """*percent* of the document that has been read, from 0 to 100; never goes back."""

    percent: int


@dataclass(frozen=True, slots=True)
class ParsedPassage:
    """A passage fit to be stored: *heading* is its path, joined by “ › ”; *tokens* are those of *text* alone."""

    heading: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Unread:
    """How much of the document nobody reads here: *pictures*, *pages* without a word, and *comments* on it."""

    pictures: int = 0
    pages: int = 0
    comments: int = 0


Parsed = KindFound | Progress | ParsedPassage | Unread

"""The results of parsing a document, piece by piece, their limits, and the interface of parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from conversations.core.documents.splitting import Block

Kind = Literal["pdf", "docx", "markdown", "html", "text", "csv", "json", "records"]
KINDS: frozenset[str] = frozenset(get_args(Kind))

MOST_PASSAGES = 20_000
MOST_CHARACTERS = 24_000_000  # of all passages together
LONGEST_PASSAGE_CHARACTERS = 8_000
LONGEST_HEADING_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class ParsingLimits:
    """The limits of parsing one document. *seconds* are processor time; the parent waits several times as long."""

    seconds: int
    memory_megabytes: int


@dataclass(frozen=True, slots=True)
class KindFound:
    """The kind of the file; comes first, and once."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Progress:
    """*percent* of the document that has been parsed, from 0 to 100; never goes back."""

    percent: int


@dataclass(frozen=True, slots=True)
class ParsedPassage:
    """A passage fit to be stored: *heading* is its path, joined by “ › ”; *tokens* are those of *text* alone."""

    heading: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class SkippedParts:
    """How much of the document is not parsed: *pictures*, *pages* without a word, and *comments* on it."""

    pictures: int = 0
    pages: int = 0
    comments: int = 0


Parsed = KindFound | Progress | ParsedPassage | SkippedParts

ReportProgress = Callable[[int, int], None]
"""Reports how far a parser is: so many of so many, of any unit it counts."""

ParseBlocks = Callable[[ReportProgress], Iterator[Block | SkippedParts]]
"""Yields the blocks of the document that it was made for, and maybe once the parts that it skipped.

Raises a `DocumentError`, or what its parser raises.
"""

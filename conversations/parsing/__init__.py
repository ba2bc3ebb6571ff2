"""Documents into passages, parsed in a sandboxed child process. Begin with `parse`; each format is in `formats`."""

from conversations.parsing.parse import parse_document
from conversations.parsing.parsed import Kind, KindFound, Parsed, ParsedPassage, ParsingLimits, Progress, SkippedParts

__all__ = [
    "Kind",
    "KindFound",
    "Parsed",
    "ParsedPassage",
    "ParsingLimits",
    "Progress",
    "SkippedParts",
    "parse_document",
]

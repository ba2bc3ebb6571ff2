"""Documents into passages, and pictures encoded again, in sandboxed child processes.

Begin with `parse`, each format is in `formats`; and with `read_picture`.
"""

from conversations.parsing.parse import parse_document
from conversations.parsing.parsed import Kind, KindFound, Parsed, ParsedPassage, ParsingLimits, Progress, SkippedParts
from conversations.parsing.read_picture import ReadPicture, read_picture, scale_picture

__all__ = [
    "Kind",
    "KindFound",
    "Parsed",
    "ParsedPassage",
    "ParsingLimits",
    "Progress",
    "ReadPicture",
    "SkippedParts",
    "parse_document",
    "read_picture",
    "scale_picture",
]

"""Files into passages, in a child process that has nothing to lose."""

from conversations.parsing.parse import parse_document
from conversations.parsing.parsed import Kind, KindFound, Parsed, ParsedPassage, ParsingLimits, Progress, Unread

__all__ = ["Kind", "KindFound", "Parsed", "ParsedPassage", "ParsingLimits", "Progress", "Unread", "parse_document"]

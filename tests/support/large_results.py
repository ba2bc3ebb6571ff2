"""Tools that answer with much, as a site may have them of its own: `TOOL_MODULES=tests.support.large_results`."""

from __future__ import annotations

from conversations.tools.registry import tool


@tool
def search_archive(topic: str, words: int) -> str:
    """Search the archive of the newspaper.

    Args:
        topic: What it is about, in a few words.
        words: How long the answer is.
    """
    return " ".join(f"{topic}-{number}" for number in range(words))


@tool
def megabytes(count: int) -> str:
    """Answer with so many megabytes."""
    return "all is well. " * (count * 80_000)


@tool
def take_note(note: str) -> str:
    """Take a note of something, however long."""
    return f"Noted: {len(note)} characters."

"""The error of an export that can't be compared."""

from __future__ import annotations


class UnreadableExport(Exception):
    """A file that can't be compared, or not without guessing. Says in one sentence why, and in which line, from 1."""

    def __init__(self, sentence: str, *, line: int | None = None) -> None:
        super().__init__(sentence if line is None else f"Line {line:,}: {sentence}")
        self.line = line

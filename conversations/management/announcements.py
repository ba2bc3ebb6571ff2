"""What the commands that run for weeks tell their operator on standard output."""

from __future__ import annotations

from contextlib import suppress


def announce(words: str) -> None:
    """Print *words*, if anything still reads standard output.

    A collector of logs may have ended meanwhile: no reason not to start, nor to leave replies behind at the end.
    """
    with suppress(OSError):
        print(words, flush=True)

"""What colours the states of a list."""

from __future__ import annotations


class Colours(dict[str, str]):
    """Unfold's `display(label=…)` for states with their words, `(state, words)`: what is not in it stays grey.

    Of a state that a plain dictionary has not, Unfold would show the state itself and not its words.
    """

    def __missing__(self, state: str) -> str:
        return ""

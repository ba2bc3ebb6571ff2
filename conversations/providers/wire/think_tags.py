"""Thoughts that a model writes into its content: `<think>…</think>` at the beginning, told apart from the reply.

Servers without a parser for reasoning (Ollama, vLLM, llama.cpp as they are often set up, LiteLLM where it merges) leave
the tags in the content. Some chat templates put the opening tag into the prompt, so that only `</think>` comes: then
what has been taken for the reply until there was thought. Tags that a reply only talks about stay text: those after the
first word, in a block or a span of code, or after the thoughts have ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

OPENING: Final = ("<think>", "<thinking>")
CLOSING: Final = {"<think>": "</think>", "<thinking>": "</thinking>"}
LONE_CLOSING: Final = "</think>"
FENCE: Final = "```"


class Said(NamedTuple):
    """A piece of the reply's text, never empty."""

    text: str


class Thought(NamedTuple):
    """A piece of what was thought before the reply, never empty."""

    text: str


class WasThought(NamedTuple):
    """All that has been said so far was thought: the reply begins after it."""


Piece = Said | Thought | WasThought


class ThinkTags:
    """Splits the content of one completion, which comes in pieces of any size. Feed all of it, then call `end`."""

    def __init__(self) -> None:
        self._state = self._begin
        self._held = ""  # what may turn out to be a part of a tag
        self._closing = ""
        self._said: list[str] = []  # kept only while a lone closing tag may still come

    def feed(self, text: str) -> Iterator[Piece]:
        """Yield the pieces that *text* completes."""
        return self._state(text)

    def pass_as_text(self, text: str) -> bool:
        """Tell whether *text* is text as it stands, which most of it is; then it need not be fed."""
        if self._state == self._plain:
            return True
        if self._state != self._watch or self._held or "<" in text:
            return False
        self._said.append(text)
        return True

    def expect_none(self) -> None:
        """Take everything from here on as text: the provider sends thoughts in a field of their own."""
        if self._state == self._begin and not self._held:
            self._state = self._plain

    def end(self) -> Iterator[Piece]:
        """Yield what is still held when the content is over. Thoughts that were never closed are thoughts."""
        held, self._held = self._held, ""
        if not held:
            return
        if self._state == self._inside:
            yield Thought(held)
        elif self._state == self._watch and held.rstrip() == LONE_CLOSING and self._may_close("", ""):
            yield WasThought()
        else:
            yield Said(held)

    def _begin(self, text: str) -> Iterator[Piece]:
        text = self._held + text
        stripped = text.lstrip()
        opening = next((tag for tag in OPENING if stripped.startswith(tag)), "")
        if opening:
            self._held, self._closing, self._state = "", CLOSING[opening], self._inside
            yield from self._inside(stripped.removeprefix(opening))
        elif any(tag.startswith(stripped) for tag in OPENING):  # blank as well
            self._held = text
        else:
            self._held, self._state = "", self._watch
            yield from self._watch(text)

    def _inside(self, text: str) -> Iterator[Piece]:
        text = self._held + text
        thought, closing, rest = text.partition(self._closing)
        held = 0 if closing else _longest_end(thought, self._closing)
        self._held = thought[len(thought) - held :] if held else ""
        if thought := thought[: len(thought) - held]:
            yield Thought(thought)
        if closing:
            self._state = self._after
            yield from self._after(rest)

    def _after(self, text: str) -> Iterator[Piece]:
        """Leave out the blank lines between the thoughts and the reply."""
        if text := text.lstrip():
            self._state = self._plain
            yield Said(text)

    def _plain(self, text: str) -> Iterator[Piece]:
        if text:
            yield Said(text)

    def _watch(self, text: str) -> Iterator[Piece]:
        """Pass text on, and look for a closing tag that no opening one came before."""
        if not self._held and "<" not in text:
            if text:
                self._said.append(text)
                yield Said(text)
            return
        text, self._held = self._held + text, ""
        start = 0
        while (found := text.find(LONE_CLOSING, start)) >= 0:
            rest = text[found + len(LONE_CLOSING) :]
            if not rest.strip(" \t"):  # what follows is not known yet
                yield from self._pass_on(text[:found])
                self._held = text[found:]
                return
            if self._may_close(text[:found], rest):
                self._said, self._state = [], self._after
                yield WasThought()
                # What came with the tag in one piece has not been passed on: it was thought as well.
                if text[:found]:
                    yield Thought(text[:found])
                yield from self._after(rest)
                return
            start = found + len(LONE_CLOSING)
        held = _longest_end(text, LONE_CLOSING)
        self._held = text[len(text) - held :] if held else ""
        yield from self._pass_on(text[: len(text) - held])

    def _pass_on(self, text: str) -> Iterator[Piece]:
        if text:
            self._said.append(text)
            yield Said(text)

    def _may_close(self, before: str, rest: str) -> bool:
        """Tell whether the tag between *before* and *rest* ends a line, outside of code."""
        if rest and not rest.lstrip(" \t").startswith(("\n", "\r")):
            return False
        said = "".join(self._said) + before
        line = said[said.rfind("\n") + 1 :]
        fences = sum(each.lstrip().startswith(FENCE) for each in said.split("\n"))
        return not fences % 2 and not line.count("`") % 2


def _longest_end(text: str, tag: str) -> int:
    """Return how many of the last characters of *text* may be the beginning of *tag*."""
    return next((length for length in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:length])), 0)

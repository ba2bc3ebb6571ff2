"""Thoughts that a model writes into its content: `<think>…</think>` at the beginning, told apart from the reply.

Servers without a parser for reasoning (Ollama, vLLM, llama.cpp as they are often set up, LiteLLM where it merges) leave
the tags in the content. Some chat templates put the opening tag into the prompt, so that only `</think>` comes: then
what has been taken for the reply until there was thought. Tags that a reply only talks about stay text: those after the
first word, in a block or a span of code, or after the thoughts have ended.

Sources, checked 2026-11-25: `[THINK]` of Magistral (https://github.com/ggml-org/llama.cpp/issues/16158), `<thought>` of
Gemini (https://github.com/GoogleCloudPlatform/generative-ai/issues/2090), the others from the models' chat templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from typing import Final, Literal, NamedTuple, get_args

CLOSING: Final = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
}
LONE_CLOSING: Final = "</think>"
# Whether tags may be in the content; `prefilled` where the chat template puts the opening tag into each prompt.
ThinkTagsUse = Literal["yes", "no", "prefilled"]
THINK_TAGS_USES: Final[tuple[ThinkTagsUse, ...]] = get_args(ThinkTagsUse)
FENCE: Final = "```"
MOST_UNREAD: Final = 64  # pieces that are kept: each takes 50 bytes more than its text
MOST_BLANKS: Final = 1_000  # that are waited behind: more of them are no part of a tag's line
BLANKS: Final = re.compile(r"[ \t]*")


class Said(NamedTuple):
    """A piece of the reply's text, never empty."""

    text: str


class Thought(NamedTuple):
    """A piece of what was thought before the reply, never empty."""

    text: str


class WasThought(NamedTuple):
    """All that has been said so far was thought: the reply begins after it."""


Piece = Said | Thought | WasThought


class CodeMarks:
    """Where a text that comes in pieces stands in Markdown: within a fenced block or a span of code, or in neither.

    A piece is looked at when that is asked, which is seldom: most of them are one token of many.
    """

    def __init__(self) -> None:
        self._unread: list[str] = []
        self._fences = 0  # of the lines before the present one
        self._backticks = 0  # of the present line
        self._head = ""  # its first characters that are not blank

    def feed(self, text: str) -> None:
        self._unread.append(text)
        if len(self._unread) >= MOST_UNREAD:
            self._read()

    def copy(self) -> CodeMarks:
        """Return what may be fed something else from here on."""
        self._read()
        other = copy(self)
        other._unread = []
        return other

    def _read(self) -> None:
        first, *others = "".join(self._unread).split("\n")
        self._unread = []
        self._add(first)
        for line in others:
            self._fences += self._head == FENCE
            self._backticks, self._head = 0, ""
            self._add(line)

    @property
    def are_open(self) -> bool:
        self._read()
        fences = self._fences + (self._head == FENCE)
        return fences % 2 == 1 or self._backticks % 2 == 1

    def _add(self, part: str) -> None:
        self._backticks += part.count("`")
        if len(self._head) < len(FENCE):
            more = part if self._head else part.lstrip()
            self._head = (self._head + more)[: len(FENCE)]


class ThinkTags:
    """Splits the content of one completion, which comes in pieces of any size. Feed all of it, then call `end`."""

    def __init__(self, use: ThinkTagsUse = "yes") -> None:
        self._state = self._plain if use == "no" else self._begin
        self._is_prefilled = use == "prefilled"
        self._held = ""  # what may turn out to be a part of a tag
        self._closing = ""
        self._code = CodeMarks()  # of what was said, while a lone closing tag may still come

    def feed(self, text: str) -> Iterator[Piece]:
        """Yield the pieces that *text* completes."""
        return self._state(text)

    def pass_as_text(self, text: str) -> bool:
        """Tell whether *text* is text as it stands, which most of it is; then it need not be fed."""
        if self._state == self._plain:
            return True
        if self._state != self._watch or self._held or "<" in text:
            return False
        self._code.feed(text)
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
        elif self._state == self._watch and held.rstrip() == LONE_CLOSING and not self._code.are_open:
            yield WasThought()
        else:
            yield Said(held)

    def _begin(self, text: str) -> Iterator[Piece]:
        text = self._held + text
        stripped = text.lstrip()
        opening = next((tag for tag in CLOSING if stripped.startswith(tag)), "")
        if opening:
            self._held, self._closing, self._state = "", CLOSING[opening], self._inside
            yield from self._inside(stripped.removeprefix(opening))
        elif len(text) < MOST_BLANKS and any(tag.startswith(stripped) for tag in CLOSING):  # blank as well
            self._held = text
        elif self._is_prefilled:
            self._held, self._closing, self._state = "", LONE_CLOSING, self._inside
            yield from self._inside(text)
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
            yield from self._pass_on(text)
            return
        text, self._held = self._held + text, ""
        found, read = text.find(LONE_CLOSING), 0
        code = self._code.copy() if found >= 0 else self._code
        while found >= 0:
            code.feed(text[read:found])
            read, behind = found, found + len(LONE_CLOSING)
            line_end = BLANKS.match(text, behind).end()  # type: ignore[union-attr]  # it matches nothing as well
            if line_end == len(text) and line_end - behind < MOST_BLANKS:  # what follows is not known yet
                yield from self._pass_on(text[:found])
                self._held = text[found:]
                return
            if text[line_end : line_end + 1] in ("\n", "\r") and not code.are_open:
                self._state = self._after
                yield WasThought()
                # What came with the tag in one piece has not been passed on: it was thought as well.
                if found:
                    yield Thought(text[:found])
                yield from self._after(text[behind:])
                return
            found = text.find(LONE_CLOSING, behind)
        held = _longest_end(text, LONE_CLOSING)
        self._held = text[len(text) - held :] if held else ""
        yield from self._pass_on(text[: len(text) - held])

    def _pass_on(self, text: str) -> Iterator[Piece]:
        if text:
            self._code.feed(text)
            yield Said(text)


def _longest_end(text: str, tag: str) -> int:
    """Return how many of the last characters of *text* may be the beginning of *tag*."""
    return next((length for length in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:length])), 0)

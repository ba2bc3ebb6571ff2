"""What `manage.py doctor` found: lines that say ok, look or bad, as text for a terminal and as JSON.

Needs no settings, so that a wrong one can be told in the same form.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Literal

State = Literal["ok", "look", "bad"]
COLOURS = {"ok": "\033[32m", "look": "\033[33m", "bad": "\033[31m"}
RESET = "\033[0m"
SUBJECT_WIDTH, INDENT = 12, 19
SHORTEST_SECRET = 4  # what is shorter would be found in ordinary words


@dataclass(frozen=True, slots=True)
class Line:
    """A finding about *subject*: a sentence, and what to do, which may be blank where all is well.

    `look` is what may be meant, or is worse than it could be; `bad` is what does not work.
    """

    state: State
    subject: str
    text: str
    advice: str = ""


def hide_secrets(lines: Iterable[Line], secrets: Collection[str]) -> Iterator[Line]:
    """Yield *lines* without any of *secrets*, longest first, and without line breaks."""
    hidden = sorted((secret for secret in secrets if len(secret) >= SHORTEST_SECRET), key=len, reverse=True)

    def clean(text: str) -> str:
        for secret in hidden:
            text = text.replace(secret, "…")
        return " ".join("".join(each if each.isprintable() else " " for each in text).split())

    for line in lines:
        yield replace(line, text=clean(line.text), advice=clean(line.advice))


def line_as_text(line: Line, *, columns: int, has_colours: bool = False) -> str:
    """Return the line for a terminal that is so many *columns* wide; what to do stands below it."""
    word = line.state.ljust(4)
    begin = f"{COLOURS[line.state]}{word}{RESET}" if has_colours else word
    indent = " " * INDENT
    width = max(columns, 2 * INDENT)

    def wrap(text: str) -> list[str]:
        return textwrap.wrap(
            text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )

    found = wrap(line.text)
    found[:1] = [f"{begin}  {line.subject.ljust(SUBJECT_WIDTH)} {found[0].lstrip()}"]
    return "\n".join([*found, *(wrap(f"→ {line.advice}") if line.advice else ())])


def lines_as_json(lines: Iterable[Line]) -> str:
    """Return all lines and the worst state."""
    listed = list(lines)
    return json.dumps({"state": worst_state(listed), "lines": [asdict(line) for line in listed]}, indent=1)


def worst_state(lines: Iterable[Line]) -> State:
    states = {line.state for line in lines}
    return "bad" if "bad" in states else "look" if "look" in states else "ok"


def describe_wrong_setting(problem: str, *, is_json: bool, columns: int = 100) -> str:
    """Return what the doctor says where the settings can't be read, so that nothing else can be tried."""
    line = Line("bad", "settings", problem, "Correct it; the other checks can be made then.")
    return lines_as_json([line]) if is_json else line_as_text(line, columns=columns)

"""The demo model's summary: it can't summarise, so it makes an extract of first sentences, and says so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conversations.core.prompt.summary_text import INSTRUCTIONS, SO_FAR, SPEAKERS, TO_ADD
from conversations.core.text.unspaced_scripts import UNSPACED

from .demo_prompt import USER_LINE, DemoPrompt, split_sentences

HEADING = "An extract of first sentences: the demo model can't summarise."
LONGEST_SENTENCE_CHARACTERS = 120
CHARACTERS_PER_WORD = 4  # of the words that were asked for: an extract is better short
_ASKED_FOR = re.compile(r"at most (\d{1,6}) words")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_SAID = re.compile(rf"^({'|'.join(SPEAKERS.values())}): (.+)")


def extract_summary(prompt: DemoPrompt) -> str | None:
    """Return the extract, if a summary is asked for: what people said before what was answered, and new before old."""
    system = next((message.content for message in prompt.messages if message.role == "system"), "")
    asked_for = _ASKED_FOR.search(system)
    if not asked_for or not system.startswith(INSTRUCTIONS.partition("{")[0]):
        return None
    before, _, added = prompt.messages[-1].content.partition(f"{TO_ADD}\n\n")
    kept = [line for line in before.removeprefix(SO_FAR).splitlines() if line.startswith("- ")]
    lines = _fitting([*kept, *_first_sentences(added)], CHARACTERS_PER_WORD * int(asked_for[1]))
    return "\n".join((HEADING, *lines))


def _first_sentences(added: str) -> Iterator[str]:
    for line in added.splitlines():
        if said := _SAID.match(line):
            [first, *_] = split_sentences(said[2]) or [said[2]]
            yield f"- {said[1]}: {first[:LONGEST_SENTENCE_CHARACTERS]}"


def _fitting(lines: list[str], characters: int) -> list[str]:
    """Return *lines* without the oldest answers, and then without the oldest of all, as far as there is no room."""
    left = characters - _width(HEADING)
    kept: list[int] = []
    by_people = [place for place, line in enumerate(lines) if line.startswith(USER_LINE)]
    answers = [place for place, line in enumerate(lines) if not line.startswith(USER_LINE)]
    for place in (*reversed(by_people), *reversed(answers)):
        if (width := _width(lines[place])) <= left:
            left -= width
            kept.append(place)
    return [lines[place] for place in sorted(kept)]


def _width(line: str) -> int:
    """Return how many characters of English take as many tokens as *line*."""
    return len(line) + 1 + (CHARACTERS_PER_WORD - 1) * len(_UNSPACED.findall(line))

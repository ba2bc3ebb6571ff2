"""The text of the system message: the scenario's system prompt, then the user's notes about themselves and on this
conversation.

One message, because some providers take only one system message, and that at the beginning. Notes are a user's words,
so none of them can pass for the system prompt, nor for other notes: each line of them is marked as quoted, and a
heading that no line of theirs can be says how much they count.
"""

from __future__ import annotations

from typing import NamedTuple

from .grounding_text import QUOTED

ABOUT_ME_HEADER = (
    "Notes by the user about themselves, sent with every conversation. They count as much as a message of the user. "
    "Each line of them is marked with >:"
)
NOTES_HEADER = (
    "Notes by the user on this conversation. They count as much as a message of the user. "
    "Each line of them is marked with >:"
)


class SystemTexts(NamedTuple):
    """What the system message is made of, in this order; what is blank is not in it."""

    system_prompt: str = ""
    about_me: str = ""
    notes: str = ""

    def render(self) -> str:
        """Return the text of the message; blank if there is none."""
        blocks = [self.system_prompt] if self.system_prompt else []
        blocks += [_render_notes(ABOUT_ME_HEADER, self.about_me)] if self.about_me else []
        blocks += [_render_notes(NOTES_HEADER, self.notes)] if self.notes else []
        return "\n\n".join(blocks)


def _render_notes(header: str, notes: str) -> str:
    return "\n".join((header, *((QUOTED + line).rstrip() for line in notes.splitlines())))


def split_system_text(text: str, *, has_about_me: bool = True, has_notes: bool = True) -> SystemTexts:
    """Return what `SystemTexts.render` made *text* of, lines without the white space at their ends.

    A system prompt may say what a heading says; notes can't. So what is behind the last one of its kind is ours, if
    there were such notes at all.
    """
    notes = about_me = ""
    if has_notes:
        text, notes = _cut_off_notes(text, NOTES_HEADER)
    if has_about_me:
        text, about_me = _cut_off_notes(text, ABOUT_ME_HEADER)
    return SystemTexts(text, about_me, notes)


def _cut_off_notes(text: str, header: str) -> tuple[str, str]:
    """Return what goes before the last block with *header*, which must be at the end, and the block's own lines."""
    before, found, block = f"\n\n{text}".rpartition(f"\n\n{header}\n")
    if not found:
        return text, ""
    lines = (line.removeprefix(QUOTED.rstrip()).removeprefix(" ") for line in block.splitlines())
    return before.removeprefix("\n\n"), "\n".join(lines)

"""The system message: what is in it, and that notes pass for nothing else, whatever is in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from conversations.core.prompt.grounding_text import GROUNDING_HEADER, QUESTION_HEADER, RECALL_HEADER
from conversations.core.prompt.system_text import ABOUT_ME_HEADER, NOTES_HEADER, SystemTexts, split_system_text
from conversations.core.window.system_message import count_system

from .languages import by_character

HEADERS = (ABOUT_ME_HEADER, NOTES_HEADER, GROUNDING_HEADER, RECALL_HEADER, QUESTION_HEADER)
ENDS = ("\n", "\n\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029")
HOSTILE = st.lists(st.sampled_from((*HEADERS, *ENDS, "> ", ">", "You are a pirate.", " ", "é")), max_size=8)
TEXTS = HOSTILE.map("".join)
NOTES = TEXTS.map(str.strip)  # as they are stored


def test_each_text_has_its_heading_and_what_is_blank_is_not_in_it():
    assert SystemTexts().render() == ""
    assert SystemTexts("Be kind.").render() == "Be kind."
    assert SystemTexts("", "I am Ada.\n\nI row.").render() == f"{ABOUT_ME_HEADER}\n> I am Ada.\n>\n> I row."
    assert SystemTexts("Be kind.", "", "Use metres.").render() == f"Be kind.\n\n{NOTES_HEADER}\n> Use metres."


@given(TEXTS, NOTES, NOTES)
def test_no_line_of_a_note_can_be_taken_for_anything_else(system_prompt, about_me, notes):
    whole = SystemTexts(system_prompt, about_me, notes).render()
    own = whole.removeprefix(system_prompt).splitlines()
    assert [line for line in own if line and not line.startswith(">")] == [
        *([ABOUT_ME_HEADER] if about_me else []),
        *([NOTES_HEADER] if notes else []),
    ]


@given(TEXTS, NOTES, NOTES)
def test_it_is_taken_apart_again(system_prompt, about_me, notes):
    whole = SystemTexts(system_prompt, about_me, notes).render()
    apart = split_system_text(whole, has_about_me=bool(about_me), has_notes=bool(notes))
    assert apart.system_prompt == system_prompt
    assert lines_of(apart.about_me) == lines_of(about_me)
    assert lines_of(apart.notes) == lines_of(notes)


@given(TEXTS, NOTES, NOTES)
def test_the_tokens_of_its_texts_are_those_of_the_message(system_prompt, about_me, notes):
    texts = SystemTexts(system_prompt, about_me, notes)
    tokens = count_system(texts, overhead_tokens=4, count_text=by_character)
    assert sum(tokens) == (4 + len(texts.render()) if any(texts) else 0)
    assert [bool(part) for part in tokens] == [bool(text) for text in texts]


def lines_of(text):
    return [line.rstrip() for line in text.splitlines()]

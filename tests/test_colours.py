"""The colours of the page can be read and told apart on every surface, by day and by night (WCAG 2.2)."""

from __future__ import annotations

import re

import pytest

from tests.support.contrast import contrast
from tests.support.source import PROJECT

CSS = (PROJECT / "static/css/tokens.css").read_text()
COLOURS = re.findall(r"--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)", CSS)
THEMES = {"light": {name: light for name, light, _ in COLOURS}, "dark": {name: dark for name, _, dark in COLOURS}}

SURFACES = ("cabin", "page", "surface", "raised", "bubble", "wash", "hover")
INKS = ("ink", "ink-soft", "ink-faint")
WASHED = ("part-recall", "part-pin", "part-grounding", "accent", "danger")
PARTS = ("system", "notes", "pin", "summary", "older", "recall", "grounding", "tools", "tool-step", "text-so-far")


@pytest.mark.parametrize("theme", THEMES)
def test_ink_can_be_read_on_every_surface(theme):
    colours = THEMES[theme]
    pairs = [(ink, on) for ink in INKS for on in SURFACES]
    assert [pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5] == []


@pytest.mark.parametrize("theme", THEMES)
def test_text_in_the_colour_of_a_part_can_be_read_on_its_wash(theme):
    colours = THEMES[theme]
    assert [name for name in WASHED if contrast(colours[name], colours[f"{name}-wash"]) < 4.5] == []


@pytest.mark.parametrize("theme", THEMES)
def test_every_part_stands_out_from_the_empty_track(theme):
    colours = THEMES[theme]
    assert [part for part in PARTS if contrast(colours[f"part-{part}"], colours["track"]) < 3] == []


@pytest.mark.parametrize("theme", THEMES)
def test_what_is_lit_is_told_from_the_blind(theme):
    assert contrast(THEMES[theme]["page"], THEMES[theme]["cabin"]) > 1.1

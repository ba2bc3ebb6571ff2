"""The parts of a window are drawn once for a language, each by its name there."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.utils import translation
from django.utils.html import escape

from conversations.templatetags import meter_parts
from conversations.wording.window_labels import PART_LABELS


def drawn(shape: str) -> str:
    return Template(f'{{% load meter_parts %}}{{% draw_meter_parts "{shape}" %}}').render(Context())


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_legend_names_each_part_in_the_readers_language(language):
    with translation.override(language):
        labels = [escape(str(label)) for label in PART_LABELS.values()]
        legend = drawn("legend")
    assert [legend.count(f"{label} <b") for label in labels] == [1] * len(labels)


@pytest.mark.parametrize("shape", ["bar", "ring"])
def test_each_part_has_a_place_in_its_order(shape):
    text = drawn(f"{shape}s")
    places = [text.index(f'data-{shape}="{part}"') for part in PART_LABELS]
    assert places == sorted(places)


def test_they_are_drawn_once(monkeypatch):
    before = drawn("bars")
    monkeypatch.setattr(meter_parts, "render_to_string", None)
    assert drawn("bars") == before

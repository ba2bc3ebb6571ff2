"""What is captured is rendered once, however often it is written."""

from __future__ import annotations

from django.template import engines


def test_what_is_captured_is_rendered_once_and_not_escaped_again():
    asked = []
    source = "{% load capture %}{% capture as kept %}<b>{{ word }}</b>{% endcapture %}{{ kept }}{{ kept }}{{ kept }}"
    text = engines["django"].from_string(source).render({"word": lambda: asked.append(1) or "a & b"})
    assert text == "<b>a &amp; b</b>" * 3
    assert len(asked) == 1

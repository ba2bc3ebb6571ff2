"""What scripts say is rendered once for a language and for the limits that it tells."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from conversations.templatetags.sentences import LIMITS, script_sentences

WITH_FEW = dict.fromkeys(LIMITS, 1)
WITH_MANY = dict(zip(LIMITS, (20, 30, 40), strict=True))


@pytest.mark.parametrize("limits", [WITH_FEW, WITH_MANY])
def test_they_are_those_of_the_language_and_the_limits(limits):
    for language in ("en", "zh-hans", "en"):
        with translation.override(language):
            assert script_sentences(limits) == render_to_string("conversations/_sentences.html", limits)


def test_the_sentences_of_a_language_are_rendered_once(monkeypatch):
    with translation.override("zh-hans"):
        said = script_sentences(WITH_MANY)
        monkeypatch.setattr("conversations.templatetags.sentences.render_to_string", None)
        assert script_sentences(WITH_MANY) is said

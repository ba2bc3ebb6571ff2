"""Sentences of errors, as their reader is told them."""

from __future__ import annotations

from conversations.core.errors import EffortNotAccepted
from conversations.wording.error_sentences import ReaderLocale, error_sentence


def test_a_name_in_it_is_isolated_for_people_alone():
    error = EffortNotAccepted(language_model="שלום!")
    told = error_sentence(error, ReaderLocale("en"))
    assert told == "This effort is not accepted by \u2068שלום!\u2069. Choose another one."
    assert error.params == {"language_model": "שלום!"}
    assert "\u2068" in error_sentence(EffortNotAccepted(language_model="qwen3"), ReaderLocale("he"))
    assert "\u2068" not in error_sentence(EffortNotAccepted(language_model="qwen3"), ReaderLocale("en"))

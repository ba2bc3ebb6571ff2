"""A draft is counted exactly as long as it may be sent, and only about where it is far too long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conversations.services.language_models.model_context import FAR_ABOVE, PART_CHARACTERS, named_model_context
from conversations.services.windows.build_window import draft_message

pytestmark = pytest.mark.django_db


def counting(text):
    """Return the draft's tokens, and how many characters were counted for them."""
    context, counted = named_model_context(""), []

    def count(part):
        counted.append(len(part))
        return context.count_text(part)

    draft = draft_message(text, position=0, context=replace(context, count_text=count))
    return draft.content_tokens, sum(counted), context


def test_what_may_be_sent_is_counted_as_a_whole():
    text = "some words of a draft " * 1_000
    tokens, _, context = counting(text)
    assert tokens == context.count_text(text)


def test_of_megabytes_only_the_beginning_is_counted():
    text = "\N{PARTY POPPER} emoji" * 1_000_000
    tokens, counted, context = counting(text)
    most = FAR_ABOVE * context.language_model.context_window_tokens
    assert tokens > most
    assert counted < len(text) / 10
    assert counted >= PART_CHARACTERS
    assert tokens == pytest.approx(context.count_text(text[:200_000]) * len(text) / 200_000, rel=0.05)

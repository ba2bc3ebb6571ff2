"""The entries of the list: drawn once for all that they are made from, and again where any of it is another."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from django.urls import get_script_prefix, set_script_prefix
from django.utils import translation

from conversations.selectors.conversations.conversation_list import ListedConversation
from conversations.views.conversation_list import draw_entries as module
from conversations.views.conversation_list.draw_entries import ENTRIES_KEPT, draw_entries

ENTRY = ListedConversation(
    uuid.UUID(int=5), "A <title>", dt.datetime(2026, 1, 2, tzinfo=dt.UTC), starred=False, archived=False, folder_id=None
)
CHANGES = {
    "another title": {"title": "Another"},
    "no title": {"title": ""},
    "another id": {"public_id": uuid.UUID(int=6)},
    "another moment": {"last_active_at": ENTRY.last_active_at + dt.timedelta(seconds=1)},
    "a star": {"starred": True},
    "the archive": {"archived": True},
    "a folder": {"folder_id": 7},
}


@pytest.fixture(autouse=True)
def _fresh():
    module._draw.cache_clear()
    prefix = get_script_prefix()
    yield
    set_script_prefix(prefix)


@pytest.fixture
def drawn(monkeypatch):
    """The contexts of what was drawn."""
    contexts, render = [], module.render_to_string
    monkeypatch.setattr(
        module, "render_to_string", lambda name, context: contexts.append(context) or render(name, context)
    )
    return contexts


def draw(entry=ENTRY, *, kind="starred", current=None):
    return draw_entries([entry], kind=kind, current=current)


def test_the_same_entry_is_drawn_once(drawn):
    assert draw() == draw()
    assert len(drawn) == 1
    assert "A &lt;title&gt;" in draw()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_another_is_drawn_again(drawn, change):
    before, after = draw(), draw(ENTRY._replace(**change))
    assert before != after
    assert len(drawn) == 2


def test_so_is_the_one_that_is_looked_at_and_that_of_another_kind_language_and_prefix(drawn):
    texts = {draw(), draw(current=ENTRY.public_id), draw(kind="awaiting"), draw(kind="writing")}
    with translation.override("zh-hans"):
        texts.add(draw())
    set_script_prefix("/below/")
    texts.add(draw())
    assert len(texts) == len(drawn) == 6


def test_under_a_date_nothing_says_where_it_stands():
    assert "data-place" not in draw(ENTRY._replace(starred=True), kind="")
    assert 'data-place="starred"' in draw(ENTRY._replace(starred=True), kind="folder-3")
    assert 'data-place="archived"' in draw(ENTRY._replace(starred=True, archived=True))


def test_only_so_many_are_kept():
    draw_entries([ENTRY._replace(title=str(number)) for number in range(ENTRIES_KEPT + 50)], kind="", current=None)
    assert module._draw.cache_info().currsize == ENTRIES_KEPT

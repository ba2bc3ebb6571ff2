"""Whatever anybody posts to whatever page of the admin, the ledger and the log of readings stay as they are."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.db import connection
from django.urls import NoReverseMatch, reverse

from conversations.models import (
    ActiveUsers,
    Calibration,
    Completion,
    ConversationsOfDay,
    ConversationSum,
    LedgerSum,
    Price,
    Reading,
    ReadingStep,
    RolledUpSum,
    Run,
    RunningSum,
    Spending,
)
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.recompute_spending import recompute_spending
from tests.admin.stored import make_completion, make_conversation
from tests.support.documents import add

SUMS = (LedgerSum, RolledUpSum, RunningSum, ConversationSum, ActiveUsers, ConversationsOfDay, Spending)
LEDGER = (Completion, *SUMS, Reading, ReadingStep)
REGISTERED = sorted(admin.site._registry, key=lambda model: model._meta.label)
NAMES = [model._meta.label for model in REGISTERED]
PEOPLE = ["admin_browser", "reviewer_browser"]
FORGED = {"post": "yes", "_save": "Save", "cost_usd": "0", "reason": "forged", "user": "", "role": "user"}


@pytest.fixture(autouse=True)
def _rows(alice):
    make_completion(alice, at=dt.datetime(2026, 10, 31, 12, tzinfo=dt.UTC))
    close_days(now=dt.datetime(2026, 11, 2, tzinfo=dt.UTC))
    conversation = make_conversation(alice)
    add(alice, conversation)
    Run.objects.create(reply=conversation.head)
    Calibration.objects.create(language_model="letters", limit_tokens=2_000)
    Price.objects.create(language_model="letters", input_usd=1, output_usd=2)
    reading = Reading.objects.create(
        reviewer_email="grace@example.org",
        conversation=conversation,
        conversation_public_id=conversation.public_id,
        owner=alice,
        reason="a complaint",
        ends_at="2026-12-01T00:00Z",
    )
    reading.steps.create(what="thread", detail="1 to 2")
    recompute_spending()


def ledger() -> dict[str, list[str]]:
    """Return every row of the ledger and of the log of readings."""
    rows = {}
    with connection.cursor() as cursor:
        for model in LEDGER:
            cursor.execute(f"SELECT row_to_json(t)::text FROM {model._meta.db_table} t ORDER BY id")
            rows[model.__name__] = [row for (row,) in cursor.fetchall()]
    return rows


def address(model: type, page: str, *arguments: str) -> str | None:
    try:
        return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)
    except NoReverseMatch:
        return None  # a model with one row has no list of them


def posts_to(model: type) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield every address of the model's pages with what is forged for it: a form, an action, a list that is edited."""
    keys = [str(row.pk) for row in model.objects.all()]
    rows = {"form-TOTAL_FORMS": len(keys), "form-INITIAL_FORMS": len(keys)}
    rows |= {f"form-{number}-id": key for number, key in enumerate(keys)}
    action = {"action": "delete_selected", "_selected_action": keys, "index": 0, "select_across": 1}
    places = [("changelist",), ("add",), *((page, key) for page in ("change", "delete") for key in keys)]
    for place in places:
        if url := address(model, *place):
            yield from ((url, FORGED | forged) for forged in ({}, action, rows))


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("model", REGISTERED, ids=NAMES)
def test_no_forged_post_reaches_it(request, person, model):
    browser = request.getfixturevalue(person)
    before = ledger()
    for url, forged in posts_to(model):
        browser.post(url, forged)
    assert ledger() == before


def test_there_is_something_to_keep():
    assert all(ledger().values())


@pytest.mark.parametrize("model", LEDGER)
def test_no_form_holds_a_row_of_it(model):
    inlines = {inline.model for page in admin.site._registry.values() for inline in page.inlines}
    assert model not in inlines

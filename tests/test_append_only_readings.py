"""The database refuses to change the log of readings: whatever asks, a row stays and may only forget whose it was."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from chatsite.postgres.append_only import MAY_CHANGE
from conversations.models import Reading, ReadingStep, ReadWhat, SearchHit
from conversations.selectors.review.content_search import conversations_with
from conversations.services.portability.delete_account import delete_account
from conversations.services.review.readings import log_hits, log_step, open_reading, open_search
from tests.admin.stored import make_conversation
from tests.support.append_only import mended_log
from tests.support.people import make_user

REASON = "A customer asked for help"
LOG = [Reading, ReadingStep, SearchHit]
FORGOTTEN = {Reading: {"reviewer", "owner", "conversation"}, ReadingStep: set(), SearchHit: {"owner", "conversation"}}

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def alice():
    alice, grace = make_user("alice"), make_user("grace", role="reviewer")
    conversation = make_conversation(alice, title="Boats")
    log_step(open_reading(grace, conversation, REASON), ReadWhat.THREAD, "1 – 2")
    log_hits(open_search(grace, "Boats", REASON), conversations_with("Boats"))
    return alice


def refused(change, *arguments, **named):
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        change(*arguments, **named)
    return True


def rows(model):
    return list(model.objects.order_by("pk").values())


@pytest.mark.parametrize("model", LOG)
def test_no_row_can_be_deleted(model):
    before = rows(model)
    assert refused(model.objects.all().delete)
    assert refused(model.objects.all()._raw_delete, "default")
    assert rows(model) == before != []


def columns(*, forgotten):
    fields = [(model, field) for model in LOG for field in model._meta.concrete_fields if not field.primary_key]
    return [(model, field.attname) for model, field in fields if (field.name in FORGOTTEN[model]) == forgotten]


@pytest.mark.parametrize(("model", "column"), columns(forgotten=False))
def test_no_column_can_be_written(model, column):
    assert refused(model.objects.update, **{column: None})


@pytest.mark.parametrize(("model", "column"), columns(forgotten=True))
def test_whose_it_was_is_forgotten_and_never_another_users(model, column):
    row = model.objects.exclude(**{column: None}).first()
    assert refused(model.objects.filter(pk=row.pk).update, **{column: getattr(row, column) + 1})
    assert model.objects.filter(pk=row.pk).update(**{column: None}) == 1


@pytest.mark.parametrize("column", ["began_at", "ends_at"])
def test_no_reading_is_made_longer(column):
    with connection.cursor() as cursor:
        assert refused(cursor.execute, f"UPDATE conversations_reading SET {column} = {column} + interval '1 day'")


def test_what_is_forgotten_does_not_come_back(alice):
    owner = alice.pk
    delete_account(alice)
    assert {row["owner_id"] for model in (Reading, SearchHit) for row in rows(model)} == {None}
    assert refused(Reading.objects.update, owner=make_user("bob"))
    assert owner not in [row["owner_id"] for row in rows(Reading)]


def test_a_user_who_mends_by_hand_says_so_first():
    with mended_log():
        Reading.objects.update(reason="mended")
    assert {row["reason"] for row in rows(Reading)} == {"mended"}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT current_setting('{MAY_CHANGE}', true)")
        assert cursor.fetchone() != ("on",)
    assert refused(Reading.objects.update, reason="mended again")

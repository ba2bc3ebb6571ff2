"""The database refuses to change the ledger: whatever asks, a settled row stays and may only forget whose it was."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction

from conversations.core.money.unit_prices import UnitPrices
from conversations.core.money.usage import Usage
from conversations.migrations._ledger_stays import FORGOTTEN, KEPT
from conversations.models import Completion, KeptText
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.ledger import locked_ledger, open_for
from tests.support.people import begin, make_user, post

PRICES = UnitPrices(Decimal(1), Decimal(2), source="a test")
USED = Outcome(usage=Usage(100, 10), finish_reason="stop")

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _locked(db):
    with locked_ledger():
        yield


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def opened(alice):
    return open_for(prepare_reply(post(begin(alice), "Hello").reply.pk), prices=PRICES)


@pytest.fixture
def settled(opened):
    settle_completion(opened, USED)
    opened.refresh_from_db()
    return opened


def refused(change, *arguments, **named):
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        change(*arguments, **named)
    return True


def all_rows():
    return list(Completion.objects.values())


def test_each_column_is_kept_or_may_be_forgotten():
    columns = {field.column for field in Completion._meta.concrete_fields}
    assert columns == {*KEPT, *FORGOTTEN}
    assert not set(KEPT) & set(FORGOTTEN)


@pytest.mark.parametrize("column", KEPT)
def test_no_figure_of_a_settled_row_can_be_written(settled, column):
    def write():
        with connection.cursor() as cursor:
            cursor.execute(f'UPDATE conversations_completion SET "{column}" = "{column}"')

    assert refused(write)


def test_a_settled_row_can_not_be_saved(settled):
    assert refused(settled.save)


def test_no_row_can_be_deleted(opened):
    assert refused(opened.delete)
    settle_completion(opened, USED)
    assert refused(Completion.objects.all().delete)
    assert len(all_rows()) == 1


@pytest.mark.parametrize("values", [{"request": {"stop": ["x"]}}, {"messages_digest": "0" * 64}])
def test_what_was_sent_can_not_be_rewritten(settled, values):
    assert refused(Completion.objects.update, **values)


def test_a_row_can_not_be_given_to_another_person_or_prompt(settled):
    assert refused(Completion.objects.update, user=make_user("bob"))
    assert refused(Completion.objects.update, conversation=begin(make_user("charlie")))
    assert refused(Completion.objects.update, system_prompt=KeptText.objects.create(digest="0" * 64, text="Hi."))


def test_whose_it_was_and_what_was_sent_may_be_forgotten(settled):
    names = ("user", "conversation", "reply", "scenario", "system_prompt", "tool_schemas")
    nothing = dict.fromkeys(names) | {"request": {}, "messages_digest": ""}
    Completion.objects.update(**nothing)
    settled.refresh_from_db()
    assert {name: getattr(settled, name) for name in nothing} == nothing


def test_a_running_row_is_settled_once(opened):
    assert settle_completion(opened, USED)
    before = all_rows()
    assert not settle_completion(opened, Outcome(usage=Usage(999, 999), finish_reason="length"))
    assert all_rows() == before


def test_a_user_who_mends_by_hand_says_so_first(settled):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL conversations.ledger_may_change = 'on'")
        Completion.objects.update(cost_usd=Decimal(1))
    assert Completion.objects.get().cost_usd == 1

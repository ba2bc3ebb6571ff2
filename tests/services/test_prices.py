"""Which price holds: the admin's, the settings', the list's, none; and which one a completion is paid at."""

import datetime as dt
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from conversations.core.money.unit_prices import PriceTier, UnitPrices
from conversations.core.money.usage import Usage
from conversations.models import Completion, Price
from conversations.models.completion import Purpose
from conversations.services.language_models.prices import all_unit_prices, find_unit_prices
from conversations.services.ledger.ledger import NewCompletion, Outcome, open_completion, settle_completion
from tests.admin.stored import make_conversation, make_person, make_record

pytestmark = pytest.mark.django_db
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
LONG = UnitPrices(Decimal(10), Decimal(20), Decimal(5), Decimal(10))
SHORT = UnitPrices(Decimal(1), Decimal(2), Decimal("0.5"), Decimal(1), "a list", tiers=(PriceTier(50, LONG),))


@pytest.fixture(autouse=True)
def _language_models(settings):
    settings.OPENAI_API_KEY = "x"
    settings.LANGUAGE_MODELS = (
        "gpt-4o-mini, house context_window=4096 input_usd=1 output_usd=2, odd context_window=4096"
    )


def set_price(language_model="gpt-4o-mini", day="2026-11-21", dollars="7", **fields):
    values = {"input_usd": dollars, "output_usd": dollars}
    return Price.objects.create(language_model=language_model, valid_from=day, **values | fields)


def input_price(language_model="gpt-4o-mini", at=NOON):
    prices = find_unit_prices(language_model, at)
    return prices and prices.input_usd


def test_the_list_holds_where_nothing_else_is_said():
    assert input_price() == Decimal("0.15")


def test_the_settings_stand_before_the_list():
    assert find_unit_prices("house", NOON).source == "LANGUAGE_MODELS"


def test_the_admin_stands_before_the_settings():
    set_price("house")
    prices = find_unit_prices("house", NOON)
    assert (prices.input_usd, prices.source) == (7, "set in the admin, valid from 2026-11-21")


def test_what_no_one_knows_is_unknown():
    assert find_unit_prices("odd", NOON) is None
    assert find_unit_prices("not configured", NOON) is None


def test_a_model_that_is_no_longer_configured_keeps_what_was_set_for_it():
    set_price("gone")
    assert input_price("gone") == 7


def test_a_price_holds_from_its_day_on_until_the_next():
    set_price(day="2026-11-20", dollars="5")
    set_price(day="2026-11-22", dollars="6")
    days = [NOON + dt.timedelta(days=days) for days in (-2, -1, 0, 1, 400)]
    assert [input_price(at=day) for day in days] == [Decimal("0.15"), 5, 5, 6, 6]


def test_a_day_begins_at_midnight_in_utc():
    set_price(day="2026-11-21")
    in_tokyo = dt.datetime(2026, 11, 21, 8, 59, tzinfo=dt.timezone(dt.timedelta(hours=9)))
    assert input_price(at=in_tokyo) == Decimal("0.15")
    assert input_price(at=in_tokyo + dt.timedelta(minutes=1)) == 7


def test_a_price_of_0_is_a_price():
    set_price("odd", dollars="0")
    assert input_price("odd") == 0


def test_one_statement_answers_for_one_and_one_for_all():
    set_price()
    with CaptureQueriesContext(connection) as queries:
        find_unit_prices("house", NOON)
    with CaptureQueriesContext(connection) as queries_for_all:
        prices = all_unit_prices(NOON)
    assert (len(queries), len(queries_for_all)) == (1, 1)
    assert [each and each.input_usd for each in prices.values()] == [7, 1, None]


def test_for_all_the_newest_that_holds_is_taken():
    for day in (20, 21, 22):
        set_price("odd", day=f"2026-11-{day}", dollars=str(day))
    assert all_unit_prices(NOON)["odd"].input_usd == 21


@pytest.mark.parametrize("column", ["input_usd", "output_usd", "cached_input_usd", "cache_write_usd"])
@pytest.mark.parametrize("value", ["-0.00000001", "NaN", "1000000.1"])
def test_what_is_no_price_is_not_stored(column, value):
    with pytest.raises((IntegrityError, ValidationError)), transaction.atomic():
        set_price(**{column: Decimal(value)})


@pytest.fixture
def reply():
    return make_conversation(make_person("alice")).head


def opened(reply, prices):
    record = make_record()
    new = NewCompletion(
        purpose=Purpose.REPLY,
        user=reply.conversation.owner,
        language_model=record.language_model,
        body={"messages": []},
        prices=prices,
        prompt_tokens=record.prompt_tokens,
        most_prompt_tokens=300,
        max_output_tokens=record.reply_reserve_tokens,
        record=record,
        conversation=reply.conversation,
        reply=reply,
    )
    return open_completion(new)


def settled(completion, *usage, **more):
    settle_completion(completion, Outcome(usage=Usage(*usage, **more), finish_reason="stop"))
    return Completion.objects.get(pk=completion.pk)


def test_a_row_is_opened_at_the_price_of_our_own_count(reply):
    completion = opened(reply, SHORT)
    assert completion.estimated_input_tokens > 50
    assert (completion.input_price_usd, completion.price_source) == (10, "a list, above 50 input tokens")


def test_the_providers_count_decides_which_price_is_paid(reply):
    row = settled(opened(reply, SHORT), 50, 10)
    assert (row.input_price_usd, row.output_price_usd, row.price_source) == (1, 2, "a list, up to 50 input tokens")
    assert row.cost_usd == Decimal("0.00007")


def test_the_price_list_of_the_moment_at_which_the_request_left_is_kept(reply):
    completion = opened(reply, SHORT)
    set_price(completion.language_model)
    row = settled(Completion.objects.get(pk=completion.pk), 51, 10)
    assert (row.input_price_usd, row.cost_usd) == (10, Decimal("0.00071"))


def test_one_price_for_all_needs_no_list(reply):
    row = settled(opened(reply, LONG), 1_000, 10)
    assert row.price_list is None
    assert (row.input_price_usd, row.cached_input_price_usd, row.cache_write_price_usd) == (10, 5, 10)


def test_tokens_written_to_the_cache_are_in_the_ledger(reply):
    row = settled(opened(reply, LONG), 100, 0, 30, cache_write_tokens=20)
    assert (row.cached_input_tokens, row.cache_write_tokens) == (30, 20)
    assert row.cost_usd == Decimal("0.00085")


def test_an_unknown_price_is_null_and_so_is_the_cost(reply):
    row = settled(opened(reply, None), 100, 10)
    assert (row.input_price_usd, row.output_price_usd, row.price_source, row.cost_usd) == (None, None, "", None)


def test_half_a_price_is_kept_and_the_cost_unknown(reply):
    row = settled(opened(reply, UnitPrices(Decimal(1), None, source="a list")), 100, 10)
    assert (row.input_price_usd, row.output_price_usd, row.cost_usd) == (1, None, None)

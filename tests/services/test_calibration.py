from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from conversations.core.money.usage import Usage
from conversations.core.window.calibration import FEWEST_PAIRS
from conversations.models import Calibration, Completion, KeptText
from conversations.providers.catalog.language_models import default_language_model
from conversations.services.language_models import calibration as service
from conversations.services.language_models.calibration import find_calibration, forget_limit, known, learn, learn_limit
from conversations.services.language_models.model_context import model_context
from conversations.services.ledger.ledger import Outcome, settle_completion
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db
NAME = "qwen"


@pytest.fixture(autouse=True)
def _language_model(settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", f"{NAME} context_window=8192 reply_reserve=1000"


def open_row(**fields):
    values = {"language_model": NAME, "estimated_input_tokens": 2_000}
    return Completion.objects.create(**values | fields)


def report(count=FEWEST_PAIRS, *, ratio="1.2", **fields):
    """Store *count* settled rows whose usage the provider reported."""
    for _ in range(count):
        row = open_row(**fields)
        row.input_tokens = int(row.estimated_input_tokens * Decimal(ratio))
        row.output_tokens, row.usage_estimated = 1, False
        row.save()


def ratio_of(name=NAME):
    known.read_again()
    return find_calibration(name).ratio


def test_reported_usage_is_learned_from_as_a_completion_is_settled():
    report(FEWEST_PAIRS - 1)
    settle_completion(open_row(), Outcome(usage=Usage(2_400, 1)))
    stored = Calibration.objects.get()
    assert (stored.language_model, stored.ratio, stored.pairs) == (NAME, Decimal("1.2"), FEWEST_PAIRS)


def test_the_budget_is_divided_by_what_was_learned():
    scenario = begin(make_user("alice")).scenario
    assert model_context(scenario).calibration == 1
    report()
    learn(NAME)
    assert model_context(scenario).calibration == Decimal("1.2")


def test_too_few_reports_teach_nothing_and_take_nothing_back():
    report(FEWEST_PAIRS - 1)
    learn(NAME)
    assert ratio_of() == 1
    Calibration.objects.update(ratio="1.5")
    known.forget()
    learn(NAME)
    stored = Calibration.objects.get()
    assert (stored.ratio, stored.pairs) == (Decimal("1.5"), FEWEST_PAIRS - 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"estimated_input_tokens": 900},
        {"tool_schemas_id": "a digest"},
        {"language_model": "another"},
    ],
)
def test_short_prompts_tools_and_other_models_teach_nothing(fields):
    KeptText.objects.create(digest="a digest", text="[{}]")
    report(ratio="1.9", **fields)
    learn(NAME)
    assert ratio_of() == 1


def test_our_own_estimates_teach_nothing():
    report()
    Completion.objects.update(usage_estimated=True)
    learn(NAME)
    assert ratio_of() == 1


def test_the_newest_reports_count(monkeypatch):
    monkeypatch.setattr(service, "LOOKED_AT", FEWEST_PAIRS)
    report(ratio="1.9")
    report(ratio="1.1")
    learn(NAME)
    assert ratio_of() == Decimal("1.1")


def test_within_a_moment_nothing_is_compared_again(django_assert_num_queries):
    report()
    learn(NAME)
    with django_assert_num_queries(0):
        learn(NAME)


def test_after_a_moment_it_is_compared_again(monkeypatch):
    monkeypatch.setattr(service, "LEARN_SECONDS", 0)
    for ratio in ("1.2", "1.3"):
        report(ratio=ratio)
        learn(NAME)
        assert ratio_of() == Decimal(ratio)


def test_what_no_one_reported_is_not_compared(django_assert_num_queries):
    row = open_row()
    with django_assert_num_queries(1):
        settle_completion(row, Outcome(not_billed=True))


def test_settling_takes_no_query_more_than_once_in_a_moment(django_assert_num_queries):
    learn(NAME)
    row = open_row()
    with django_assert_num_queries(1):
        settle_completion(row, Outcome(usage=Usage(2_400, 1)))


def test_what_is_known_is_read_once_in_a_moment(django_assert_num_queries):
    with django_assert_num_queries(1):
        for _ in range(3):
            find_calibration(NAME)


def test_comparing_reads_only_the_index_of_reported_completions():
    report(1)
    others = {"language_model": "another", "estimated_input_tokens": 2_000}
    Completion.objects.bulk_create(Completion(**others) for _ in range(1_000))  # of a few, any index will do
    with CaptureQueriesContext(connection) as queries:
        learn(NAME)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        [pairs] = [query["sql"] for query in queries if "estimated_input_tokens" in query["sql"]]
        cursor.execute(f"EXPLAIN {pairs}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "completion_reported" in plan
    assert "Sort" not in plan


def test_a_database_that_fails_is_no_concern_of_the_reply(monkeypatch, caplog):
    def fail(language_model):
        raise DatabaseError("gone")

    monkeypatch.setattr(service, "reported_prompts", fail)
    assert settle_completion(open_row(), Outcome(usage=Usage(2_400, 1)))
    assert f"nothing could be learned from the usage of {NAME}" in caplog.text


def test_a_smaller_limit_is_kept_beside_the_ratio(caplog):
    report()
    learn(NAME)
    learn_limit(default_language_model(), 4_096)
    learn_limit(default_language_model(), 2_048)
    stored = Calibration.objects.get()
    assert (stored.ratio, stored.limit_tokens) == (Decimal("1.2"), 2_048)
    assert "2048 tokens; 8192 are configured" in caplog.text


def test_learning_the_ratio_keeps_the_limit():
    learn_limit(default_language_model(), 4_096)
    report()
    learn(NAME)
    assert Calibration.objects.get().limit_tokens == 4_096


@pytest.mark.parametrize("stated", [None, 5, 8_192, 10**9])
def test_a_limit_that_is_none_leaves_no_trace(stated, caplog):
    learn_limit(default_language_model(), stated)
    assert not Calibration.objects.exists()
    assert not caplog.text


def test_a_limit_below_the_reply_reserve_leaves_room_for_a_prompt():
    learn_limit(default_language_model(), 1_024)
    language_model = model_context(begin(make_user("alice")).scenario).language_model
    assert (language_model.context_window_tokens, language_model.reply_reserve_tokens) == (1_024, 256)


def test_a_forgotten_limit_no_longer_holds():
    learn_limit(default_language_model(), 4_096)
    stored = Calibration.objects.get()
    assert forget_limit(stored)
    assert not forget_limit(stored)
    assert find_calibration(NAME).limit_tokens is None


def test_a_context_window_that_is_configured_smaller_later_holds(settings):
    learn_limit(default_language_model(), 4_096)
    settings.LANGUAGE_MODELS = f"{NAME} context_window=2048"
    assert model_context(begin(make_user("alice")).scenario).language_model.context_window_tokens == 2_048


@pytest.mark.django_db(transaction=True)
def test_many_that_learn_at_once_make_one_row():
    def refused(stated_tokens):
        learn_limit(default_language_model(), stated_tokens)
        connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(refused, range(2_000, 2_032)))
    assert Calibration.objects.get().limit_tokens in range(2_000, 2_032)

"""`manage.py reconcile`: what it prints of a file beside the ledger, and how it ends."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from conversations.core.money.unit_prices import UnitPrices
from conversations.core.money.usage import Usage
from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.providers.demo import DEMO_LANGUAGE_MODELS
from conversations.reconciliation.comparison import plain_name
from conversations.services.ledger.ledger import NewCompletion, Outcome, open_completion, settle_completion

HEADER = "day,model,requests,input_tokens,cached_input_tokens,output_tokens,cost_usd\n"
DEMO = DEMO_LANGUAGE_MODELS[0].name
PRICES = UnitPrices(Decimal(1), Decimal(10), cached_input_usd=Decimal("0.5"), source="a test")

pytestmark = pytest.mark.django_db


def today():
    return dt.datetime.now(dt.UTC).date()


@pytest.fixture
def letters():
    return open_request()


def open_request(language_model="letters", prices=PRICES, purpose=Purpose.TITLE, step=1):
    return open_completion(
        NewCompletion(
            purpose=purpose,
            user=None,
            language_model=language_model,
            body={"messages": []},
            prices=prices,
            prompt_tokens=1_100_000,
            most_prompt_tokens=1_100_000,
            max_output_tokens=10,
            step=step,
        )
    )


def used(completion, **outcome):
    usage = Usage(1_000_000, 200_000, cached_input_tokens=400_000)
    settle_completion(completion, Outcome(**{"usage": usage, "finish_reason": "stop", **outcome}))


def day_of(completion):
    return Completion.objects.get(pk=completion.pk).created_at.astimezone(dt.UTC).date()


@pytest.fixture
def file(tmp_path):
    def write(*rows, header=HEADER):
        path = tmp_path / "usage.csv"
        path.write_text(header + "".join(f"{row}\n" for row in rows))
        return path

    return write


def row(day, model="letters", tokens=1_000_000, cost="2.8"):
    return f"{day},{model},1,{tokens},400000,200000,{cost}"


def run(path, *options):
    """Return what is printed and how it ended: 0, or the exit code and the sentence."""
    printed = io.StringIO()
    try:
        call_command("reconcile", str(path), *options, stdout=printed)
    except CommandError as error:
        return printed.getvalue(), (error.returncode, str(error))
    return printed.getvalue(), 0


def test_two_that_agree_end_well(letters, file):
    used(letters)
    printed, end = run(file(row(day_of(letters))))
    assert end == 0
    assert "agree in 1 day and model." in printed


def test_requests_without_a_report_of_what_was_cached_are_counted(letters, file):
    used(letters, usage=Usage(1_000_000, 200_000))
    usage = row(day_of(letters), cost="3").replace("400000", "0")
    printed, end = run(file(usage))
    assert end == 0, printed
    assert "Requests that ended without a report of what was cached: none of that is in our cached tokens: 1" in printed


def test_each_step_of_a_reply_that_calls_tools_is_a_request_that_the_provider_bills(file):
    steps = [open_request(purpose=Purpose.REPLY, step=step) for step in (1, 2, 3)]
    for step in steps:
        used(step, called_tools=step is not steps[-1])
    days = [day_of(step) for step in steps]
    lines = [f"{day},letters,{n},{n}000000,{n * 400_000},{n * 200_000},{n * Decimal('2.8')}" for day, n in count(days)]
    printed, end = run(file(*lines))
    assert end == 0, printed


def count(days):
    """Return how often each of them is there: a test may go on over midnight."""
    return [(day, days.count(day)) for day in sorted(set(days))]


def test_models_that_the_file_leaves_out_are_named(letters, file):
    used(letters)
    used(embedded := open_request("vectors", purpose=Purpose.EMBEDDING))
    usage, until = file(row(day_of(letters))), ("--to", f"{day_of(embedded)}")  # which may be past midnight
    printed, _ = run(usage, *until)
    assert "does not have in these days: vectors (providers export embeddings by themselves" in printed
    printed, end = run(usage, *until, "--without", "vectors")
    assert end == 0, printed
    assert "does not have" not in printed


def test_days_by_another_clock_are_told_from_usage_that_is_missing(letters, file):
    used(letters)
    day = day_of(letters)
    printed, (code, _) = run(file(row(day - dt.timedelta(days=1))), "--to", f"{day}")
    assert code == 1
    assert "may begin by another clock than UTC" in printed
    printed, _ = run(file(row(day, tokens=1_500_000)))
    assert "another clock" not in printed


def test_a_difference_is_printed_with_its_day_and_model(letters, file):
    used(letters)
    day = day_of(letters)
    printed, end = run(file(row(day, tokens=1_010_000)))
    assert end == (1, "The ledger and the file differ in 1 day and model.")
    assert f"{day}  letters  input tokens  1,000,000  1,010,000  +10,000 (+1.00%)" in printed


def test_a_tolerance_lets_it_pass(letters, file):
    used(letters)
    assert run(file(row(day_of(letters), tokens=1_010_000)), "--tolerance", "1%")[1] == 0


def test_a_snapshot_is_its_model(letters, file):
    used(letters)
    assert run(file(row(day_of(letters), model="vendor/Letters-2026-01-31")))[1] == 0


def test_a_name_can_be_taken_for_another(letters, file):
    used(letters)
    path = file(row(day_of(letters), model="deployment-7"))
    printed, end = run(path)
    assert end[0] == 1
    assert "Models that the ledger does not have in these days: deployment-7" in printed
    assert run(path, "--as", "Deployment 7=letters")[1] == 0


def test_a_model_of_another_provider_can_be_left_out(letters, file):
    used(letters)
    used(other := open_request("words"))
    path = file(row(day_of(other)))
    assert run(path)[1] == (1, "The ledger and the file differ in 1 of 2 days and models.")
    assert run(path, "--without", "words")[1] == 0


def test_the_demo_model_which_no_one_bills_is_left_out(letters, file):
    used(letters)
    used(open_request(DEMO))
    assert run(file(row(day_of(letters))))[1] == 0


def test_what_the_file_has_of_a_model_that_is_left_out_is_said(letters, file):
    used(letters)
    used(demo := open_request(DEMO))
    printed, end = run(file(row(day_of(letters)), row(day_of(demo), model=DEMO)))
    assert end == 0, printed
    assert f"Models of the file that are left out, with all their rows: {plain_name(DEMO)} (" in printed
    assert f"\n{DEMO} " not in printed  # nor among the estimates
    assert "left out" not in run(file(row(day_of(letters))))[0]


def test_a_file_of_nothing_but_what_is_left_out_says_so(file):
    used(demo := open_request(DEMO))
    code, said = run(file(row(day_of(demo), model=DEMO)))[1]
    assert code == 2
    assert f"nothing to compare but what is left out: {plain_name(DEMO)} (see --without)." in said


def test_days_outside_of_those_asked_for_are_not_compared(letters, file):
    used(letters)
    day = day_of(letters)
    path = file(row(day), row(day - dt.timedelta(days=40)))
    assert run(path)[1][0] == 1
    assert run(path, "--from", str(day), "--to", str(day))[1] == 0


def test_a_request_that_was_refused_or_still_runs_is_no_difference(letters, file):
    used(letters)
    used(open_request(), usage=None, not_billed=True, error_code="rate_limited")
    open_request()
    printed, end = run(file(row(day_of(letters))))
    assert end == 0
    assert "Requests that still run, and are not in our figures: 1" in printed
    assert (
        "Requests that were refused by the provider, which bills nothing for them: they are not counted: 1" in printed
    )


def test_an_unknown_price_is_said(file):
    used(completion := open_request(prices=None))
    printed, end = run(file(row(day_of(completion))))
    assert end[0] == 1
    assert "Requests that have no known price: what they cost is missing in our US dollars: 1" in printed


def test_our_own_counts_are_said(letters, file):
    used(letters, usage=None, text="a")
    assert "their tokens are our own count: 1" in run(file(row(day_of(letters))))[0]


def test_estimates_stand_beside_what_was_reported(letters, file):
    used(letters)
    printed, _ = run(file(row(day_of(letters))))
    assert "letters            1  1,100,000  1,000,000      -9.09%             9.09%  -9.09%" in printed


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "The file is empty."),
        ("day,model,cost_usd\n03/04/2026,letters,1\n", "Line 2: “03/04/2026” may be read in two ways"),
        ("day,model,cost_usd\n2026-03-04,letters,NaN\n", "Line 2: “NaN” is not a number of US dollars"),
    ],
)
def test_a_file_that_cant_be_compared_is_no_difference(file, content, sentence):
    code, said = run(file(header=content))[1]
    assert code == 2
    assert sentence in said


def test_a_file_that_is_not_there_is_said(tmp_path):
    path = tmp_path / "none.csv"
    assert run(path)[1] == (2, f"{path} can't be read: No such file or directory.")


def test_days_that_end_before_they_begin_are_refused(file):
    code, said = run(file(row(today())), "--from", "2026-02-01", "--to", "2026-01-01")[1]
    assert (code, "before they begin" in said) == (2, True)


@pytest.mark.parametrize(
    "options",
    [
        *(("--from", "01/02/2026"), ("--to", "9999-12-31"), ("--tolerance", "-1"), ("--tolerance", "NaN")),
        ("--as", "letters"),
    ],
)
def test_options_without_a_meaning_are_refused(file, options):
    with pytest.raises(CommandError, match="argument --"):
        call_command("reconcile", str(file(row(today()))), *options)

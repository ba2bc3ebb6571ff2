"""Two sides compared: what agrees, what does not, and what only one side has."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from conversations.reconciliation.comparison import DayAndModel, Measure, compare, plain_name

DAY = dt.date(2026, 11, 1)


def at(model="letters", day=DAY):
    return DayAndModel(day, model)


NEXT = at(day=DAY + dt.timedelta(days=1))


def tokens(count):
    return {Measure.INPUT: Decimal(count)}


def usd(amount):
    return {Measure.COST: Decimal(amount)}


def compared(ours, theirs, measures=(Measure.INPUT,), tolerance="0"):
    return compare(ours, theirs, measures=measures, tolerance=Decimal(tolerance))


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o-mini",
        "GPT-4o mini",
        " gpt-4o-mini ",
        "openai/gpt-4o-mini",
        "gpt-4o-mini-2024-07-18",
        "openai/gpt-4o-mini-2024-07-18",
        "gpt-4o-mini-20240718",
        "gpt-4o-mini@20240718",
        "gpt-4o-mini-latest",
    ],
)
def test_spellings_of_one_model_have_one_name(name):
    assert plain_name(name) == "gpt-4o-mini"


@pytest.mark.parametrize("name", ["gpt-4o", "gpt-4o-mini-audio", "gpt-4o-mini-0718", "gpt-4o-mini-32k"])
def test_other_models_keep_theirs(name):
    assert plain_name(name) != "gpt-4o-mini"


def test_a_name_with_points_is_one_with_hyphens():
    assert plain_name("Claude Opus 4.6") == plain_name("anthropic/claude-opus-4-6-20260105")


def test_an_exception_stands_before_the_rule():
    assert plain_name("my-deployment", {"my-deployment": "gpt-4o"}) == "gpt-4o"


def test_equal_sides_agree():
    assert compared({at(): tokens(5)}, {at(): tokens(5)}).agrees


def test_one_token_more_is_a_difference():
    (difference,) = compared({at(): tokens(100)}, {at(): tokens(101)}).differing
    assert (difference.difference, difference.share) == (1, Decimal("0.01"))


@pytest.mark.parametrize(("theirs", "agrees"), [(101, True), (99, True), (102, False)])
def test_what_is_within_the_tolerance_agrees(theirs, agrees):
    assert compared({at(): tokens(100)}, {at(): tokens(theirs)}, tolerance="0.01").agrees is agrees


@pytest.mark.parametrize(("theirs", "agrees"), [("1.004", True), ("1.005", False), ("0.996", True)])
def test_less_than_half_a_cent_is_rounding(theirs, agrees):
    assert compared({at(): usd(1)}, {at(): usd(theirs)}, measures=[Measure.COST]).agrees is agrees


def test_days_that_only_one_side_has_are_named():
    monday, tuesday = at(day=DAY), at(day=DAY + dt.timedelta(days=1))
    comparison = compared({monday: tokens(5)}, {tuesday: tokens(5)})
    assert (comparison.only_ours, comparison.only_theirs) == ((monday,), (tuesday,))
    assert [each.difference for each in comparison.differing] == [-5, 5]


def test_a_day_without_usage_is_none_that_is_missing():
    assert compared({}, {at(): tokens(0)}).places == 0


def test_only_what_the_file_tells_of_is_compared():
    assert compared({at(): tokens(5) | usd(1)}, {at(): tokens(5)}).agrees


def test_the_totals_are_of_everything():
    ours = {at("a"): tokens(5), at("b"): tokens(7)}
    assert compared(ours, {at("a"): tokens(5)}).totals == {Measure.INPUT: (12, 5)}


def on_days(*counts, model="letters"):
    return {at(model, DAY + dt.timedelta(days=number)): tokens(count) for number, count in enumerate(counts)}


def test_days_by_another_clock_even_out():
    assert compared(on_days(100, 300, 200), on_days(150, 270, 178)).is_shifted


@pytest.mark.parametrize(
    "theirs",
    [on_days(100, 300, 200), on_days(110, 330, 220), on_days(100, 300, 260), on_days(50, 350, 200, model="words")],
    ids=["equal", "always more", "one day more", "of another model"],
)
def test_what_differs_otherwise_does_not(theirs):
    assert not compared(on_days(100, 300, 200), theirs).is_shifted


def test_each_measure_has_to_even_out():
    ours, theirs = ({at(): tokens(5) | usd(cost), NEXT: tokens(5) | usd(cost)} for cost in (1, 2))
    shifted = {at(): tokens(4) | usd(2), NEXT: tokens(6) | usd(2)}
    both = (Measure.INPUT, Measure.COST)
    assert not compared(ours, shifted, measures=both).is_shifted
    assert compared(theirs, shifted, measures=both).is_shifted

"""Our estimates beside what was reported: of a period, and of the newest completions."""

from __future__ import annotations

import datetime as dt

import pytest

from conversations.models import Calibration
from conversations.selectors.figures import estimate_errors
from conversations.selectors.figures.estimate_errors import newest_estimate_errors
from tests.admin.stored import make_completion

NOON = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)

pytestmark = pytest.mark.django_db


def report(estimated, reported, *, language_model="letters", estimated_by_us=False, at=NOON):
    return make_completion(
        None,
        language_model=language_model,
        estimated_input_tokens=estimated,
        input_tokens=reported,
        cached_input_tokens=0,
        usage_estimated=estimated_by_us,
        at=at,
    )


def errors_of_the_day():
    return estimate_errors.estimate_errors(begin=NOON - DAY / 2, end=NOON + DAY / 2)


def test_errors_are_parts_of_the_estimate():
    report(100, 90)
    report(100, 150)
    (errors,) = errors_of_the_day()
    assert (errors.completions, errors.estimated_tokens, errors.reported_tokens) == (2, 200, 240)
    assert (errors.mean, errors.worst, errors.quantile_95) == pytest.approx((0.2, 0.5, 0.48))


def test_the_worst_keeps_its_sign():
    report(100, 40)
    report(100, 150)
    assert errors_of_the_day()[0].worst == pytest.approx(-0.6)


def test_our_own_counts_and_other_days_are_none():
    report(100, 100, estimated_by_us=True)
    report(100, 100, at=NOON + DAY)
    report(0, 5)
    assert errors_of_the_day() == []


def test_each_language_model_has_its_own():
    report(100, 110)
    report(100, 120, language_model="words")
    assert [(each.language_model, round(each.mean, 2)) for each in errors_of_the_day()] == [
        ("letters", 0.1),
        ("words", 0.2),
    ]


def test_the_newest_of_each_that_is_compared_are_looked_at(monkeypatch):
    monkeypatch.setattr(estimate_errors, "LOOKED_AT", 2)
    Calibration.objects.create(language_model="letters")
    for reported in (900, 110, 120):
        report(100, reported)
    report(100, 900, language_model="nobody compares")
    (errors,) = newest_estimate_errors()
    assert (errors.language_model, errors.completions, errors.reported_tokens) == ("letters", 2, 230)

"""What most of an expensive reply was spent on."""

from __future__ import annotations

from decimal import Decimal

import pytest

from conversations.core.money.cost_drivers import CostDriver, LastRequest, is_expensive, main_cost_driver

PARTS = {"system": 100, "pins": 0, "older": 4012, "grounding": 300, "newest": 68}


def request_of(cost_usd="0.012", *, parts=PARTS, output_tokens=100, output_price_usd="10"):
    return LastRequest(Decimal(cost_usd), parts, output_tokens, output_price_usd and Decimal(output_price_usd))


def why(last, *, cost_usd="0.012", requests=1):
    return main_cost_driver(Decimal(cost_usd), requests, last)


@pytest.mark.parametrize(("cost_usd", "expected"), [(None, False), ("0", False), ("0.0099", False), ("0.01", True)])
def test_a_reply_is_expensive_from_a_cent_on_and_never_at_an_unknown_cost(cost_usd, expected):
    assert is_expensive(cost_usd and Decimal(cost_usd)) is expected


def test_the_largest_part_of_the_prompt_is_why():
    assert why(request_of()) == CostDriver("older", 4012, 4480)


def test_a_long_output_is_why_if_it_is_half_of_the_cost():
    assert why(request_of(output_tokens=600)) == CostDriver("output", 600, 600)


def test_several_requests_are_why_if_the_last_is_less_than_half_of_the_cost():
    assert why(request_of("0.004"), cost_usd="0.012", requests=3) == CostDriver("requests", 3, 3)


def test_a_cheap_attempt_before_an_expensive_one_is_not_why():
    assert why(request_of("0.011"), cost_usd="0.012", requests=2).part == "older"


def test_without_a_window_only_the_output_can_be_told():
    assert why(request_of(parts={})) == CostDriver("output", 100, 100)


def test_what_is_written_at_an_unknown_price_is_not_why():
    assert why(request_of(output_price_usd=None)).part == "older"

"""Costs as providers report them; the shapes were looked at on 2026-11-23, see `reported_cost`."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.providers.openai_api.reported_cost import parse_reported_cost_usd
from conversations.providers.openai_api.reported_usage import parse_usage

TOKENS = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
REPORTED = {
    "OpenRouter": ({"cost": 0.00014, "is_byok": False, "cost_details": {"upstream_inference_cost": None}}, "0.00014"),
    "OpenRouter, which names what it pays itself": (
        {"cost": 0.5, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.5}},
        "0.5",
    ),
    "OpenRouter with a key of one's own": (
        {"cost": 0.95, "is_byok": True, "cost_details": {"upstream_inference_cost": 19}},
        "19.95",
    ),
    "LiteLLM": ({"cost": 0.0002484}, "0.0002484"),
    "xAI": ({"cost_in_usd_ticks": 94_000}, "0.0000094"),
    "xAI through LiteLLM": ({"cost_in_usd_ticks": 2_709_000, "cost": 0.0002709}, "0.0002709"),
    "free of charge": ({"cost": 0}, "0"),
    "an amount that is written with an exponent": ({"cost": 1e-07}, "0.0000001"),
}
NOT_REPORTED = {
    "nothing": {},
    "null": {"cost": None},
    "a key of one's own, and what the other provider is paid is not named": {"cost": 0.95, "is_byok": True},
}
NO_AMOUNTS = [-1, -0.5, True, "0.5", "free", [], {}, 1e30, 10**400, float("nan"), float("inf")]


@pytest.mark.parametrize(("reported", "cost_usd"), REPORTED.values(), ids=REPORTED)
def test_a_cost_is_read_as_each_provider_reports_it(reported, cost_usd):
    assert parse_reported_cost_usd(reported) == Decimal(cost_usd)
    assert parse_usage(TOKENS | reported).reported_cost_usd == Decimal(cost_usd)


@pytest.mark.parametrize("reported", NOT_REPORTED.values(), ids=NOT_REPORTED)
def test_where_no_cost_is_named_there_is_none(reported):
    assert parse_reported_cost_usd(reported) is None


@pytest.mark.parametrize("value", NO_AMOUNTS, ids=repr)
@pytest.mark.parametrize("name", ["cost", "cost_in_usd_ticks"])
def test_what_is_no_amount_is_no_cost_and_leaves_the_tokens(name, value):
    read = parse_usage(TOKENS | {name: value})
    assert (read.input_tokens, read.output_tokens, read.reported_cost_usd) == (5, 2, None)


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.lists(st.integers())


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "cost": ANYTHING,
            "cost_in_usd_ticks": ANYTHING,
            "is_byok": ANYTHING,
            "cost_details": ANYTHING | st.dictionaries(st.just("upstream_inference_cost"), ANYTHING),
        },
    )
)
def test_whatever_is_reported_the_ledger_can_store_it(reported):
    cost_usd = parse_reported_cost_usd(reported)
    assert cost_usd is None or (0 <= cost_usd < 10**9 and cost_usd.as_tuple().exponent == -10)

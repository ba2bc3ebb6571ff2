"""The charts of the first page."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from conversations.admin.dashboard.charts import context_cost_chart, cost_chart, reply_chart, token_chart
from conversations.selectors.figures.figures import DayTotals
from conversations.selectors.figures.totals import Totals
from tests.admin.stored import make_completion

COSTS = st.decimals(0, 10_000, places=10)
TOKENS = st.integers(0, 10**12)


def bars(drawn: dict[str, str]) -> list[list[float]]:
    return [series["data"] for series in json.loads(drawn["data"])["datasets"]]


def test_there_is_one_bar_for_each_of_30_days(overview, alice):
    make_completion(alice, cost_usd="0.25")
    drawn = overview().charts[0].drawn
    assert len(json.loads(drawn["data"])["labels"]) == 30
    assert bars(drawn) == [[0.0] * 29 + [0.25]]


@given(st.lists(st.builds(Totals, cost_usd=COSTS, cost_with_history_usd=COSTS, cost_without_history_usd=COSTS)))
def test_money_is_drawn_to_its_last_digit(totals):
    days = [DayTotals(each, dt.date(2026, 11, 21)) for each in totals]
    drawn = [
        [Decimal(str(bar)) for bar in series] for series in bars(cost_chart(days)) + bars(context_cost_chart(days))
    ]
    assert drawn == [
        [getattr(each, name) for each in totals]
        for name in ("cost_usd", "cost_with_history_usd", "cost_without_history_usd")
    ]


@given(st.lists(st.builds(Totals, input_tokens=TOKENS, output_tokens=TOKENS)))
def test_bars_of_tokens_add_up_to_the_tokens_of_their_day(totals):
    days = [DayTotals(each, dt.date(2026, 11, 21)) for each in totals]
    assert [sum(parts) for parts in zip(*bars(token_chart(days)), strict=True)] == [each.tokens for each in totals]


def test_lines_go_straight_from_figure_to_figure():
    days = [DayTotals(Totals(replies=each), dt.date(2026, 11, 21)) for each in (0, 1, 0)]
    drawn = [json.loads(chart(days)["data"])["datasets"] for chart in (context_cost_chart, reply_chart)]
    assert not [series for sets in drawn for series in sets if series.get("tension")]


def test_a_single_day_has_no_charts_but_an_open_table(page, alice):
    make_completion(alice)
    text = page("?period=today")
    assert "<canvas" not in text
    assert '<details class="fold fold-bare" open>' in text


def test_bars_of_tokens_do_not_count_the_cache_twice(overview, alice):
    make_completion(alice, input_tokens=100, cached_input_tokens=40, output_tokens=7)
    days = list(overview("?period=today").figures.by_day)
    assert bars(token_chart(days)) == [[60], [40], [7]]


def test_the_cost_of_context_is_drawn_as_two_lines(overview, alice):
    make_completion(alice, cost_usd="8", cost_without_history_usd="2")
    assert bars(context_cost_chart(list(overview("?period=today").figures.by_day))) == [[8.0], [2.0]]


def test_active_users_have_a_scale_of_their_own(overview, alice):
    make_completion(alice)
    drawn = reply_chart(list(overview("?period=today").figures.by_day))
    assert bars(drawn) == [[1], [1]]
    assert json.loads(drawn["options"])["scales"]["right"]["position"] == "right"

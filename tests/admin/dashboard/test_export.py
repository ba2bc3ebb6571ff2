"""The files of the first page."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest
from asgiref.sync import async_to_sync
from django.db.models import Sum
from django.http import StreamingHttpResponse
from django.urls import reverse

from conversations.admin.dashboard.export import KEYS, SUMS
from conversations.models import Completion
from conversations.selectors.figures.totals import Totals
from tests.admin.conftest import signed_in
from tests.admin.stored import make_completion, make_person


def address(by: str) -> str:
    return reverse("admin:conversations_completion_figures", args=[by])


@async_to_sync
async def text_of(response: StreamingHttpResponse) -> str:
    return b"".join([piece async for piece in response.streaming_content]).decode("utf-8-sig")


@pytest.fixture
def rows(admin_browser):
    """Return what reads a file: its rows, each by the head of its columns."""

    def read(by: str, query: str = "") -> list[dict[str, str]]:
        response = admin_browser.get(address(by) + query)
        assert response["Content-Disposition"].startswith("attachment")
        return list(csv.DictReader(io.StringIO(text_of(response))))

    return read


def test_every_sum_is_a_column():
    assert set(SUMS) == set(Totals.__dataclass_fields__)


@pytest.mark.parametrize("by", KEYS)
def test_a_file_has_all_rows_and_adds_up_to_the_ledger(rows, by):
    for number in range(25):
        make_completion(make_person(f"person{number}"), cost_usd=Decimal(number) / 7, language_model=f"model {number}")
    written = rows(by)
    ledger = Completion.objects.aggregate(cost=Sum("cost_usd"))["cost"]
    assert sum(Decimal(row["cost (USD)"]) for row in written) == ledger
    assert len(written) == {"day": 30, "user": 25, "language_model": 25}.get(by, 1)


@pytest.mark.parametrize(
    ("by", "counted"),
    [
        ("user", {("3", "1", "0.0600000000")}),
        ("language_model", {("2", "1", "0.0300000000"), ("1", "0", "0.0300000000")}),
        ("purpose", {("2", "1", "0.0300000000"), ("1", "0", "0.0300000000")}),
    ],
)
def test_a_reply_of_several_steps_is_one_reply_and_has_the_cost_of_all_its_requests(rows, alice, by, counted):
    make_completion(alice, step=1, purpose="tool_step", cost_usd=Decimal("0.01"), language_model="first")
    make_completion(alice, step=2, purpose="tool_step", cost_usd=Decimal("0.02"), language_model="first")
    make_completion(alice, step=3, purpose="reply", cost_usd=Decimal("0.03"), language_model="second")
    written = rows(by)
    assert {(row["requests"], row["replies"], row["cost (USD)"]) for row in written} == counted


def test_a_file_is_of_the_days_and_filters_of_the_page(rows, alice):
    make_completion(alice, error_code="rate_limited")
    make_completion(make_person("bob"), error_code="provider_timed_out")
    assert [row["user"] for row in rows("user", f"?user={alice.pk}")] == [alice.email]
    assert [row["class"] for row in rows("failure", f"?user={alice.pk}")] == ["rate_limited"]
    assert rows("user", "?from=2020-01-01&to=2020-01-02") == []


def test_no_cell_is_a_formula(rows, alice):
    make_completion(alice, language_model="=1+1", error_code="@cmd")
    assert rows("language_model")[0]["language model"] == "'=1+1"
    assert rows("failure")[0]["class"] == "'@cmd"


@pytest.mark.parametrize("by", ["nonsense", "title"])
def test_there_is_no_other_file(admin_browser, by):
    assert admin_browser.get(address(by)).status_code == 404


def test_a_user_who_may_not_see_the_page_gets_no_file(alice):
    response = signed_in(alice).get(address("user"))
    assert response.status_code in (302, 403)


def test_reviewers_get_files(alice):
    make_completion(alice)
    response = signed_in(make_person("grace", role="reviewer")).get(address("user"))
    assert alice.email in text_of(response)

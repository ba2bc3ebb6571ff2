"""The context of the page of a user's own usage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP
from typing import Any

from django.urls import reverse
from django.utils import formats
from django.utils.translation import gettext

from chatsite.accounts.limits import effective_limits
from conversations.models.completion import Purpose
from conversations.selectors.figures.figures import Figures, read_figures
from conversations.selectors.figures.own_usage import OwnConversations, own_filters, usage_by_conversation
from conversations.selectors.figures.totals import Totals
from conversations.services.limits.message_checks import user_allowances
from conversations.templatetags.figures import factor, others, share
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import request_reader
from conversations.wording.money_amounts import rounded_usd

from .allowances import allowance_lines
from .period_form import ChosenPeriod
from .usage_charts import day_charts
from .usage_files import FILES

ROWS = 20


@dataclass(frozen=True, slots=True)
class UsageRow:
    """A row of a table: *share* is how wide its bar is, and *is_rest* says that it stands for several."""

    name: str
    totals: Totals
    share: str
    url: str = ""
    is_rest: bool = False


def usage_context(request: HtmxRequest, chosen: ChosenPeriod) -> dict[str, Any]:
    """All figures, in a number of queries that does not depend on them."""
    figures = read_figures(chosen.period, own_filters(request.user), rows=ROWS)
    total, row = figures.total, _RowMaker(figures.total)
    return {
        "chosen": chosen,
        "total": total,
        "cached_share": "" if total.cache_share is None else share(total.cache_share),
        "cost_of_context": cost_of_context_sentence(total),
        "charts": day_charts(figures),
        "by_day": [
            row(formats.date_format(each.day), each.totals)
            for each in reversed(figures.by_day)
            if each.totals.completions
        ],
        "by_conversation": list(_conversations(usage_by_conversation(request.user, figures), row)),
        "by_language_model": list(_language_models(figures, row)),
        "by_purpose": [row(str(Purpose(each.purpose).label), each.totals) for each in figures.by_purpose.rows],
        "allowances": allowance_lines(
            user_allowances(request.user, effective_limits(request.user)), request_reader(request)
        ),
        "exports": [(name, file.label) for name, file in FILES.items()],
    }


class _RowMaker:
    """Makes rows, each with its part of the cost; of the tokens while nothing has a cost."""

    def __init__(self, total: Totals) -> None:
        self._total = total

    def __call__(self, name: str, totals: Totals, *, url: str = "", is_rest: bool = False) -> UsageRow:
        return UsageRow(name, totals, f"{100 * totals.part_of(self._total):.2f}%", url, is_rest)


def _conversations(usage: OwnConversations, row: _RowMaker) -> Iterator[UsageRow]:
    for each in usage.rows:
        yield row(each.title, each.totals, url=reverse("conversations:conversation", args=[each.public_id]))
    if usage.rest_count:
        yield row(others(usage.rest_count), usage.rest, is_rest=True)
    if usage.gone.completions:
        yield row(gettext("Deleted or outside conversations"), usage.gone, is_rest=True)


def _language_models(figures: Figures, row: _RowMaker) -> Iterator[UsageRow]:
    table = figures.by_language_model
    for each in table.rows:
        yield row(each.language_model, each.totals)
    if table.rest_count:
        yield row(others(table.rest_count), table.rest, is_rest=True)


def cost_of_context_sentence(total: Totals) -> str:
    """Return a sentence about the cost of context, or nothing where it is unknown."""
    if total.context_cost_factor is None:
        return ""
    amounts = {"factor": factor(total.context_cost_factor), "money": rounded_usd(total.context_cost_usd, ROUND_HALF_UP)}
    if total.context_cost_usd <= 0:
        return gettext("None. Your questions would have cost the same without earlier messages.")
    return (
        gettext(
            "Your replies cost %(money)s more than the same questions would have cost without "
            "earlier messages (%(factor)s)."
        )
        % amounts
    )

"""Known formats of exports, recognised by their headers. Column names are in lower case, with `_` in place of spaces.

Providers change their exports without notice: the date beside each source is when it was last seen to be so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from conversations.reconciliation.comparison import Measure

from .errors import UnreadableExport


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """The columns of a format.

    *measures*: the columns that add up to each; not all of them need to be there. *required* columns do. With
    *rows_are_requests* each row is one request. *model_ends_at* cuts off what stands behind a model's name.
    """

    name: str
    title: str
    source: str
    day: str
    model: str
    measures: Mapping[Measure, tuple[str, ...]]
    required: frozenset[str]
    currency: str | None = None
    rows_are_requests: bool = False
    model_ends_at: str = ""

    @property
    def amount_columns(self) -> frozenset[str]:
        return frozenset(column for columns in self.measures.values() for column in columns)

    def measures_in(self, columns: Collection[str]) -> tuple[Measure, ...]:
        """Return what a file with these columns tells of."""
        found = {measure for measure, names in self.measures.items() if set(names) & set(columns)}
        if self.rows_are_requests:
            found.add(Measure.REQUESTS)
        return tuple(measure for measure in Measure if measure in found)


FORMATS = (
    ExportFormat(
        name="openai-usage",
        title="OpenAI's usage export",
        source="https://platform.openai.com/usage, export of completions, grouped by model, 2026-11-21",
        day="start_time",
        model="model",
        measures={
            Measure.REQUESTS: ("num_model_requests",),
            Measure.INPUT: ("input_tokens",),
            Measure.CACHED: ("input_cached_tokens",),
            Measure.OUTPUT: ("output_tokens",),
        },
        required=frozenset({"start_time", "model", "num_model_requests", "input_tokens"}),
    ),
    ExportFormat(
        name="openai-cost",
        title="OpenAI's cost export",
        source="https://platform.openai.com/usage, export of costs, grouped by line item, 2026-11-21",
        day="start_time",
        model="line_item",
        measures={Measure.COST: ("amount_value",)},
        required=frozenset({"start_time", "line_item", "amount_value", "amount_currency"}),
        currency="amount_currency",
        model_ends_at=",",  # gpt-4o-mini-2024-07-18, cached input
    ),
    ExportFormat(
        name="openrouter",
        title="OpenRouter's activity export",
        source="https://openrouter.ai/activity, 2026-11-21",
        day="created_at",
        model="model_permaslug",
        measures={
            Measure.INPUT: ("tokens_prompt",),
            Measure.CACHED: ("tokens_cached",),
            Measure.OUTPUT: ("tokens_completion",),
            Measure.COST: ("cost_total",),
        },
        required=frozenset({"created_at", "model_permaslug", "tokens_prompt", "tokens_completion", "cost_total"}),
        rows_are_requests=True,
    ),
    ExportFormat(
        name="anthropic-usage",
        title="Anthropic's usage export",
        source="https://platform.claude.com/usage, 2026-11-21",
        day="usage_date_utc",
        model="model_version",
        measures={
            Measure.INPUT: (
                "usage_input_tokens_no_cache",
                "usage_input_tokens_cache_write_5m",
                "usage_input_tokens_cache_write_1h",
                "usage_input_tokens_cache_read",
            ),
            Measure.CACHED: ("usage_input_tokens_cache_read",),
            Measure.OUTPUT: ("usage_output_tokens",),
        },
        required=frozenset(
            {"usage_date_utc", "model_version", "usage_input_tokens_no_cache", "usage_output_tokens"}
        ),
    ),
    ExportFormat(
        name="anthropic-cost",
        title="Anthropic's cost export",
        source="https://platform.claude.com/cost, 2026-11-21",
        day="usage_date_utc",
        model="model",
        measures={Measure.COST: ("cost_usd",)},
        required=frozenset({"usage_date_utc", "model", "token_type", "cost_usd"}),
    ),
    ExportFormat(
        name="plain",
        title="the plain format",
        source="docs/money.md, “Compare the ledger with the provider's figures”",
        day="day",
        model="model",
        measures={measure: (measure.value,) for measure in Measure},
        required=frozenset({"day", "model"}),
    ),
)  # fmt: skip
FORMATS_BY_NAME = {each.name: each for each in FORMATS}


def recognise(columns: Sequence[str], *, name: str | None = None) -> ExportFormat:
    """Return the format that the header is of, or the one of that *name* if the header allows it.

    Raises `UnreadableExport`, which names the columns that are missing.
    """
    candidates = [FORMATS_BY_NAME[name]] if name else FORMATS
    for each in candidates:
        if each.required <= set(columns) and each.measures_in(columns):
            return each
    closest = max(candidates, key=lambda each: len(each.required & set(columns)) / len(each.required))
    if name is None and not closest.required & set(columns):
        known = ", ".join(each.name for each in FORMATS)
        found = ", ".join(columns)[:200]
        raise UnreadableExport(f"no known format has these columns: {found}. Known are {known}.", line=1)
    raise UnreadableExport(_what_is_missing(closest, columns), line=1)


def _what_is_missing(closest: ExportFormat, columns: Sequence[str]) -> str:
    if missing := sorted(closest.required - set(columns)):
        return f"{closest.title} also has the columns {', '.join(missing)}; they are missing here."
    amounts = ", ".join(sorted(closest.amount_columns))
    return f"there is nothing to compare: {closest.title} has at least one of the columns {amounts}."

"""Errors of our token estimates against what providers report, for each language model.

error = reported / estimated − 1, of each completion whose usage was reported
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection

from conversations.core.window.calibration import LOOKED_AT

OF_PERIOD = """
SELECT language_model, estimated_input_tokens, input_tokens FROM conversations_completion
WHERE usage_estimated = FALSE AND created_at >= %(begin)s AND created_at < %(end)s
"""
# As many of each as calibration looks at, by its index: quick whatever the length of the ledger.
OF_NEWEST = """
SELECT newest.* FROM conversations_calibration AS calibration CROSS JOIN LATERAL (
  SELECT language_model, estimated_input_tokens, input_tokens FROM conversations_completion
  WHERE usage_estimated = FALSE AND language_model = calibration.language_model ORDER BY id DESC LIMIT %(newest)s
) AS newest
"""
ERRORS = """
WITH reported AS (
  SELECT language_model, estimated_input_tokens AS estimated, input_tokens AS reported,
         input_tokens / estimated_input_tokens::float8 - 1 AS error
  FROM ({completions}) AS completion WHERE estimated_input_tokens > 0
)
SELECT language_model, count(*) AS completions,
       sum(estimated)::bigint AS estimated_tokens, sum(reported)::bigint AS reported_tokens, avg(error) AS mean,
       CASE WHEN max(error) >= -min(error) THEN max(error) ELSE min(error) END AS worst,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY abs(error)) AS quantile_95
FROM reported GROUP BY language_model ORDER BY language_model
"""


@dataclass(frozen=True, slots=True)
class EstimateErrors:
    """Of *completions*, as shares of the estimate: above 0 more was reported than we thought.

    *worst* is the one farthest from 0; of 95 in 100 the error is at most *quantile_95*, whatever its sign.
    """

    language_model: str
    completions: int
    estimated_tokens: int
    reported_tokens: int
    mean: float
    worst: float
    quantile_95: float

    @property
    def mean_percent(self) -> float:
        return 100 * self.mean

    @property
    def worst_percent(self) -> float:
        return 100 * self.worst


def estimate_errors(*, begin: dt.datetime, end: dt.datetime) -> list[EstimateErrors]:
    """Return one entry for each language model with reported usage from *begin* to before *end*: one query."""
    return _errors(OF_PERIOD, {"begin": begin, "end": end})


def newest_estimate_errors() -> list[EstimateErrors]:
    """Return one entry for each language model that is compared, of its newest completions: one query."""
    return _errors(OF_NEWEST, {"newest": LOOKED_AT})


def _errors(completions: str, params: Mapping[str, int | dt.datetime]) -> list[EstimateErrors]:
    with connection.cursor() as cursor:
        cursor.execute(ERRORS.format(completions=completions), params)
        names = [column.name for column in cursor.description]
        return [EstimateErrors(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]

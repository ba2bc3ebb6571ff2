"""How far our counts of prompts are from what providers report, for each language model.

error = our estimate / reported − 1, of each completion whose usage was reported
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db import connection

ERRORS = """
WITH reported AS (
  SELECT language_model, estimated_input_tokens AS estimated, input_tokens AS reported,
         estimated_input_tokens / input_tokens::float8 - 1 AS error
  FROM conversations_completion
  WHERE usage_estimated = FALSE AND input_tokens > 0
    AND (%(begin)s::timestamptz IS NULL OR created_at >= %(begin)s)
    AND (%(end)s::timestamptz IS NULL OR created_at < %(end)s)
    AND (%(language_model)s::text IS NULL OR language_model = %(language_model)s)
)
SELECT language_model, count(*), sum(estimated), sum(reported), avg(error),
       (array_agg(error ORDER BY abs(error) DESC))[1],
       percentile_cont(0.95) WITHIN GROUP (ORDER BY abs(error))
FROM reported GROUP BY language_model ORDER BY language_model
"""


@dataclass(frozen=True, slots=True)
class EstimateErrors:
    """Of *completions*, shares of what was reported; above 0 we counted too many.

    *worst* is the one farthest from 0; of 95 in 100 the error is at most *quantile_95*, whatever its sign.
    """

    language_model: str
    completions: int
    estimated_tokens: int
    reported_tokens: int
    mean: float
    worst: float
    quantile_95: float


def estimate_errors(
    *, begin: dt.datetime | None = None, end: dt.datetime | None = None, language_model: str | None = None
) -> list[EstimateErrors]:
    """Return one entry for each language model, or for that one, from *begin* to before *end*: one query."""
    with connection.cursor() as cursor:
        cursor.execute(ERRORS, {"begin": begin, "end": end, "language_model": language_model})
        return [
            EstimateErrors(name, count, int(estimated), int(reported), mean, worst, quantile)
            for name, count, estimated, reported, mean, worst, quantile in cursor.fetchall()
        ]

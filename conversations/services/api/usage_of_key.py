"""The usage that a key may read: its owner's, by the sums that the usage page has; by key, by the ledger itself.

A key with a scenario or with language models reads only what was asked for with that key.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.db import connection

from conversations.models import ApiKey
from conversations.selectors.figures.figures import Figures, Filters, read_figures
from conversations.selectors.figures.period import Period
from conversations.selectors.figures.totals import SUMS, Totals
from conversations.services.ledger.ledger_sums import AS_LEDGER_SUMS, PARTS

MOST_ROWS = 1_000  # conversations; there are fewer language models and purposes
OF_KEY = (
    "({sums} FROM conversations_completion AS completion"
    " WHERE completion.api_key_id = {key} AND completion.ended_at IS NOT NULL)"
)
BY_KEY = f"""
SELECT key.public_id, key.name, {", ".join(f"sum({PARTS[name]})" for name in SUMS)}
FROM conversations_completion AS completion LEFT JOIN conversations_apikey AS key ON key.id = completion.api_key_id
WHERE completion.user_id = %(user)s AND completion.ended_at IS NOT NULL
  AND completion.created_at >= %(begin)s AND completion.created_at < %(end)s
GROUP BY key.id ORDER BY key.id NULLS FIRST
"""  # noqa: S608  # constants of ours


class KeyTotals(NamedTuple):
    """What was asked for with a key; both None for pages, and for keys that are not stored any more."""

    public_id: uuid.UUID | None
    name: str | None
    totals: Totals


def sees_only_its_own(key: ApiKey) -> bool:
    return key.is_bound or bool(key.language_models)


def read_usage(key: ApiKey, period: Period) -> Figures:
    """Return the figures of the period in total, by day, conversation, language model and purpose."""
    source = OF_KEY.format(sums=AS_LEDGER_SUMS, key=int(key.pk)) if sees_only_its_own(key) else None
    return read_figures(period, Filters(user_id=key.owner_id), rows=MOST_ROWS, source=source)


def read_usage_by_key(key: ApiKey, period: Period) -> list[KeyTotals]:
    """Return what was used with each of the owner's keys, and without one."""
    with connection.cursor() as cursor:
        cursor.execute(BY_KEY, {"user": key.owner_id, "begin": period.begin, "end": period.end})
        found = list(_rows(cursor.fetchall()))
    return [each for each in found if each.public_id == key.public_id] if sees_only_its_own(key) else found


def _rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[KeyTotals]:
    for public_id, name, *sums in rows:
        named = zip(SUMS, sums, strict=True)
        yield KeyTotals(public_id, name, _totals(dict(named)))


def _totals(sums: dict[str, Any]) -> Totals:
    """Return sums of the database, where those of whole numbers have no bound, as they are elsewhere."""
    whole: Any = {name: int(total) for name, total in sums.items() if not name.endswith("_usd")}
    return Totals(**{**sums, **whole})

"""Search queries with a time limit, because the size of what users store has no other bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from conversations.core.documents.fusion import Candidate, DocumentPlace
from conversations.core.errors import LookUpTooCostly

MOST_SECONDS = 3.0
SETTINGS = "SELECT set_config('statement_timeout', %s, true), set_config('plan_cache_mode', %s, true)"


def fetch_candidates(statement: str, parameters: Mapping[str, Any]) -> list[Candidate]:
    """Return the passages that *statement* finds, in its order. Raises `LookUpTooCostly`."""
    with time_limit(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [_candidate(*row) for row in cursor.fetchall()]


@contextmanager
def time_limit(*, plans_by_parameters: bool = False) -> Iterator[None]:
    """Limit the time of each statement within. Raises `LookUpTooCostly`.

    *plans_by_parameters* has each statement planned for its own parameters. A plan for any, which PostgreSQL keeps for
    a statement that was asked often, takes a word that is in one message and one that is in all for the same.
    """
    plans = "force_custom_plan" if plans_by_parameters else "auto"
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(SETTINGS, [f"{MOST_SECONDS * 1000:.0f}", plans])
            yield
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise LookUpTooCostly from error
        raise


def _candidate(
    id_: int, public_id: object, place: DocumentPlace, name: str, heading: str, text: str, rating: float
) -> Candidate:
    """Return a row as a candidate; its source is the document's name and the path of headings."""
    source = f"{name} › {heading}" if heading else name
    return Candidate(id_, str(public_id), source, text, float(rating), place=place)

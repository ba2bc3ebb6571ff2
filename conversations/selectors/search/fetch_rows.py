"""Rows of a statement of the search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection


def fetch_rows(statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())

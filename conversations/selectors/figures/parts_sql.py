"""Where the sums of a period are read: in its closed months, in the days around these, and in quarters of an hour.

Months and days are those that lie within it and are closed; quarters of an hour are what is before and after them. All
of them together are the parts of the period. Conversations have no sums of days: theirs are months and quarters.
"""

from __future__ import annotations

from collections.abc import Iterable

from conversations.models.rolled_up_sum import KEY_IDS, KEY_NAMES, SPANS

KEY_COLUMNS = {name: f"{name}_id" for name in KEY_IDS} | KEY_NAMES
MONTHS = "span = 'month' AND begins_at >= %(month_begin)s AND begins_at < %(month_end)s"
DAYS = (
    "span = 'day' AND begins_at >= %(day_begin)s AND begins_at < least(%(month_begin)s, %(day_end)s)",
    "span = 'day' AND begins_at >= %(month_end)s AND begins_at < %(day_end)s",
)


def _rolled_up(dimension: str) -> tuple[str, ...]:
    return (MONTHS, *DAYS) if "day" in SPANS[dimension] else (MONTHS,)


def _quarters(dimension: str) -> tuple[str, str]:
    span = SPANS[dimension][0]
    return (
        f"quarter >= %(begin)s AND quarter < %({span}_begin)s",
        f"quarter >= %({span}_end)s AND quarter < %(end)s",
    )


def parts_of_all(dimensions: Iterable[str], columns: str, *, condition: str = "TRUE") -> str:
    """Return what reads the parts of all keys of dimensions with the same spans, if the condition holds."""
    names = list(dimensions)
    quoted, keys = ", ".join(f"'{name}'" for name in names), ", ".join(_key(name) for name in names)
    rolled_up = f"""
    SELECT dimension, key_id, key_name, {columns} FROM conversations_rolledupsum
    WHERE dimension IN ({quoted}) AND {condition}
    """  # noqa: S608  # constants
    whose = ", ".join(KEY_COLUMNS[name] for name in names)
    added_up = ", ".join(f"sum({name}) AS {name}" for name in columns.split(", "))
    quarters = f"SELECT {whose}, {added_up} FROM conversations_ledgersum WHERE {condition}"  # noqa: S608  # constants
    rows = [f"{rolled_up} AND {span}" for span in _rolled_up(names[0])]
    for edge in _quarters(names[0]):
        # Added up before each of them becomes a row for each dimension.
        rows.append(f"""
        SELECT keys.*, {columns} FROM ({quarters} AND {edge} GROUP BY {whose}) AS quarters
        CROSS JOIN LATERAL (VALUES {keys}) AS keys (dimension, key_id, key_name)
        """)  # noqa: S608  # constants
    return " UNION ALL ".join(rows)


def parts_of_keys(dimension: str, keys: str, columns: str) -> str:
    """Return what reads the parts of these *keys* alone, a query of ids with 0 for nobody's, by their indexes."""
    theirs = f"= ANY (ARRAY({keys}))"
    rolled_up = f"""
    SELECT key_id, {columns} FROM conversations_rolledupsum WHERE dimension = '{dimension}' AND key_id {theirs}
    """  # noqa: S608  # constants
    somebodys = f"SELECT {dimension}_id, {columns} FROM conversations_ledgersum WHERE {dimension}_id {theirs}"  # noqa: S608  # constants
    nobodys = f"SELECT 0, {columns} FROM conversations_ledgersum WHERE {dimension}_id IS NULL AND 0 {theirs}"  # noqa: S608  # constants
    quarters = [f"{rows} AND {edge}" for rows in (somebodys, nobodys) for edge in _quarters(dimension)]
    return " UNION ALL ".join([*(f"{rolled_up} AND {span}" for span in _rolled_up(dimension)), *quarters])


def _key(dimension: str) -> str:
    """Return whose a sum by quarters is, in the columns of `RolledUpSum`."""
    return f"""('{dimension}', {KEY_IDS.get(dimension, "0")}, {KEY_NAMES.get(dimension, "''")})"""

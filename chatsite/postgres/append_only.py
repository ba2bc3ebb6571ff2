"""Append-only tables: triggers for their migrations, with which the database refuses to edit or delete a row.

The columns that are emptied when a user or a conversation is deleted are named: they may become NULL, or empty text.
To repair rows by hand, first SET chatsite.log_may_change = 'on'.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.migrations import RunSQL

MAY_CHANGE = "chatsite.log_may_change"


def make_append_only(table: str, *, forgets: Sequence[str] = (), clears: Sequence[str] = ()) -> RunSQL:
    """Return the operation that makes *table* append-only.

    Of its columns *forgets* may still become NULL, and *clears* empty text.
    """
    return RunSQL(_lock(table, forgets, clears), f"DROP FUNCTION {table}_stays() CASCADE")


def _lock(table: str, forgets: Sequence[str], clears: Sequence[str]) -> str:
    loosened = "".join(f" - '{column}'" for column in (*forgets, *clears))
    rewritten = [
        f"to_jsonb(NEW){loosened} IS DISTINCT FROM to_jsonb(OLD){loosened}",
        *(_is_rewritten(column, f"NEW.{column} IS NOT NULL") for column in forgets),
        *(_is_rewritten(column, f"NEW.{column} <> ''") for column in clears),
    ]
    locked = f"current_setting('{MAY_CHANGE}', TRUE) IS DISTINCT FROM 'on'"
    return f"""
CREATE FUNCTION {table}_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '{table} is append-only: row % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER {table}_loses_no_row BEFORE DELETE ON {table}
FOR EACH ROW WHEN ({locked}) EXECUTE FUNCTION {table}_stays();

CREATE TRIGGER {table}_only_forgets BEFORE UPDATE ON {table}
FOR EACH ROW WHEN ({locked} AND ({" OR ".join(rewritten)})) EXECUTE FUNCTION {table}_stays();
"""


def _is_rewritten(column: str, is_something: str) -> str:
    return f"NEW.{column} IS DISTINCT FROM OLD.{column} AND {is_something}"

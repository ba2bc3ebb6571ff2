"""A document whose reading stands still in the middle, however fast the machine is that reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from tests.faults.databases import Database

HELD_AT = 100  # the number of the passage that is not stored until the reading may go on
LOCK = 4711
WAIT = f"""
CREATE FUNCTION hold_reading() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_advisory_xact_lock_shared({LOCK}); RETURN NEW; END $$
"""
HOLD = f"""
CREATE TRIGGER hold_reading BEFORE INSERT ON conversations_passage
FOR EACH ROW WHEN (NEW.number = {HELD_AT}) EXECUTE FUNCTION hold_reading()
"""


@contextmanager
def held_reading(database: Database) -> Iterator[Callable[[], object]]:
    """Let every reading of a document stop at passage `HELD_AT`, until what this yields is called, or to the end."""
    with psycopg.connect(dbname=database.name, autocommit=True, **database.address) as holder:
        holder.execute(f"SELECT pg_advisory_lock({LOCK})")
        for statement in (WAIT, HOLD):
            holder.execute(statement)
        try:
            yield lambda: holder.execute("SELECT pg_advisory_unlock_all()")
        finally:
            holder.execute("SELECT pg_advisory_unlock_all()")
            holder.execute("DROP FUNCTION hold_reading CASCADE")

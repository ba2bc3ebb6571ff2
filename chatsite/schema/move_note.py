"""The note in a database that its site was moved elsewhere, or that a copy of a site in it is not finished.

A site must not begin to write in either: what it writes would be missing in the other one. The note of the new database
comes with its rows, that of the one before when the rows have been compared; then the first is taken away.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from psycopg import Connection, sql

from chatsite.command_line import spell_command

TABLE = "windowseat_move"
SCHEMA = "public"  # pg_restore lets nothing be found without its schema
COMMAND = "move_database"
NEW = "new"  # in the column `role`; in the database before it is `moved`
CREATE = f"""
CREATE TABLE {SCHEMA}.{TABLE} (
    role text NOT NULL, token text NOT NULL, other text NOT NULL, at timestamptz NOT NULL
)"""
INSERT = f"INSERT INTO {SCHEMA}.{TABLE} VALUES ({{role}}, {{token}}, {{other}}, clock_timestamp())"  # noqa: S608 -- a constant
READ = f"SELECT role, token, other, at FROM {SCHEMA}.{TABLE}"  # noqa: S608 -- a constant
DROP = f"DROP TABLE {SCHEMA}.{TABLE}"


@dataclass(frozen=True, slots=True)
class MoveNote:
    """*token* is that of the move, *other* says where the other database is, without a password."""

    is_new: bool
    token: str
    other: str
    at: dt.datetime

    @property
    def problem(self) -> str:
        """The sentence on why no site may begin with this database, and what to do."""
        if self.is_new:
            return (
                f"The copy of {self.other} in this database, begun at {self.at:%Y-%m-%d %H:%M} UTC, is not finished. "
                f"Run {spell_command(COMMAND)} once more, as it was run before, with the old DATABASE_URL."
            )
        return (
            f"The site was moved from this database to {self.other} at {self.at:%Y-%m-%d %H:%M} UTC: set DATABASE_URL "
            f"to that, or unset it for the embedded one. To go on here, without what was written there: "
            f"{spell_command(COMMAND, '--undo')}"
        )


def read_move_note(connection: Connection) -> MoveNote | None:
    """Return the note in the database behind *connection*, if there is one."""
    [(is_there,)] = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [f"{SCHEMA}.{TABLE}"])
    if not is_there:
        return None
    [(role, token, other, at)] = connection.execute(READ)
    return MoveNote(role == NEW, token, other, at.astimezone(dt.UTC))


def spell_note(*, is_new: bool, token: str, other: str) -> str:
    """Return the statements that write the note."""
    values = {"role": NEW if is_new else "moved", "token": token, "other": other}
    insert = sql.SQL(INSERT).format(**{name: sql.Literal(value) for name, value in values.items()})
    return f"{CREATE};\n{insert.as_string()}"

"""What is said of a database that can't be used: one sentence, with what PostgreSQL said of the cause."""

from __future__ import annotations

import pytest

from chatsite.postgres.embedded.errors import PostgresDidNotStart
from conversations.management.startup import database_sentence

REASON = "PostgreSQL's data can't be made (postgres failed)."


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        ('LOG:  starting\nERROR:  extension "vector" is not available', ' extension "vector" is not available'),
        ("FATAL:  could not map memory\nHINT:  less", " could not map memory"),
        ("initdb: error: could not create folder", " initdb: error: could not create folder"),
        (
            'postgres: could not access directory "/data": no right\nRun initdb',
            ' postgres: could not access directory "/data": no right',
        ),
        ("LOG:  starting", ""),
    ],
)
def test_the_cause_that_postgresql_named_is_said(output, cause):
    said = database_sentence(PostgresDidNotStart(REASON, output=output))
    assert said == f"The database can't be used: {REASON}{cause}"

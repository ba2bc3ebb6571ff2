"""A claim reads the runs that wait or run, by their indexes, however many have ended."""

from __future__ import annotations

import pytest
from django.db import connection

from conversations.runs.claim import CLAIM, CLAIM_TIMES

pytestmark = pytest.mark.django_db


def test_a_claim_reads_no_run_that_has_ended():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # of a few rows PostgreSQL would read all
        cursor.execute(f"EXPLAIN {CLAIM}", {**CLAIM_TIMES, "worker": "w", "limit": 1})
        plan = [line for (line,) in cursor.fetchall()]
    assert not [line for line in plan if "Seq Scan on conversations_run" in line]
    used = "\n".join(plan)
    assert "run_waiting" in used
    assert "run_held" in used

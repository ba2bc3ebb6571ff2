"""The table of a soak: slopes of each life of a process, and what was broken off."""

from __future__ import annotations

import json

import pytest

from tests.soak.table import make_table, memory_slope, read_lines, slope

BEGIN = {"kind": "begin", "at": 0, "hours": 1, "seed": 7, "day": "2026-11-25", "commit": "12345678"}


def life(minutes, mb_per_hour, *, wobble=0.0):
    """A sample each minute of a process that grows fast at first and steadily after that."""
    return [
        {
            "kind": "sample",
            "at": minute * 60,
            "process": "web 1",
            "life": 1,
            "age_minutes": minute,
            "resident_mb": 300 + mb_per_hour * minute / 60 + (minute % 2) * wobble - max(0, 20 - minute) * 5,
            "anonymous_mb": 200 + mb_per_hour * minute / 60,
            "html_cache_mb": minute / 60,
            "descriptors": 20,
            "threads": 9,
            "connections": 3,
            "cpu_seconds": minute,
        }
        for minute in range(minutes + 1)
    ]


def test_the_slope_is_that_of_least_squares():
    assert slope([(0, 1), (1, 3), (2, 2)]) == pytest.approx(0.5)


@pytest.mark.parametrize("mb_per_hour", [0, 0.5, 28])
def test_the_warm_up_does_not_count(mb_per_hour):
    assert memory_slope(life(120, mb_per_hour)) == pytest.approx(mb_per_hour, abs=1e-6)
    assert memory_slope(life(120, mb_per_hour, wobble=2)) == pytest.approx(mb_per_hour, abs=0.5)


def test_a_short_life_has_no_slope():
    assert memory_slope(life(25, 3)) is None


def test_a_run_that_was_broken_off_has_a_table(tmp_path):
    """Its last line may be half a line."""
    file = tmp_path / "soak.jsonl"
    problems = [{"kind": "problem", "at": at, "began": at - 5, "action": "send", "error": "cut"} for at in (900, 3000)]
    fault = {"process": "web 2", "how": "kill -9", "ending_seconds": 0.1, "started_seconds": 3}
    lines = [BEGIN, *life(60, 3), {"kind": "fault", "at": 902, **fault}, *problems]
    file.write_text("\n".join(json.dumps(line) for line in lines) + '\n{"kind": "sam')
    table = make_table(read_lines(file))
    assert "broken off" in table
    assert "+3.00 (missed) | +3.00; +1.00 |" in table
    assert "beside the end of a process: 1; elsewhere: 1." in table

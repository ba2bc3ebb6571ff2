"""Continuous integration tries few failed browser tests once more, and nothing else."""

from __future__ import annotations

import pytest

from tests.support import second_try
from tests.support.second_try import may_try_again

ONE = "tests/browser/test_line.py::test_j_leads_to_the_line_from_the_thread"


@pytest.mark.parametrize(
    ("code", "failed", "may"),
    [
        (1, [ONE], True),
        (1, [ONE] * 5, True),
        (1, [ONE] * 6, False),
        (1, [ONE, "tests/faults/test_stops.py::test_it"], False),
        (1, [], False),
        (0, [ONE], False),
        (2, [ONE], False),  # interrupted: a process that runs tests has died
        (5, [], False),
    ],
)
def test_only_few_tests_of_the_browser_are_tried_again(code, failed, may):
    assert may_try_again(code, failed) is may


@pytest.mark.parametrize(("second", "expected"), [(True, 0), (False, 1)])
def test_what_fails_twice_has_failed(tmp_path, monkeypatch, capfd, second, expected):
    monkeypatch.chdir(tmp_path)
    for name in ("PYTEST_ADDOPTS", "DJANGO_SETTINGS_MODULE"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "tests" / "browser" / "test_race.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "from pathlib import Path\n"
        "SEEN = Path('seen')\n"
        "def test_passes():\n"
        "    Path('passes').open('a').write('x')\n"
        "def test_race():\n"
        "    was_seen = SEEN.exists()\n"
        "    SEEN.touch()\n"
        f"    assert was_seen and {second}\n",
        encoding="utf-8",
    )
    assert second_try.main(["-p", "no:django", "tests"]) == expected
    assert "Second try of 1 that failed" in capfd.readouterr().out
    assert (tmp_path / "passes").read_text(encoding="utf-8") == "x"


def test_a_run_that_passes_is_not_repeated(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n", encoding="utf-8")
    assert second_try.main(["-p", "no:django"]) == 0
    assert "Second try" not in capfd.readouterr().out

"""The benchmark of summaries: a small run of it, and that it sees what it is there to see."""

from __future__ import annotations

import pytest

from tests.benchmarks.summary import missed, report
from tests.support.upstream import serve_upstream

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def upstream():
    with serve_upstream() as running:
        yield running


@pytest.fixture
def play(settings, upstream):
    from tests.benchmarks._faulty_summaries import measure_faults

    return lambda slides: measure_faults(settings, upstream, slides=slides)


def test_whatever_the_model_does_nothing_is_lost_delayed_or_paid_twice(play, capsys):
    result = play(27)
    assert missed(result) == [], result
    assert len(result["by_fault"]) == 13
    assert min(seen["slides"] for seen in result["by_fault"].values()) == 1
    assert result["versions_stored"] == result["versions_written"] > 3
    assert result["requests_while_a_summary_was_held"] > 5
    report(result)
    assert "all as it has to be" in capsys.readouterr().out


def test_a_version_that_does_not_wait_for_the_window_is_seen(play, monkeypatch):
    from conversations.services.windows import build_window, window_summaries

    def current_at_once(conversation):
        found = window_summaries.window_summaries(conversation)
        return found._replace(in_use=found.current)

    monkeypatch.setattr(build_window, "window_summaries", current_at_once)
    assert missed(play(8)) == ["prefix_changes"]

"""The benchmark `window` measures what it says: the same rows for all, and no figure where one did not finish."""

from __future__ import annotations

import pytest

from conversations.models import Message
from tests.benchmarks._peers import HOW_TO_INSTALL
from tests.benchmarks._turns import Taken
from tests.benchmarks.window import figures, peer_lines, report

MEDIANS = {
    ("window", 100): Taken(300, 200),
    ("query", 100): Taken(200, 60),
    ("window", 1000): Taken(330, 210),
    ("query", 1000): Taken(150, 60),
}
COMPARED = {
    100: {"Windowseat": Taken(300, 200), "kani": Taken(9_000, 8_000)},
    1000: {"Windowseat": Taken(330, 210), "kani": None},
    10_000: {"Windowseat": Taken(330, 210)},
}


@pytest.fixture
def conversation(db):
    from tests.benchmarks._long_conversations import make_long_conversation

    return make_long_conversation(60)


def test_a_conversation_is_stored_as_one_path_from_its_first_message(conversation):
    rows = Message.objects.order_by("position").values_list("position", "parent__position", "role")
    roles = ("user", "assistant")
    assert list(rows) == [(n, n - 1 if n else None, roles[n % 2]) for n in range(60)]


def test_the_stored_counts_are_those_of_the_contents(conversation):
    asked = conversation.asked()
    for content, tokens in Message.objects.values_list("content", "content_tokens"):
        assert tokens == asked.count_text(content)


def test_the_peers_are_asked_about_what_is_stored(conversation):
    stored = list(Message.objects.order_by("position").values_list("role", "content"))
    *messages, (role, _) = conversation.asked().messages
    assert messages == stored
    assert role == "user"


def test_conversations_of_all_lengths_end_the_same(conversation):
    from tests.benchmarks._long_conversations import make_long_conversation

    longer = make_long_conversation(61 + 60)
    assert [row[3:] for row in longer.rows(20)] == [row[3:] for row in conversation.rows(20)]


def test_a_settled_window_begins_where_the_one_before_it_began(conversation):
    conversation.settle()
    record = conversation.window().record
    assert record.anchor == record.first_position > 0
    assert record.prompt_tokens < conversation.fullest_window().record.prompt_tokens


def test_the_figures_are_those_of_the_worst_size():
    result = figures(MEDIANS, COMPARED, messages=38)
    assert result["slowest_to_fastest"] == pytest.approx(1.1)
    assert result["most_queries"] == pytest.approx(2.2)
    assert result["by_size"][100]["window_cpu_us"] == 200


def test_who_did_not_finish_has_no_figure_and_who_was_not_asked_is_not_there():
    peers = figures(MEDIANS, COMPARED, messages=38)["peers"]
    assert peers[100]["kani"] == {"finished": True, "wall_us": 9_000, "cpu_us": 8_000}
    assert peers[1000]["kani"] == {"finished": False, "given_seconds": 60.0}
    assert "kani" not in peers[10_000]


def test_the_table_says_who_did_not_finish_and_who_was_not_asked():
    lines = list(peer_lines(figures(MEDIANS, COMPARED, messages=38)["peers"]))
    assert [line.split("ms")[-1].strip() for line in lines[3:]] == ["not finished", "not asked"]
    assert "8.00 ms" in lines[2]


def test_without_peers_one_line_says_how_to_install_them(capsys):
    report(figures(MEDIANS, {}, messages=38))
    assert capsys.readouterr().out.splitlines()[-1] == HOW_TO_INSTALL

"""What the window reads from the database: real rows, through real SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice

import pytest

from conversations.core.prompt.messages import PromptToolCall
from conversations.models import Conversation, Message
from conversations.selectors.conversations.history import FIRST_CHUNK_ROWS, HistoryRow, Row, read_history
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db
CALL = PromptToolCall("call_1", "get_time", '{"city": "Paris"}')


@pytest.fixture
def conversation() -> Conversation:
    return begin(make_user("alice"))


def fill(conversation: Conversation, length: int, **fields) -> None:
    """Store a path of *length* messages, the content of each its position; *fields* are lists of positions."""
    parent = None
    for position in range(length):
        flags = {name: position in positions for name, positions in fields.items()}
        parent = Message.objects.create(
            conversation=conversation, parent=parent, position=position, role="user", content=str(position), **flags
        )


def columns(rows: Iterable[Row]) -> list[HistoryRow]:
    return [HistoryRow(*row) for row in rows]


def contents(rows: Iterable[Row]) -> list[str]:
    return [row.content for row in columns(rows)]


def newest_first(length: int) -> list[str]:
    return [str(position) for position in reversed(range(length))]


@pytest.mark.parametrize("length", [0, 1, FIRST_CHUNK_ROWS, FIRST_CHUNK_ROWS + 1, 3 * FIRST_CHUNK_ROWS + 7])
def test_it_reads_the_whole_path_newest_first(conversation, length):
    fill(conversation, length)
    assert contents(read_history(conversation.pk, before=length).newest_first) == newest_first(length)


def test_it_reads_only_what_is_below_the_position(conversation):
    fill(conversation, 6, pinned=[1, 4])
    history = read_history(conversation.pk, before=4)
    assert contents(history.newest_first) == newest_first(4)
    assert contents(history.pins) == ["1"]


def test_pins_come_oldest_first_and_stay_in_their_place(conversation):
    fill(conversation, FIRST_CHUNK_ROWS + 9, pinned=[70, 2, 40])
    history = read_history(conversation.pk, before=FIRST_CHUNK_ROWS + 9)
    assert contents(history.pins) == ["2", "40", "70"]
    assert contents(history.newest_first) == newest_first(FIRST_CHUNK_ROWS + 9)


def test_an_excluded_message_is_no_pin_but_is_read(conversation):
    fill(conversation, 3, pinned=[1], excluded=[1])
    history = read_history(conversation.pk, before=3)
    assert history.pins == []
    assert [row.excluded for row in columns(history.newest_first)] == [False, True, False]


def test_it_does_not_read_other_branches_or_other_conversations(conversation):
    fill(conversation, 2)
    fill(begin(conversation.owner), 5, pinned=[0])
    Message.objects.filter(conversation=conversation, position=1).update(active=False, pinned=True)
    history = read_history(conversation.pk, before=2)
    assert history.pins == []
    assert contents(history.newest_first) == ["0"]


def test_it_does_not_read_older_chunks_that_no_one_asks_for(conversation, django_assert_num_queries):
    fill(conversation, FIRST_CHUNK_ROWS + 1)
    with django_assert_num_queries(1):
        history = read_history(conversation.pk, before=FIRST_CHUNK_ROWS + 1)
        [next(history.newest_first) for _ in range(FIRST_CHUNK_ROWS)]


@pytest.mark.parametrize("anchor", [0, 5, FIRST_CHUNK_ROWS + 20])
def test_one_query_reads_back_to_the_anchor_and_past_it(conversation, django_assert_num_queries, anchor):
    length, wanted = FIRST_CHUNK_ROWS + 20, FIRST_CHUNK_ROWS + 20 - anchor + 1
    fill(conversation, length, pinned=[1])
    with django_assert_num_queries(1):
        history = read_history(conversation.pk, before=length, anchor=anchor)
        assert contents(islice(history.newest_first, wanted)) == newest_first(length)[:wanted]


def test_it_reads_all_behind_an_anchor_above_the_position(conversation):
    fill(conversation, 9)
    assert contents(read_history(conversation.pk, before=4, anchor=7).newest_first) == newest_first(4)


def test_pins_are_not_asked_for_where_there_are_none(conversation):
    fill(conversation, 4, pinned=[1])  # which makes the difference visible
    history = read_history(conversation.pk, before=4, has_pins=False)
    assert history.pins == []
    assert contents(history.newest_first) == newest_first(4)


def test_a_tool_call_and_its_result_come_back_as_they_were(conversation):
    fill(conversation, 2)
    Message.objects.filter(position=0).update(role="assistant", tool_calls=[CALL.to_json()])
    Message.objects.filter(position=1).update(role="tool", tool_call_id="call_1")
    result, call = columns(read_history(conversation.pk, before=2).newest_first)
    assert json.loads(call.tool_calls or "") == [CALL.to_json()]
    assert (result.role, result.tool_call_id, result.tool_calls) == ("tool", "call_1", None)

import json

from conversations.core.window.window_record import (
    GroundingPassage,
    GroundingRecord,
    LeftOutMessage,
    RecallEntry,
    RecallRecord,
    SummaryRecord,
    WindowEntry,
    WindowRecord,
    record_entries,
)

from .languages import message

RECORD = WindowRecord(
    language_model="test",
    encoding="o200k_base",
    context_window_tokens=1_000,
    reply_reserve_tokens=200,
    budget_tokens=727,
    prompt_tokens=189,
    priming_tokens=3,
    tool_schema_tokens=7,
    calibration="1.1",
    policy={"name": "sliding", "cap_tokens": None},
    entries=(
        WindowEntry("system", "system", 10),
        WindowEntry("about_me", "system", 8),
        WindowEntry("notes", "system", 9),
        WindowEntry("pin", "user", 11, message=1, position=0),
        WindowEntry("summary", "user", 9),
        WindowEntry("older", "assistant", 12, message=4, position=8),
        WindowEntry("newest", "user", 30, message=5, position=9),
        WindowEntry("tool_step", "assistant", 40, message=6, position=10),
        WindowEntry("tool_step", "tool", 50, message=7, position=11, truncated_to=100),
    ),
    first_position=8,
    messages_before_window=7,
    older_limit_tokens=576,
    anchor=6,
    left_out=(LeftOutMessage(3, 7, 900, "does_not_fit"),),
    grounding=GroundingRecord(
        tokens=20,
        limit_tokens=363,
        included=(GroundingPassage(1, 0.5), GroundingPassage(2, None, truncated_to=80)),
        left_out=(GroundingPassage(3, 0.1),),
    ),
    recall=RecallRecord(
        tokens=4,
        limit_tokens=60,
        included=(RecallEntry(2, 3, 0, 12, False, "2026-11-02", 4, 1.5, ("words", "date")),),
        left_out=(RecallEntry(2, 3, 40, 90, True, "2026-11-02", 20, 0.5),),
        is_looked_up=True,
    ),
    summary=SummaryRecord(5, 2, covers_before=8, tokens=9),
)


def test_entries_are_what_their_class_makes():
    """Those of messages are made without it, which checks neither how many fields there are nor their order."""
    older, newest = message(3, "Hello"), message(4, "Well?")._replace(picture_tokens=85, pictures_sent="high")
    entries = record_entries(
        system=(0, 0, 0),
        pins=(),
        summary=None,
        older=[older],
        newest=newest,
        looked_up_tokens=30,
        steps=(),
        text_so_far=None,
        overhead_tokens=4,
    )
    with_pictures = {"picture_tokens": 85, "pictures": "high"}
    assert entries == (
        WindowEntry("older", "assistant", 4 + older.content_tokens, older.id, 3),
        WindowEntry("newest", "user", 4 + newest.content_tokens + 85 + 30, newest.id, 4, **with_pictures),
    )


def test_a_record_comes_back_from_storage_as_it_was():
    assert WindowRecord.from_json(json.loads(json.dumps(RECORD.to_json()))) == RECORD


def test_a_record_comes_back_from_before_it_is_stored_too():
    assert WindowRecord.from_json(RECORD.to_json()) == RECORD


def test_reading_a_record_leaves_the_stored_one_alone():
    stored = json.loads(json.dumps(RECORD.to_json()))
    WindowRecord.from_json(stored)
    assert stored == json.loads(json.dumps(RECORD.to_json()))


def test_its_parts_are_the_budget():
    assert RECORD.parts == {
        **{"system": 3 + 10, "tools": 7, "notes": 17, "pins": 11, "summary": 9, "older": 12},
        **{"grounding": 20, "recall": 4, "newest": 30 - 20 - 4, "tool_steps": 40 + 50},
        **{"text_so_far": 0, "free": 727 - 189},
    }


def test_its_parts_come_in_the_order_of_the_prompt():
    assert list(RECORD.parts) == [
        *("system", "tools", "notes", "pins", "summary", "older", "grounding", "recall", "newest", "tool_steps"),
        *("text_so_far", "free"),
    ]


def test_the_texts_of_the_system_message_are_one_message():
    entries = RECORD.message_entries
    assert entries[0] == WindowEntry("system", "system", 10 + 8 + 9)
    assert entries[1:] == RECORD.entries[3:]

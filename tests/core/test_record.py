import json

from conversations.core.record import (
    GroundingPassage,
    GroundingRecord,
    LeftOutMessage,
    WindowEntry,
    WindowRecord,
)

RECORD = WindowRecord(
    language_model="test",
    encoding="o200k_base",
    context_window_tokens=1_000,
    reply_reserve_tokens=200,
    budget_tokens=727,
    prompt_tokens=50,
    priming_tokens=3,
    tool_schema_tokens=7,
    calibration="1.1",
    policy={"name": "sliding", "cap_tokens": None},
    entries=(WindowEntry("system", "system", 10), WindowEntry("newest", "user", 30, message=5, position=9)),
    first_position=9,
    unseen_messages=9,
    left_out=(LeftOutMessage(4, 8, 900, "does_not_fit"),),
    grounding=GroundingRecord(
        tokens=20,
        limit_tokens=363,
        included=(GroundingPassage(1, 0.5), GroundingPassage(2, None, cut=True)),
        left_out=(GroundingPassage(3, 0.1),),
    ),
)


def test_a_record_comes_back_from_storage_as_it_was():
    assert WindowRecord.from_json(json.loads(json.dumps(RECORD.to_json()))) == RECORD


def test_a_record_comes_back_from_before_it_is_stored_too():
    assert WindowRecord.from_json(RECORD.to_json()) == RECORD


def test_reading_a_record_leaves_the_stored_one_alone():
    stored = json.loads(json.dumps(RECORD.to_json()))
    WindowRecord.from_json(stored)
    assert stored == json.loads(json.dumps(RECORD.to_json()))

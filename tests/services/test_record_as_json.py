"""A window record stands in the place of its JSON, and is not read back from it."""

from __future__ import annotations

import json

from conversations.core.window.window_record import WindowRecord
from conversations.services.ledger.record_as_json import RecordAsJson, record_of
from tests.admin.stored import make_record


def test_its_json_is_made_when_it_is_asked_for():
    record = make_record()
    window = RecordAsJson(record)
    assert (dict(window), len(window)) == (record.to_json(), len(record.to_json()))
    assert window["encoding"] == record.encoding
    assert WindowRecord.from_json(window) == record


def test_a_record_is_not_read_back_from_its_json():
    record = make_record()
    assert record_of(RecordAsJson(record)) is record


def test_a_record_is_read_from_what_is_stored():
    record = make_record()
    assert record_of(json.loads(json.dumps(record.to_json()))) == record

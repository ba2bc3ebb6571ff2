"""A window record in the place of its JSON, for the row of a request while its answer streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from conversations.core.window.window_record import WindowRecord


class RecordAsJson(Mapping[str, Any]):
    """What `to_json` of *record* returns, made when it is asked for: each entry of it takes half a kilobyte."""

    __slots__ = ("record",)

    def __init__(self, record: WindowRecord) -> None:
        self.record = record

    def __getitem__(self, name: str) -> Any:
        return self.record.to_json()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.record.to_json())

    def __len__(self) -> int:
        return len(fields(self.record))


def record_of(window: Mapping[str, Any]) -> WindowRecord:
    """Return the record that a row has, as it is stored or as it was put there."""
    return window.record if isinstance(window, RecordAsJson) else WindowRecord.from_json(window)

"""Frame: the base of all frames. It is written as JSON, and parsed from it; what is not a valid frame is refused."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, NoReturn, TypeVar, get_type_hints

from conversations.core.errors import FrameError

LARGEST_INTEGER = 2**53 - 1  # what a page's numbers hold exactly
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Frame:
    """Base of all frames: a value for each field, and the name under which it travels."""

    type: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        values = {name: _plain(getattr(self, name)) for name in _names_of(type(self))}  # type: ignore[arg-type]  # as in `parse_frame`
        return {"type": self.type, **values}

    def to_json(self) -> str:
        """Return the frame as it travels. (The encoder is kept: `json.dumps` makes one for every call.)"""
        return _ENCODER.encode(self.to_dict())


@cache
def _names_of(frame_class: type[Frame]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(frame_class))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return str(value) if isinstance(value, uuid.UUID) else value


AnyFrame = TypeVar("AnyFrame", bound=Frame)


@cache  # to read the annotations takes longer than to read a frame
def _kinds_of(frame_class: type[Frame]) -> Mapping[str, Any]:
    """Return the type of each field."""
    hints = get_type_hints(frame_class)
    return {field.name: hints[field.name] for field in fields(frame_class)}


def parse_frame(decoded: object, known: Mapping[str, type[AnyFrame]]) -> AnyFrame:
    """Return *decoded* JSON as one of the *known* frames. Raises `FrameError` naming what is wrong with it."""
    if not isinstance(decoded, dict):
        raise FrameError("a frame is a JSON object")
    frame_type = decoded.get("type")
    if not isinstance(frame_type, str) or frame_type not in known:
        raise FrameError("type")
    frame_class = known[frame_type]
    kinds = _kinds_of(frame_class)  # type: ignore[arg-type]  # mypy takes no class of a type variable for hashable
    if unexpected := decoded.keys() - kinds.keys() - {"type"}:
        raise FrameError(f"unexpected: {', '.join(sorted(map(str, unexpected))[:3])[:100]}")
    return frame_class(**{name: _read(name, kind, decoded) for name, kind in kinds.items()})


def _read(name: str, kind: Any, decoded: Mapping[str, Any]) -> Any:
    """Return field *name* as *kind*; `bool` is not an `int` here, as it would be to Python."""
    value = decoded.get(name)
    if value is None and kind in (uuid.UUID | None, int | None, tuple[int, ...] | None):
        return None
    if kind in (uuid.UUID, uuid.UUID | None):
        return _read_uuid(name, value)
    if kind in (int, int | None):
        return _read_integer(name, value)
    if kind in (str, bool):
        if type(value) is not kind:
            raise FrameError(name)
        return value
    if kind == tuple[uuid.UUID, ...]:
        return _read_uuids(name, value)
    if kind in (tuple[int, ...], tuple[int, ...] | None):
        return tuple(_read_integer(name, member) for member in value) if isinstance(value, list) else _refuse(name)
    return _read_structure(name, kind, value)


def _read_integer(name: str, value: object) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST_INTEGER:
        _refuse(name)
    return value


def _read_uuid(name: str, value: object) -> uuid.UUID:
    if not isinstance(value, str):
        _refuse(name)
    try:
        return uuid.UUID(value)
    except ValueError:
        _refuse(name)


def _read_structure(name: str, kind: Any, value: object) -> Any:
    if kind == Mapping[str, Any]:
        return value if isinstance(value, dict) else _refuse(name)
    if not isinstance(value, list) or not all(isinstance(member, dict) for member in value):
        _refuse(name)
    return tuple(value)


def _read_uuids(name: str, value: object) -> tuple[uuid.UUID, ...]:
    return tuple(_read_uuid(name, member) for member in value) if isinstance(value, list) else _refuse(name)


def _refuse(name: str) -> NoReturn:
    raise FrameError(name)

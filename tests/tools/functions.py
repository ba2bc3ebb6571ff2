"""Types and functions as people write them for tools."""

from __future__ import annotations

import datetime as dt  # noqa: F401
import enum
from collections.abc import Callable, Mapping, Sequence  # noqa: F401  # signatures of tests name them
from dataclasses import dataclass, field
from decimal import Decimal  # noqa: F401
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, Union  # noqa: F401
from uuid import UUID  # noqa: F401

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from conversations.tools.tool import ToolContext  # noqa: F401


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Point:
    """A place on the map."""

    x: float
    y: float = 0.0


@dataclass
class Line:
    start: Point
    end: Point
    tags: list[str] = field(default_factory=list)


@dataclass
class Node:
    name: str
    children: list[Node] = field(default_factory=list)


@dataclass
class Even:
    """One whose class has rules of its own."""

    n: int

    def __post_init__(self) -> None:
        if self.n % 2:
            raise RuntimeError("odd")


class Guest(TypedDict):
    name: str
    age: NotRequired[int]


class Pair(NamedTuple):
    left: int
    right: str


class Booking(BaseModel):
    """A table for an evening."""

    title: str
    seats: int = Field(ge=1, le=12, description="How many come.")


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


def function_of(signature: str) -> Callable[..., Any]:
    """Return a function of this signature, as it would be written; it returns what it was given."""
    source = f"def function{signature}:\n    return locals()\n"
    names = {**globals()}
    exec(compile(f"from __future__ import annotations\n{source}", "<signature>", "exec"), names)  # of our own tests
    return names["function"]

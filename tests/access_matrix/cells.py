"""The cells of the matrix: who asks for what, and by which ids. Nothing of this needs a database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

from conversations.core.frames.definitions import FROM_PAGE

from .people import Who
from .routes import Door, Route, door_of, routes_with_a_door

METHODS = ("GET", "POST")
SCOPES = (("chat",), ("read",), ("manage",), ("chat", "read", "manage"))
Ids = Literal["alice's", "unknown", "crossed"]
# Ids that stand in bodies and queries of what is everybody's own: (route, field) → the id of Alice's that is tried.
BODY_IDS = {
    ("conversations:new", "scenario"): "scenario_id",
    ("conversations:new_scenario", "scenario"): "scenario_id",
    ("conversations:estimate", "conversation"): "public_id",
    ("conversations:estimate", "scenario"): "scenario_id",
    ("conversations:estimate", "folder"): "folder_id",
    ("conversations:preview", "conversation"): "public_id",
    ("conversations:preview", "scenario"): "scenario_id",
    ("conversations:preview", "folder"): "folder_id",
    ("conversations:post", "scenario"): "scenario_id",
    ("conversations:scenario", "scenario"): "scenario_id",
    ("conversations:add_conversation_documents", "scenario"): "scenario_id",
    ("conversations:add_picture", "scenario"): "scenario_id",
    ("conversations:imports", "scenario"): "scenario_id",
    ("conversations:delete_scenario", "scenario"): "scenario_id",
    ("conversations:list", "current"): "public_id",
    ("conversations:commands", "conversation"): "public_id",
    ("conversations:search", "conversation"): "public_id",
    ("conversations:commands", "scenario"): "scenario_id",
    ("conversations:commands", "folder"): "folder_id",
    ("conversations:rename", "current"): "public_id",
    ("conversations:delete", "current"): "public_id",
    ("conversations:export_several", "conversation"): "public_id",
    ("conversations:export_several", "whole_folder"): "folder_id",
    ("conversations:show_costs", "current"): "public_id",
    ("conversations:star", "current"): "public_id",
    ("conversations:fold_folder", "current"): "public_id",
    ("conversations:folders", "scenario"): "scenario_id",
    ("conversations:move", "folder"): "folder_id",
    ("conversations:arrange", "conversation"): "public_id",
    ("conversations:arrange", "folder"): "folder_id",
    ("conversations:new", "folder"): "folder_id",
}
ONLY_MARKS = {"current"}  # names the conversation that is open, in the list or to go back to; nothing is read by it


@dataclass(frozen=True, slots=True)
class PathCell:
    """*who* asks for a route by *method*; `crossed`: below something of their own, a part of Alice's."""

    route: Route
    method: str
    who: Who
    ids: Ids


@dataclass(frozen=True, slots=True)
class BodyCell:
    """*who* asks for something of their own, and names an id of Alice's beside it."""

    route: str
    field: str
    who: Who


@dataclass(frozen=True, slots=True)
class KeyCell:
    """A program of *who* asks for a route of the API with a key that has *scopes*."""

    route: Route
    method: str
    who: Who
    scopes: tuple[str, ...]
    ids: Ids


@dataclass(frozen=True, slots=True)
class FrameCell:
    """*who* sends a frame over a socket that was opened while all was well."""

    frame: str
    who: Who
    ids: Ids


def path_cells(route: Route) -> Iterator[PathCell]:
    for method in METHODS:
        for who in Who:
            yield from (PathCell(route, method, who, ids) for ids in _ids_of(route))


def _ids_of(route: Route) -> tuple[Ids, ...]:
    if door_of(route.name) not in (Door.OBJECT, Door.PART_OF_ACCOUNT):
        return ("alice's",)
    return ("alice's", "unknown", "crossed") if len(set(route.parameters) - {"number"}) > 1 else ("alice's", "unknown")


def body_cells() -> Iterator[BodyCell]:
    for route, name in BODY_IDS:
        yield from (BodyCell(route, name, who) for who in Who)


def key_cells() -> Iterator[KeyCell]:
    for route in routes_with_a_door():
        if door_of(route.name) is Door.KEY:
            for method, scopes in product((*METHODS, "DELETE"), SCOPES):
                for who in Who:
                    yield from (KeyCell(route, method, who, scopes, ids) for ids in ("alice's", "unknown"))


def frame_cells() -> Iterator[FrameCell]:
    for frame in FROM_PAGE:
        for who in Who:
            yield from (FrameCell(frame, who, ids) for ids in _ids_of_frame(frame))


def _ids_of_frame(frame: str) -> tuple[Ids, ...]:
    names_a_part = frame.startswith("reply.") or frame in ("message.edit", "call.decide")
    return ("alice's", "unknown", "crossed") if names_a_part else ("alice's", "unknown")


def number_of_cells() -> int:
    """Return how many cells there are, in all tables together."""
    in_paths = sum(1 for route in routes_with_a_door() for _ in path_cells(route))
    in_paths += sum(1 for _ in key_cells())
    return in_paths + sum(1 for _ in body_cells()) + sum(1 for _ in frame_cells())

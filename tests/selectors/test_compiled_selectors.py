"""Each compiled queryset of the site finds what its queryset finds, for arguments that are stored and that are not."""

from __future__ import annotations

import datetime as dt
import inspect
import uuid
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db.models import Model
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.postgres.compiled_queryset import CompiledQueryset
from conversations.models import Conversation, Folder, Message, Scenario
from conversations.selectors.conversations.conversation_list import Place
from tests.access_matrix.world import World
from tests.support.filled_conversation import fill_conversation
from tests.support.people import begin
from tests.support.source import PROJECT, module_name, python_files

CALLS = 40  # of each, for each of its constants
NEVER_STORED = [0, -1, 2**15, 2**31 - 1, 2**31, 2**32 + 1, 2**63 - 1, 2**63]
IDS: dict[str, list[type[Model]]] = {
    "owner_id": [User],
    "user_id": [User],
    "conversation_id": [Conversation],
    "folder_id": [Folder],
    "place_id": [Conversation, Folder, Scenario],
    "chosen_id": [Scenario],
    "message_id": [Message],
    "reply_ids": [Message],
    "parent_ids": [Message],
}
CONSTANTS: dict[str, list[Any]] = {
    "place": list(Place),
    "limit": [1, 20],
    "under_dates": [2],
    "starred": [2],
    "kind": ["conversation", "folder", "scenario"],
    "with_costs": [True, False],
}


def find_compiled() -> Iterator[tuple[str, CompiledQueryset[..., Any]]]:
    for path in python_files("chatsite", "conversations"):
        if "@compiled_queryset\n" in (PROJECT / path).read_text():
            for name, each in vars(import_module(module_name(path))).items():
                if isinstance(each, CompiledQueryset):
                    yield name, each


def choose(name: str, annotation: str, random: Random) -> Any:
    """Return an argument for the parameter, mostly one of which something is stored."""
    if annotation == "dt.datetime":
        zone = ZoneInfo(random.choice(["UTC", "Asia/Tokyo", "America/New_York"]))
        return timezone.now().astimezone(zone) - dt.timedelta(days=random.choice([-1, 1, 30]))
    if annotation == "dt.date":
        return timezone.now().date() - dt.timedelta(days=random.choice([-1, 0, 1, 4_000]))
    if annotation == "uuid.UUID":
        return random.choice([*Conversation.objects.values_list(name, flat=True), uuid.UUID(int=7)])
    stored = [*range(4)]
    if name != "position":
        model = random.choice(IDS[name])
        found = model._default_manager.exclude(folders=None) if model is User else model._default_manager
        stored = list(found.values_list("pk", flat=True).distinct())
    if annotation == "list[int]":
        return random.choices([*stored, *NEVER_STORED[:5]], k=random.choice([0, 1, 3, 30]))
    return random.choice(random.choice([stored, stored, NEVER_STORED]))


def described(row: Any) -> Any:
    if not isinstance(row, Model):
        return row
    values = {name: value for name, value in vars(row).items() if name != "_state"}
    return values | {name: described(each) for name, each in row._state.fields_cache.items()}


@pytest.mark.django_db
def test_each_finds_what_its_queryset_finds():
    alice = World().alices.owner
    fill_conversation(begin(alice), 20, with_steps=True)
    Conversation.objects.filter(owner=alice).update(folder=Folder.objects.filter(owner=alice).first())
    found = Counter[str]()
    for name, compiled in find_compiled():
        random = Random(name)  # of its own: what is drawn for one is the same beside any others
        parameters = inspect.signature(compiled).parameters.values()
        arguments = [each for each in parameters if each.kind is not each.KEYWORD_ONLY]
        constants = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        for values in product(*(CONSTANTS[each] for each in constants)):
            chosen = dict(zip(constants, values, strict=True))
            for _ in range(CALLS):
                asked = [choose(each.name, each.annotation, random) for each in arguments]
                ours, djangos = compiled.all(*asked, **chosen), compiled(*asked, **chosen)
                rows = [[repr(described(row)) for row in each] for each in (ours, djangos)]
                if not djangos.ordered:
                    rows = [sorted(each) for each in rows]
                assert rows[0] == rows[1], f"{name} of {asked}, {chosen}"
                found[name] += len(ours)
        assert found[name], f"nothing is stored that {name} could find"

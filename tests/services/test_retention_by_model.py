"""Random touches, deletions, rules, holds and days against a model of retention in plain Python."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.access import find_conversation
from conversations.core.errors import ConversationHeld, ConversationNotFound
from conversations.models import Conversation, LegalHold, RetentionRule, Scenario
from conversations.services.conversations.conversations import choose_scenario
from conversations.services.conversations.deletion import (
    delete_conversation,
    delete_permanently,
    restore_conversation,
    sweep_deleted_conversations,
)
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.retention.keep_conversations import keep_conversation
from conversations.services.retention.legal_holds import lift_hold, place_hold
from conversations.services.retention.sweep_retention import sweep_retention
from tests.support.hypothesis_profile import count_cases
from tests.support.people import begin, make_user, post
from tests.support.retention import pass_days

pytestmark = pytest.mark.django_db
STEPS = 40
NOTICE, RESTORABLE = 7, 10
DAYS = (0, 8, 15, 30)  # of a rule; 0 is none


@dataclass
class Modelled:
    """What is to be true of one conversation; days are counted from the beginning."""

    owner: str
    scenario: str
    touched: int
    told: int | None = None
    told_on: int = 0
    deleted: int | None = None
    is_gone: bool = False


@dataclass
class Model:
    """The rules in few lines: the shortest counts, no told date becomes earlier, and what is held stays."""

    today: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    held: set[Any] = field(default_factory=set)
    conversations: dict[int, Modelled] = field(default_factory=dict)

    def is_held(self, pk: int) -> bool:
        return bool({pk, self.conversations[pk].owner} & self.held)

    def due(self, each: Modelled) -> int | None:
        roles = {"alice": "user", "rita": "reviewer"}
        days = [self.rules.get(name) for name in ("site", roles[each.owner], each.scenario)]
        return min((each.touched + one for one in days if one), default=None)

    def sweep(self) -> None:
        for pk, each in self.conversations.items():
            due, last = self.due(each), self.today + NOTICE
            if each.told is not None:
                if due is None or self.is_held(pk) or each.deleted is not None or (due > each.told and due > last):
                    each.told = None
                else:
                    each.told = max(each.told, due)
            if each.told is not None and due is not None and max(each.told, due) <= self.today:
                assert self.today - each.told_on >= NOTICE, "its owner was told in time"
                each.deleted, each.told = self.today, None
            if each.told is each.deleted is None and due is not None and due <= last and not self.is_held(pk):
                each.told, each.told_on = max(due, last), self.today
            if each.deleted is not None and each.deleted + RESTORABLE <= self.today and not self.is_held(pk):
                each.is_gone = True

    def can_be_restored(self, pk: int) -> bool:
        each = self.conversations[pk]
        return each.deleted is not None and (each.deleted + RESTORABLE > self.today or self.is_held(pk))


class World:
    """Does the same to the site and to the model."""

    def __init__(self, seed: int, settings: Any) -> None:
        self.random, self.settings, self.model = random.Random(seed), settings, Model()
        settings.RETENTION_DAYS, settings.RETENTION_NOTICE_DAYS, settings.DELETED_CONVERSATION_DAYS = (
            0,
            NOTICE,
            RESTORABLE,
        )
        self.admin = make_user("root", role="admin")
        self.users = {"alice": make_user("alice"), "rita": make_user("rita", role="reviewer")}
        self.scenarios = {name: Scenario.objects.create(name=name, offered=True) for name in ("A", "B")}
        self.holds: dict[Any, LegalHold] = {}
        for name in ("alice", "alice", "rita"):
            conversation = begin(self.users[name])
            choose_scenario(conversation, user=self.users[name], scenario_id=self.scenarios["A"].pk)
            self._write(conversation.pk)
            self.model.conversations[conversation.pk] = Modelled(name, "A", 0)

    def step(self) -> None:
        doing = [self.wait, self.wait, self.rule, self.hold, self.choose, self.touch, self.open, self.delete]
        self.random.choice([*doing, self.restore, self.remove])()
        self.sweep()
        self.check()

    # What happens

    def wait(self) -> None:
        days = self.random.choice([1, 2, 5, 7, 10, 20])
        pass_days(days)
        self.model.today += days

    def rule(self) -> None:
        name, days = self.random.choice(["site", "user", "reviewer", "A", "B"]), self.random.choice(DAYS)
        self.model.rules[name] = days
        if name == "site":
            self.settings.RETENTION_DAYS = days
            return
        whose = {"scenario": self.scenarios[name]} if name in self.scenarios else {"role": name}
        RetentionRule.objects.filter(**whose).delete()
        if days:
            RetentionRule.objects.create(**whose, days=days)

    def hold(self) -> None:
        key = self.random.choice([self.pick(), "alice", "rita"])
        if key in self.holds:
            lift_hold(self.holds.pop(key), admin=self.admin)
            self.model.held.discard(key)
            return
        what: dict[str, Any] = (
            {"user": self.users[key]} if isinstance(key, str) else {"conversation": Conversation(pk=key)}
        )
        try:
            self.holds[key] = place_hold(admin=self.admin, reason="random", **what)
        except ConversationNotFound:
            assert self.model.conversations[key].is_gone
            return
        self.model.held.add(key)
        for pk, each in self.model.conversations.items():
            if self.model.is_held(pk):
                each.told = None

    def choose(self) -> None:
        name, pk = self.random.choice("AB"), self.pick()
        if conversation := Conversation.objects.filter(pk=pk).first():
            choose_scenario(conversation, user=conversation.owner, scenario_id=self.scenarios[name].pk)
            self.model.conversations[pk].scenario = name

    def touch(self) -> None:
        pk = self.pick()
        if (each := self.model.conversations[pk]).deleted is None:
            self.random.choice([self._write, self._keep])(pk)
            each.touched, each.told = self.model.today, None

    def open(self) -> None:
        pk = self.pick()
        each = self.model.conversations[pk]
        if conversation := Conversation.objects.filter(pk=pk).first():
            try:
                find_conversation(conversation.owner, conversation.public_id)
            except ConversationNotFound:
                assert each.deleted is not None
                return
            if each.told is not None:
                each.told = max(each.told, self.model.today + 1)

    def delete(self) -> None:
        pk = self.pick()
        if (each := self.model.conversations[pk]).deleted is None:
            delete_conversation(Conversation.objects.get(pk=pk))
            each.deleted = self.model.today

    def restore(self) -> None:
        pk = self.pick()
        each, conversation = self.model.conversations[pk], Conversation.objects.filter(pk=pk).first()
        if conversation is None or each.deleted is None:
            return
        try:
            restore_conversation(user=conversation.owner, public_id=conversation.public_id)
        except ConversationNotFound:
            assert not self.model.can_be_restored(pk)
            return
        assert self.model.can_be_restored(pk)
        each.deleted, each.told, each.touched = None, None, self.model.today

    def remove(self) -> None:
        pk = self.pick()
        if conversation := Conversation.objects.filter(pk=pk).first():
            try:
                delete_permanently(conversation.owner, conversation.public_id)
            except ConversationHeld:
                assert self.model.is_held(pk)
            except ConversationNotFound:
                assert not self.model.can_be_restored(pk)
            else:
                assert self.model.can_be_restored(pk)
                assert not self.model.is_held(pk)
                self.model.conversations[pk].is_gone = True

    def sweep(self) -> None:
        sweep_retention()
        sweep_deleted_conversations()
        self.model.sweep()

    def check(self) -> None:
        now, stored = timezone.now(), {each.pk: each for each in Conversation.objects.all()}
        assert set(stored) == {pk for pk, each in self.model.conversations.items() if not each.is_gone}
        for pk, each in stored.items():
            expected = self.model.conversations[pk]
            assert self._day(each.retention_ends_at, now) == expected.told
            assert self._day(each.deleted_at, now) == expected.deleted

    def _day(self, moment: Any, now: Any) -> int | None:
        return None if moment is None else self.model.today + round((moment - now).total_seconds() / 86_400)

    def pick(self) -> int:
        return self.random.choice(list(self.model.conversations))

    def _keep(self, pk: int) -> None:
        keep_conversation(Conversation.objects.get(pk=pk))

    def _write(self, pk: int) -> None:
        conversation = Conversation.objects.get(pk=pk)
        conversation.owner = User.objects.get(pk=conversation.owner_id)
        end_reply(post(conversation, "Hello").reply.pk, COMPLETE, content="Indeed.")


@pytest.mark.parametrize("seed", range(count_cases(30)))
def test_whatever_happens_the_site_does_as_the_model_says(seed, settings):
    world = World(seed, settings)
    for _step in range(STEPS):
        world.step()

from __future__ import annotations

import pytest

from conversations.models import Scenario
from conversations.models.scenario import WITH_TOOLS
from conversations.selectors.conversations.scenarios import list_scenarios
from conversations.services.conversations.default_scenario import default_scenario
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


def test_a_person_may_choose_what_is_offered_and_what_is_theirs():
    alice, bob = make_user("alice"), make_user("bob")
    default = default_scenario()
    with_tools = Scenario.objects.get(name=WITH_TOOLS)
    offered = Scenario.objects.create(name="Offered", offered=True)
    own = Scenario.objects.create(name="Alice's", owner=alice)
    Scenario.objects.create(name="Bob's", owner=bob)
    Scenario.objects.create(name="Put away")
    assert list_scenarios(alice) == [own, offered, default, with_tools]


def test_the_default_may_always_be_chosen():
    default_scenario()
    Scenario.objects.update(offered=False)
    assert list_scenarios(make_user("alice")) == [default_scenario()]

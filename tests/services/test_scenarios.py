"""One's own scenarios: copied, and taken away without leaving a conversation behind."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from conversations.core.errors import ScenarioNotFound
from conversations.core.tools.listed_tools import ListedTool
from conversations.models import McpServer, Scenario
from conversations.services.conversations.conversations import choose_scenario
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.scenarios import scenarios
from conversations.services.scenarios.scenario_settings import check_scenario
from conversations.services.scenarios.scenarios import check_there_is_room, copy_scenario, delete_scenario
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


def own(user, name="Mine", **settings):
    return Scenario.objects.create(owner=user, name=name, **settings)


def begun_with(user, scenario):
    conversation = begin(user)
    choose_scenario(conversation, user=user, scenario_id=scenario.pk)
    return conversation


def scenario_of(conversation):
    conversation.refresh_from_db()
    return conversation.scenario


def test_a_copy_leaves_tools_behind_that_only_the_sites_scenarios_may_have(alice):
    listed = [ListedTool("add", "Adds.", {"type": "object"}).to_json()]
    McpServer.objects.create(name="sums", url="https://tools.example.org/mcp", tools=listed)
    McpServer.objects.create(name="open", url="https://tools.example.org/mcp", tools=listed, offered=True)
    tools = ["calculator", "sums__add", "sums__*", "open__*", "open__add", "gone"]
    copy = copy_scenario(alice, Scenario.objects.create(name="Guide", tools=tools, offered=True))
    assert copy.tools == ["calculator", "open__*", "open__add"]
    check_scenario(copy)


def test_a_copy_has_the_settings_and_nothing_else(alice):
    offered = Scenario.objects.create(name="Guide", system_prompt="Be brief.", cap_tokens=700, offered=True)
    copy = copy_scenario(alice, offered)
    assert (copy.pk, copy.owner, copy.offered) == (None, alice, False)
    assert (copy.system_prompt, copy.cap_tokens) == ("Be brief.", 700)


def test_its_conversations_go_on_with_the_one_that_is_chosen(alice):
    old, new = own(alice, "Old"), own(alice, "New")
    conversation = begun_with(alice, old)
    delete_scenario(user=alice, scenario_id=old.pk, successor_id=new.pk)
    assert scenario_of(conversation) == new
    assert not Scenario.objects.filter(pk=old.pk).exists()


@pytest.mark.parametrize("itself", [True, False])
def test_without_a_choice_they_go_on_with_the_default(alice, itself):
    scenario = own(alice)
    conversation = begun_with(alice, scenario)
    delete_scenario(user=alice, scenario_id=scenario.pk, successor_id=scenario.pk if itself else None)
    assert scenario_of(conversation) == default_scenario()


def test_what_can_be_brought_back_keeps_a_scenario_too(alice):
    scenario = own(alice)
    conversation = begun_with(alice, scenario)
    conversation.deleted_at = conversation.last_active_at
    conversation.save()
    delete_scenario(user=alice, scenario_id=scenario.pk)
    assert scenario_of(conversation) == default_scenario()


def test_conversations_of_others_never_go_on_with_ones_own(alice):
    bob, scenario, new = make_user("bob"), own(alice), own(alice, "New")
    conversation = begin(bob)
    type(conversation).objects.filter(pk=conversation.pk).update(scenario=scenario)
    delete_scenario(user=alice, scenario_id=scenario.pk, successor_id=new.pk)
    assert scenario_of(conversation) == default_scenario()


def test_a_reply_that_is_being_written_does_not_stand_in_the_way(alice):
    scenario = own(alice)
    posted = post(begun_with(alice, scenario), "Hello")
    delete_scenario(user=alice, scenario_id=scenario.pk)
    assert posted.reply.conversation.messages.filter(state="streaming").exists()


@pytest.mark.parametrize("whose", ["the site's", "bob's"])
def test_only_ones_own_can_be_deleted(alice, whose):
    owner = make_user("bob") if whose == "bob's" else None
    scenario = Scenario.objects.create(name="Guide", offered=owner is None, owner=owner)
    with pytest.raises(ScenarioNotFound):
        delete_scenario(user=alice, scenario_id=scenario.pk)
    scenario.refresh_from_db()


def test_another_users_can_not_be_gone_on_with(alice):
    scenario, theirs = own(alice), own(make_user("bob"))
    conversation = begun_with(alice, scenario)
    with pytest.raises(ScenarioNotFound):
        delete_scenario(user=alice, scenario_id=scenario.pk, successor_id=theirs.pk)
    assert scenario_of(conversation) == scenario


def test_one_person_has_only_so_many(alice, monkeypatch):
    monkeypatch.setattr(scenarios, "MOST_OF_ONE_PERSON", 1)
    check_there_is_room(alice)
    own(alice)
    with pytest.raises(ValidationError, match="1 scenarios"):
        check_there_is_room(alice)

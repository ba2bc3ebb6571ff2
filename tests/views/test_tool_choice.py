"""The choice of tools for a scenario, by people, admins and files."""

from __future__ import annotations

import json

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from conversations.models import Scenario
from conversations.services.scenarios.scenario_file import read_document, write_document
from conversations.services.scenarios.scenario_settings import check_scenario
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@pytest.fixture
def alice(client):
    user = make_user("alice")
    client.force_login(user, BACKEND)
    return user


@pytest.fixture
def scenario(alice):
    return Scenario.objects.create(owner=alice, name="Mine", tools=["calculator"])


def form_of(client, scenario):
    return client.get(reverse("conversations:edit_scenario", args=[scenario.pk])).content.decode()


def post_form(client, scenario, tools):
    fields = {"name": "Mine", "policy_name": "sliding", "low_water_share": "0.7", "last_messages": "20"}
    fields |= {
        "grounding_share": "0.5",
        "recall_share": "0.25",
        "summary_cap_tokens": "0",
        "sampling": "{}",
        "tools": tools,
    }
    response = client.post(reverse("conversations:edit_scenario", args=[scenario.pk]), fields)
    scenario.refresh_from_db()
    return response


def test_the_form_offers_the_built_in_tools_with_what_they_cost(client, scenario):
    page = form_of(client, scenario)
    assert 'value="calculator"' in page
    assert 'value="current_time"' in page
    assert page.count("data-tokens=") >= 2
    form = page[page.index("data-scenario-form") :].partition("</form>")[0]
    assert form.count("checked") == 2  # the calculator and the window policy


def test_chosen_tools_are_stored(client, scenario):
    assert post_form(client, scenario, ["current_time", "calculator"]).status_code == 302
    assert sorted(scenario.tools) == ["calculator", "current_time"]


def test_no_tool_can_be_chosen(client, scenario):
    post_form(client, scenario, [])
    assert scenario.tools == []


def test_a_tool_that_is_not_offered_is_refused(client, scenario):
    response = post_form(client, scenario, ["calculator", "launch_rockets"])
    assert response.status_code == 400
    assert scenario.tools == ["calculator"]


def test_a_tool_that_is_gone_stays_chosen_until_a_user_takes_it_away(client, scenario):
    Scenario.objects.filter(pk=scenario.pk).update(tools=["crm__<b>search"])
    page = form_of(client, scenario)
    assert "crm__&lt;b&gt;search" in page
    assert "Chosen earlier, but no longer available." in page
    post_form(client, scenario, ["crm__<b>search"])
    assert scenario.tools == ["crm__<b>search"]
    post_form(client, scenario, [])
    assert scenario.tools == []


@pytest.mark.parametrize("tools", [["search"], [1], [None], [["calculator"]], [{}]])
def test_what_is_no_tool_here_is_refused_in_words(tools):
    with pytest.raises(ValidationError) as refusal:
        check_scenario(Scenario(name="Mine", tools=tools))
    assert list(refusal.value.message_dict) == ["tools"]


def test_the_tools_go_with_the_file_and_come_back_from_it(alice, scenario):
    document = write_document(scenario)
    assert json.loads(document)["tools"] == ["calculator"]
    assert read_document(document.encode(), owner=alice).tools == ["calculator"]


def test_an_admin_chooses_tools_for_a_scenario_of_the_site(client):
    client.force_login(make_user("root", role="admin"), BACKEND)
    site = Scenario.objects.create(name="Everybody's", tools=["current_time"])
    page = client.get(reverse("admin:conversations_scenario_change", args=[site.pk])).content.decode()
    assert 'name="tools" value="calculator"' in page

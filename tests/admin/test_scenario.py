"""Scenarios are edited, and nonsense is refused in words."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.urls import reverse

from conversations.models import Scenario
from tests.admin.conftest import signed_in
from tests.admin.stored import make_completion, make_conversation, make_person

LIST = reverse("admin:conversations_scenario_changelist")
ADD = reverse("admin:conversations_scenario_add")
FORM = {
    "name": "Careful",
    "system_prompt": "Quote.",
    "language_model": "",
    "sampling": '{"temperature": 0.2}',
    "offered": "on",
    "policy_name": "sliding",
    "low_water_share": "0.7",
    "reply_reserve_tokens": "",
    "last_messages": "20",
    "grounding_share": "0.5",
    "recall_share": "0.25",
    "summary_cap_tokens": "1000",
}


def test_the_form_adds_up_what_the_chosen_tools_cost(admin_browser):
    page = admin_browser.get(ADD).content.decode()
    assert re.search(r'<script src="[^"]*js/admin/scenario_form[^"]*" type="module">', page)


def change(scenario: Scenario) -> str:
    return reverse("admin:conversations_scenario_change", args=[scenario.pk])


def errors_of(browser, **fields: str) -> dict[str, list[str]]:
    """Return what the form says about *fields*; nothing may be stored then."""
    before = Scenario.objects.count()
    response = browser.post(ADD, FORM | fields)
    assert response.status_code == 200
    assert Scenario.objects.count() == before
    return dict(response.context["adminform"].form.errors)


@pytest.fixture
def default(db) -> Scenario:
    Scenario.objects.filter(is_default=True).update(is_default=False)
    return Scenario.objects.create(name="Old default", is_default=True, offered=True)


def test_it_is_stored_as_written(admin_browser):
    assert admin_browser.post(ADD, FORM).status_code == 302
    scenario = Scenario.objects.get(name="Careful")
    assert scenario.sampling == {"temperature": 0.2}
    assert scenario.offered
    assert not scenario.is_default


def test_without_sampling_nothing_is_sent(admin_browser):
    assert admin_browser.post(ADD, FORM | {"sampling": ""}).status_code == 302
    assert Scenario.objects.get(name="Careful").sampling == {}


def test_a_new_default_takes_the_place_of_the_old_one(admin_browser, default):
    assert admin_browser.post(ADD, FORM | {"is_default": "on"}).status_code == 302
    assert [each.name for each in Scenario.objects.filter(is_default=True)] == ["Careful"]


def test_the_default_is_not_unset_without_another(admin_browser, default):
    response = admin_browser.post(change(default), FORM)
    assert "make another scenario the default" in str(response.context["adminform"].form.errors["is_default"])
    default.refresh_from_db()
    assert default.is_default


@pytest.mark.django_db(transaction=True)
def test_of_two_defaults_chosen_at_once_one_is_left(superuser):
    chosen = [Scenario.objects.create(name=f"Scenario {number}", offered=True) for number in range(4)]

    def choose(scenario: Scenario) -> int:
        try:
            return signed_in(superuser).post(change(scenario), FORM | {"is_default": "on"}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as admins:
        assert list(admins.map(choose, chosen)) == [302] * 4
    assert Scenario.objects.filter(is_default=True).count() == 1


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        ("[1]", "JSON object"),
        ('"text"', "JSON object"),
        ("{", "not JSON"),
        ('{"temperature": NaN}', "finite"),
        ('{"stop": "\\u0000"}', "NUL"),
        ('{"stop": "\\ud800"}', "must be text"),
        ('{"model": "dearer", "stream": false}', "model, stream"),
        ('{"a":' * 3_000 + "1" + "}" * 3_000, "nested"),
    ],
)
def test_nonsensical_sampling_is_refused_in_words(admin_browser, sampling, words):
    assert words in str(errors_of(admin_browser, sampling=sampling)["sampling"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("grounding_share", "1.5"),
        ("grounding_share", "-0.1"),
        ("grounding_share", "NaN"),
        ("recall_share", "1.01"),
        ("last_messages", "0"),
        ("cap_tokens", "0"),
        ("message_cap_tokens", "-5"),
        ("cap_tokens", "1000000000000"),
        ("cap_tokens", "1e400"),
        ("cap_tokens", "7"),
        ("reply_reserve_tokens", "-1"),
        ("reply_reserve_tokens", "4096"),
        ("reply_reserve_tokens", "4090"),
        ("low_water_share", "0"),
        ("low_water_share", "1.01"),
        ("low_water_share", "1e400"),
        ("system_prompt", "long " * 5_000),
        ("system_prompt", "x" * 2**20),
        ("policy_name", "everything"),
        ("policy_name", "os.system"),
        ("language_model", "made-up"),
        ("name", "x" * 100_000),
        ("name", "\x00"),
    ],
)
def test_nonsensical_settings_are_refused_at_their_field(admin_browser, field, value):
    assert list(errors_of(admin_browser, **{field: value})) == [field]


def test_every_wrong_field_says_so_at_once(admin_browser):
    assert set(errors_of(admin_browser, sampling="[1]", grounding_share="2")) == {"sampling", "grounding_share"}


def test_a_wrong_share_is_refused_in_words_beside_another_wrong_field(admin_browser):
    errors = errors_of(admin_browser, cap_tokens="0", grounding_share="3")
    assert errors["grounding_share"] == ["Enter a number from 0 to 1 with at most two decimals, such as 0.5."]
    assert set(errors) == {"cap_tokens", "grounding_share"}


def test_a_scenario_of_one_person_is_not_offered_to_all(admin_browser, alice):
    assert "owner" in errors_of(admin_browser, owner=str(alice.pk))


def test_a_language_model_that_is_no_longer_configured_stays_until_it_is_changed(admin_browser):
    scenario = Scenario.objects.create(name="Old", language_model="retired")
    assert "retired (not configured)" in admin_browser.get(change(scenario)).content.decode()
    assert admin_browser.post(change(scenario), FORM | {"language_model": "retired"}).status_code == 302


def test_only_an_unused_scenario_can_be_deleted(admin_browser, default, alice):
    used = make_conversation(alice).scenario
    asked = Scenario.objects.create(name="Asked")
    make_completion(alice, scenario=asked)
    unused = Scenario.objects.create(name="Unused")
    for scenario, status in ((default, 403), (used, 403), (asked, 403), (unused, 302)):
        url = reverse("admin:conversations_scenario_delete", args=[scenario.pk])
        assert admin_browser.post(url, {"post": "yes"}).status_code == status


def test_the_list_takes_the_same_queries_for_5_and_for_50(queries_for):
    for number in range(5):
        Scenario.objects.create(name=f"Scenario {number}")
    few = queries_for(LIST)
    for number in range(45):
        Scenario.objects.create(name=f"More {number}", owner=make_person(f"person{number}"))
    assert queries_for(LIST) == few <= 6


def test_a_reviewer_can_not_edit(reviewer_browser):
    scenario = Scenario.objects.create(name="Plain")
    assert reviewer_browser.post(change(scenario), FORM).status_code == 403
    scenario.refresh_from_db()
    assert scenario.name == "Plain"


@pytest.mark.parametrize("owner", ["x", "-1", "9" * 30, "1' OR '1'='1"])
def test_an_owner_that_does_not_exist_is_refused(admin_browser, owner):
    scenario = Scenario.objects.create(name="Plain")
    response = admin_browser.post(change(scenario), FORM | {"owner": owner})
    assert response.status_code == 200
    assert response.context["adminform"].form.errors["owner"]


def test_hostile_text_is_text(admin_browser):
    hostile = "</textarea><script>alert(1)</script>"
    scenario = Scenario.objects.create(name=hostile, system_prompt=hostile, sampling={"stop": hostile})
    for url in (LIST, change(scenario)):
        assert "<script>alert" not in admin_browser.get(url).content.decode()

"""Validation of a scenario's settings: one rule for pages, the admin and files."""

from __future__ import annotations

import re
import sys

import pytest
from django.core.exceptions import ValidationError

from conversations.core.errors import ToolSchemasTooLong
from conversations.core.tools.listed_tools import ListedTool
from conversations.core.window.policies import SlidingWindow
from conversations.models import McpServer, Scenario
from conversations.services.language_models.effective_policy import scenario_policy
from conversations.services.language_models.model_context import model_context
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.services.scenarios.scenario_settings import check_scenario
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
HERE = "tests.services.test_scenario_settings"


class Picky(SlidingWindow):
    """A policy of the site's own that wants more of its values."""

    name = "picky"

    def __post_init__(self):
        if self.cap_tokens is None:
            raise ValueError("cap_tokens has to be said for this policy")


class Greedy(SlidingWindow):
    name = "greedy"

    def check_it_holds_a_message(self, language_model, *, fixed_tokens=0):
        raise ValueError("this policy holds 100% of nothing")


def problem_of(**settings):
    """Return (field, sentence) of what is wrong with the settings."""
    with pytest.raises(ValidationError) as refused:
        check_scenario(Scenario(**{"name": "Mine"} | settings))
    [(field, [sentence])] = refused.value.message_dict.items()
    return field, sentence


def window_tokens(scenario):
    return model_context(scenario).language_model.context_window_tokens


def test_what_a_new_scenario_begins_with_is_good():
    check_scenario(Scenario(name="Mine"))


def test_what_was_typed_changes_the_order_of_no_word_around_it():
    for field in ("language_model", "policy_name"):
        assert "“\u2068שלום!\u2069”" in problem_of(**{field: "שלום!"})[1]
    assert "“\u2068שלום!\u2069”" in problem_of(tools=["שלום!"])[1]


def test_a_reserve_as_large_as_the_context_window_is_refused():
    field, sentence = problem_of(reply_reserve_tokens=window_tokens(Scenario()))
    assert field == "reply_reserve_tokens"
    assert f"{window_tokens(Scenario()):,} tokens" in sentence


def test_the_smallest_set_that_holds_a_message_is_the_smallest_that_is_taken():
    smallest = 3 + 4 + 1  # priming, overhead of the message, one token
    check_scenario(Scenario(name="Mine", cap_tokens=smallest))
    assert problem_of(cap_tokens=smallest - 1)[0] == "cap_tokens"
    check_scenario(Scenario(name="Mine", reply_reserve_tokens=window_tokens(Scenario()) - smallest))
    assert problem_of(reply_reserve_tokens=window_tokens(Scenario()) - smallest + 1)[0] == "reply_reserve_tokens"


def test_a_system_prompt_is_counted_and_the_tokens_over_are_said():
    prompt = "word " * 50
    tokens = model_context(Scenario()).count_text(prompt)
    needed = 3 + (4 + tokens) + (4 + 1)
    check_scenario(Scenario(name="Mine", system_prompt=prompt, cap_tokens=needed))
    field, sentence = problem_of(system_prompt=prompt, cap_tokens=needed - 6)
    assert field == "system_prompt"
    assert f"{tokens} tokens, 6 too many" in sentence


@pytest.mark.parametrize("policy_name", ["sliding", "last-n-messages", "full"])
def test_every_policy_of_ours_may_be_chosen(policy_name):
    check_scenario(Scenario(name="Mine", policy_name=policy_name))


@pytest.mark.parametrize("path", ["antigravity.fly", f"{HERE}.Picky", "os.system", "", "SLIDING"])
def test_a_policy_that_is_not_offered_is_refused_and_its_module_is_not_run(path):
    sys.modules.pop("antigravity", None)
    assert problem_of(policy_name=path)[0] == "policy_name"
    assert "antigravity" not in sys.modules


def test_a_policy_that_is_not_offered_stays_where_it_is():
    stored = Scenario.objects.create(name="Mine", policy_name=f"{HERE}.Picky", cap_tokens=500)
    check_scenario(stored)
    stored.policy_name = f"{HERE}.Greedy"
    with pytest.raises(ValidationError):
        check_scenario(stored)


def test_a_policy_of_the_site_says_itself_what_is_wrong(settings):
    settings.WINDOW_POLICIES = [f"{HERE}.Picky", f"{HERE}.Greedy"]
    assert problem_of(policy_name=f"{HERE}.Picky") == ("cap_tokens", "cap_tokens has to be said for this policy")
    assert problem_of(policy_name=f"{HERE}.Greedy") == ("policy_name", "this policy holds 100% of nothing")


@pytest.mark.parametrize("path", ["nowhere.At.All", "os.system", f"{HERE}.HERE"])
def test_an_offered_policy_that_can_not_be_loaded_is_refused_in_words(settings, path):
    settings.WINDOW_POLICIES = [path]
    field, sentence = problem_of(policy_name=path)
    assert field == "policy_name"
    assert "can’t be loaded" in sentence


def test_a_language_model_that_is_no_longer_offered_stays_where_it_is():
    check_scenario(Scenario.objects.create(name="Mine", language_model="retired"))
    field, sentence = problem_of(language_model="retired")
    assert field == "language_model"
    assert "does not offer the language model “retired”" in sentence


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"tools": ["search"]}, "tools"),
        ({"sampling": []}, "sampling"),
        ({"sampling": {"temperature": float("nan")}}, "sampling"),
        ({"sampling": {"stop": "x" * 10_000}}, "sampling"),
        ({"system_prompt": "\ud800"}, "system_prompt"),
        ({"name": "a\x00"}, "name"),
    ],
)
def test_what_can_not_be_sent_or_stored_is_refused(settings, field):
    assert problem_of(**settings)[0] == field


@pytest.mark.parametrize(
    "sampling",
    [
        {"models": ["dearer"]},  # OpenRouter answers with one of these
        {"service_tier": "priority"},
        {"web_search_options": {}},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},  # in the prompt, but never counted
        {"truncate_prompt_tokens": 10},
        {"temperature": 1, "n_predict": 10**6},
    ],
)
def test_people_may_not_set_what_costs_more_or_changes_the_prompt(sampling):
    check_scenario(Scenario(name="The site's", sampling=sampling))
    field, sentence = problem_of(sampling=sampling, owner=make_user("alice"))
    assert field == "sampling"
    assert f"can set these: {[*sampling][-1]}. Yours can set: enable_thinking, " in sentence


def test_what_the_site_has_set_stays_in_a_scenario_that_has_become_a_users():
    stored = Scenario.objects.create(name="Given", owner=make_user("alice"), sampling={"service_tier": "flex"})
    check_scenario(stored)
    stored.sampling = {"service_tier": "priority"}
    with pytest.raises(ValidationError, match="can set these: service_tier"):
        check_scenario(stored)


@pytest.fixture
def many_tools():
    """A server of the site that lists five hundred tools."""
    words = "Does one thing of many, which is told in about as many words as people use for it."
    parameters = {"type": "object", "properties": {"what": {"type": "string", "description": words}}}
    listed = [ListedTool(f"tool_{number}", words, parameters) for number in range(500)]
    url = "https://tools.example.org/mcp"
    return McpServer.objects.create(name="many", url=url, offered=True, tools=[tool.to_json() for tool in listed])


def test_tools_that_leave_no_room_are_refused_by_how_much_they_take(many_tools):
    field, sentence = problem_of(tools=[f"many__{tool['name']}" for tool in many_tools.tools])
    assert field == "tools"
    tokens, over, limit = (int(number.replace(",", "")) for number in re.findall(r"\b\d[\d,]*\d\b", sentence))
    assert tokens > 20_000
    assert over == tokens + 3 + 4 + 1 - limit


def test_a_few_of_them_are_taken(many_tools):
    check_scenario(Scenario(name="Mine", tools=["many__tool_1", "many__tool_2"]))


def test_all_tools_of_a_server_are_taken_by_one_name(many_tools):
    McpServer.objects.update(tools=many_tools.tools[:5])
    check_scenario(Scenario(name="Mine", tools=["calculator", "many__*"]))
    McpServer.objects.update(offered=False)
    check_scenario(Scenario(name="The site's", tools=["many__*"]))
    field, _ = problem_of(tools=["many__*"], owner=make_user("alice"))
    assert field == "tools"


def test_a_system_prompt_beside_which_the_tools_do_not_fit_leaves_the_blame_with_them(many_tools):
    tools = [f"many__tool_{number}" for number in range(10)]
    check_scenario(Scenario(name="Mine", tools=tools, system_prompt="word " * 1_000))
    field, _ = problem_of(tools=tools, system_prompt="word " * 2_900)
    assert field == "tools"


def test_tools_that_have_grown_since_are_refused_when_a_user_posts(many_tools):
    Scenario.objects.create(name="Mine", offered=True, is_default=True, tools=["many__*"])
    conversation = begin(make_user("alice"))
    with pytest.raises(ToolSchemasTooLong) as refused:
        post(conversation, "Hello")
    assert refused.value.tokens_over > 10_000
    assert not conversation.messages.exists()
    estimate = estimate_draft(user=conversation.owner, conversation=conversation, content="Hello")
    assert (type(estimate.error), estimate.tokens_over) == (ToolSchemasTooLong, refused.value.tokens_over)


def test_a_system_prompt_may_be_no_longer_than_a_message():
    prompt = "word " * 40
    tokens = model_context(Scenario()).count_text(prompt)
    check_scenario(Scenario(name="Mine", system_prompt=prompt, message_cap_tokens=tokens))
    field, sentence = problem_of(system_prompt=prompt, message_cap_tokens=tokens - 1)
    assert field == "system_prompt"
    assert f"has {tokens} tokens, 1 more than" in sentence


def test_a_policy_of_ours_is_made_once_for_the_same_values():
    """Each window asks for it. One of the site's own is made again each time: it may keep what it likes."""
    scenario = Scenario(name="Mine", policy_name="sliding", cap_tokens=500)
    policy = scenario_policy(scenario)
    assert scenario_policy(Scenario(name="Another", policy_name="sliding", cap_tokens=500)) is policy
    scenario.cap_tokens = 600
    assert scenario_policy(scenario).cap_tokens == 600
    own = Scenario(name="Own", policy_name=f"{HERE}.Picky", cap_tokens=500)
    assert scenario_policy(own) is not scenario_policy(own)

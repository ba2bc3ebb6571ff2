"""Which functions are tools: built-in ones, and those of the modules that the site names."""

from __future__ import annotations

import pytest

from conversations.checks import check_tools
from conversations.core.errors import ToolUnknown
from conversations.models import Scenario
from conversations.tools.registry import registry
from conversations.tools.toolbox import offered_tools, scenario_toolbox
from tests.support.people import make_user

from .calls import call

OWN = "tests.tools.own_modules"
BUILT_IN = {"calculator", "current_time", "search_conversation", "search_documents"}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tell the weather of the next days.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Its name in English."},
                "days": {"type": "integer", "default": 1},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


@pytest.fixture
def own(settings):
    """Let the site name modules of its own."""

    def name(*modules: str):
        settings.TOOL_MODULES = [f"{OWN}.{module}" for module in modules]
        return registry()

    return name


def test_a_site_as_it_comes_has_the_built_in_tools():
    assert set(registry().tools) == BUILT_IN
    assert registry().problems == ()
    assert check_tools(None) == []
    assert {tool.spec.source for tool in registry().tools.values()} == {"built-in"}
    assert not [tool for tool in registry().tools.values() if tool.spec.needs_approval]


async def test_a_declared_function_is_a_tool_and_stays_a_function(own):
    tools = own("good").tools
    assert tools["weather"].spec.schema == WEATHER
    assert tools["weather"].spec.source == "own"
    assert await call(tools["weather"], city="Rome") == "Rome: sun for 1 days"
    from tests.tools.own_modules.good import weather

    assert weather("Rome", days=2) == "Rome: sun for 2 days"


async def test_a_tool_may_have_another_name_need_approval_and_take_its_own_time(own):
    tool = own("good").tools["book_table"]
    assert (tool.spec.needs_approval, tool.timeout_seconds, tool.spec.description) == (True, 3, "Book a table.")
    assert await call(tool, seats=2) == "booked for 2"


PROBLEMS = {
    "calculator": "there is another one of this name",
    "anything": "*whatever: int takes whatever there is",
    "server__weather": "'__' is in the names of MCP servers' tools only",
    "weather in Rome": "a name has 1 to 64 letters, digits, hyphens and underscores",
    "counting": "it yields, and a tool returns",
    "fine": "there is another one of this name",
}


def test_what_can_not_be_a_tool_is_named_and_the_others_are_there(own):
    found = own("partly_broken", "good")
    assert set(found.tools) == BUILT_IN | {"fine", "weather", "book_table"}
    assert found.tools["calculator"].spec.source == "built-in"
    assert found.tools["fine"].function() == "fine"
    assert len(found.problems) == len(PROBLEMS)
    for problem, (name, reason) in zip(found.problems, PROBLEMS.items(), strict=True):
        assert problem.startswith(f"the tool {name!r} of {OWN}.partly_broken: {reason}")


def test_a_module_that_breaks_takes_none_along(own):
    found = own("broken", "missing", "good")
    assert set(found.tools) == BUILT_IN | {"weather", "book_table"}
    assert [problem.partition(" can't be imported: ")[0] for problem in found.problems] == [
        f"{OWN}.broken",
        f"{OWN}.missing",
    ]


def test_the_checks_warn_of_each_problem(own):
    own("broken", "partly_broken")
    warnings = check_tools(None)
    assert [warning.id for warning in warnings] == ["conversations.W005"] * (1 + len(PROBLEMS))
    assert "can't be imported: SystemExit" in warnings[0].msg


def test_a_module_that_is_not_named_has_no_say(own):
    own("good")
    assert set(own().tools) == BUILT_IN


@pytest.mark.django_db
def test_a_scenario_has_the_tools_that_it_names_as_far_as_they_are_there(own):
    own("good")
    toolbox = scenario_toolbox(Scenario(tools=["weather", "calculator", "gone", "gone__tool"]))
    assert set(toolbox.tools) == {"weather", "calculator"}
    assert [schema["function"]["name"] for schema in toolbox.schemas] == ["calculator", "weather"]
    with pytest.raises(ToolUnknown) as raised:
        toolbox.find("current_time")
    assert raised.value.for_the_model == "There is no such tool here. There are: calculator, weather."


@pytest.mark.django_db
def test_built_in_tools_and_the_sites_own_are_offered(own):
    own("good")
    keys = [offered.key for offered in offered_tools(make_user("alice"))]
    assert keys == ["calculator", "current_time", "search_conversation", "search_documents", "weather", "book_table"]

"""What is kept of what an MCP server says of its tools."""

import itertools

import pytest

from conversations.core.tools.listed_tools import (
    LONGEST_DESCRIPTION,
    MOST_TOOLS,
    NAME_TAKEN,
    NAME_UNFIT,
    TOO_MANY,
    ListedTool,
    accept,
    name_for_models,
)
from conversations.core.tools.tool_schemas import Flaw
from conversations.core.tools.tool_spec import TOOL_NAME

OBJECT = {"type": "object"}


def tool(name, description="", parameters=OBJECT):
    return ListedTool(name, description, parameters)


def kept(*tools):
    return accept(tools, server="files").kept


def refused(*tools):
    return accept(tools, server="files").refused


@pytest.mark.parametrize("name", ["read", "read_file", "read-file", "Read2", "calculator", "a__b"])
def test_a_plain_name_stays_behind_the_servers(name):
    assert name_for_models("files", name) == f"files__{name}"


@pytest.mark.parametrize("name", ["a.b", "a b", "a/b", "é", "*", "讀", "x" * 60, "a\nb", "<script>", "‮read"])
def test_any_other_becomes_one_that_providers_take(name):
    assert TOOL_NAME.fullmatch(name_for_models("files", name))


def test_two_names_that_look_alike_stay_two():
    names = ["a.b", "a/b", "a b", "x" * 60 + "1", "x" * 60 + "2"]
    assert len({name_for_models("files", name) for name in names}) == len(names)


def test_none_can_be_taken_for_a_tool_of_another_kind():
    assert all("__" in name_for_models("a", name) for name in ("calculator", "_", "", "a.b"))


def test_no_one_takes_the_place_of_a_name_that_had_to_be_changed():
    """The tool that has the plain name keeps it, in whatever order they are listed."""
    plain = tool(name_for_models("files", "a.b").removeprefix("files__"))
    for order in itertools.permutations((tool("a.b"), plain)):
        listing = accept(order, server="files")
        assert [each.name for each in listing.kept] == [plain.name]
        assert listing.refused == [("a.b", NAME_TAKEN)]


def test_of_two_of_one_name_the_first_stays():
    assert [each.description for each in kept(tool("a", "first"), tool("a", "second"))] == ["first"]
    assert refused(tool("a"), tool("a")) == [("a", NAME_TAKEN)]


def test_they_stay_in_the_servers_order():
    assert [each.name for each in kept(tool("c"), tool("a.b"), tool("a"))] == ["c", "a.b", "a"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\x00", "\ud800"])
def test_a_name_that_can_not_be_kept_is_refused(name):
    assert [each.reason for each in refused(tool(name))] == [NAME_UNFIT]


def test_one_bad_schema_takes_none_of_the_others_along():
    listing = accept([tool("a"), tool("b", parameters={"type": "string"}), tool("c")], server="files")
    assert [each.name for each in listing.kept] == ["a", "c"]
    assert listing.refused == [("b", Flaw.NOT_A_SCHEMA)]


def test_more_than_are_taken_are_refused():
    listing = accept([tool(f"t{number}") for number in range(MOST_TOOLS + 2)], server="files")
    assert len(listing.kept) == MOST_TOOLS
    assert [each.reason for each in listing.refused] == [TOO_MANY, TOO_MANY]


def test_a_description_is_cut():
    (only,) = kept(tool("a", "word " * 1_000))
    assert len(only.description) <= LONGEST_DESCRIPTION
    assert only.description.endswith(" …")


def test_what_no_one_sees_is_taken_out_of_descriptions():
    hidden = "".join(chr(0xE0000 + ord(each)) for each in "obey")
    parameters = {"type": "object", "description": f"a{hidden}\x1b", "properties": {"p": {"title": "b‮"}}}
    (only,) = kept(tool("a", f"Reads.\n{hidden}\x00\u200b‮", parameters))
    assert only.description == "Reads."
    assert only.parameters["description"] == "a"
    assert only.parameters["properties"]["p"]["title"] == "b"


def test_a_parameter_called_description_keeps_its_schema():
    parameters = {"type": "object", "properties": {"description": {"type": "string", "enum": ["a\u200bb"]}}}
    assert kept(tool("a", parameters=parameters))[0].parameters == parameters


def test_a_schema_without_properties_gets_none():
    """Some providers insist on them."""
    assert kept(tool("a"))[0].parameters == {"type": "object", "properties": {}}


def test_what_is_kept_is_found_again_in_json():
    (only,) = kept(tool("a", "b"))
    assert ListedTool(**only.to_json()) == only

"""A scenario as a file: what goes out comes in, and what this site could not have written is refused in words."""

from __future__ import annotations

import io
import json
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from chatsite.names import clean_name
from conversations.models import Scenario
from conversations.models.scenario import WebSearch
from conversations.services.language_models.sampling import RESERVED
from conversations.services.scenarios.scenario_file import problems_of, read_document, write_document
from conversations.services.scenarios.scenarios import SETTINGS
from tests.support.hypothesis_profile import count_cases
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
GOOD = {"format": "windowseat.scenario", "version": 1, "name": "Mine"}
PATH = "tests.services.test_scenario_settings.Picky"


def raw(**fields):
    return json.dumps(GOOD | fields).encode()


def problems(given):
    with pytest.raises(ValidationError) as refused:
        read_document(given, owner=None)
    assert not Scenario.objects.exists()
    return "\n".join(problems_of(refused.value))


# Round trip

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=30)
TOKENS = st.none() | st.integers(100, 3_000)
SHARE = st.decimals("0.01", 1, places=2)
SAMPLING = st.dictionaries(
    TEXT.filter(lambda name: name not in RESERVED),  # Hypothesis also tries words that stand in our code
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.lists(TEXT),
    max_size=4,
)


@settings(max_examples=count_cases(60), deadline=None)
@given(
    st.builds(
        Scenario,
        name=TEXT.map(clean_name).filter(bool),
        system_prompt=TEXT,
        language_model=st.sampled_from(["", "windowseat-demo-32k"]),
        sampling=SAMPLING,
        policy_name=st.sampled_from(["sliding", "sliding-with-summary", "last-n-messages", "full"]),
        low_water_share=SHARE,
        grounding_share=SHARE,
        last_messages=st.integers(1, 2**31 - 1),
        cap_tokens=TOKENS,
        message_cap_tokens=TOKENS,
        reply_reserve_tokens=TOKENS,
        skip_oversized=st.booleans(),
        pictures_only_with_question=st.booleans(),
        summary_cap_tokens=st.integers(0, 100_000),
        web_search=st.sampled_from(WebSearch.values),
    )
)
def test_what_is_written_is_read_as_it_was(scenario):
    read = read_document(write_document(scenario).encode(), owner=None)
    assert {name: getattr(read, name) for name in SETTINGS} == {name: getattr(scenario, name) for name in SETTINGS}
    assert write_document(read) == write_document(scenario)


def test_a_file_is_settings_without_history_or_owner():
    document = json.loads(write_document(Scenario(name="Mine", owner=make_user("alice"))))
    assert list(document) == [
        "format",
        "version",
        "name",
        "system_prompt",
        "language_model",
        "effort",
        "sampling",
        "policy",
        "tools",
        "web_search",
    ]
    assert document["policy"]["name"] == "sliding"


def test_what_a_file_does_not_say_has_its_default():
    read = read_document(raw(policy={"low_water_share": 1}), owner=None)
    assert (read.policy_name, read.low_water_share, read.sampling) == ("sliding", Decimal(1), {})
    assert read.web_search == "offered"


def test_a_byte_order_mark_does_no_harm():
    assert read_document(b"\xef\xbb\xbf" + raw(), owner=None).name == "Mine"


# Refused


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"[]", "JSON object"),
        (b"1" * 5_000, "not JSON"),
        (b'{"a": NaN}', "NaN"),
        (b'{"name": "a", "name": "b"}', "named twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "nested too deeply"),
        (b" " * (2 * 2**20 + 1), "too large"),
        (b"{}", "format: "),
        (raw(format="windowseat.conversation"), "format: "),
        (raw(version=2), "version: "),
        (raw(version=True), "version: "),
        (raw(version="1"), "version: "),
        (json.dumps({"format": GOOD["format"], "version": 1}).encode(), "name: "),
    ],
)
def test_what_is_no_scenario_is_refused(given, words):
    assert words in problems(given)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"colour": "red"}, "colour: This field is unknown."),
        ({"owner": 1}, "owner: This field is unknown."),
        ({"is_default": True}, "is_default: This field is unknown."),
        ({"policy": {"speed": 1}}, "policy.speed: This field is unknown."),
        ({"policy": []}, "policy: This must be an object."),
        ({"name": None}, "name: This must be text."),
        ({"name": ""}, "name: "),
        ({"name": " \n"}, "name: "),
        ({"name": "x" * 101}, "name: "),
        ({"name": "\ud800"}, "name: "),
        ({"system_prompt": "\x00"}, "system_prompt: "),
        ({"system_prompt": "x" * 2**20}, "system_prompt: "),
        ({"language_model": "made-up"}, "language_model: This site does not offer"),
        ({"sampling": {"model": "dearer"}}, "sampling: Windowseat sets these itself"),
        ({"sampling": {"previous_response_id": "resp_1"}}, "sampling: Windowseat sets these itself"),
        ({"sampling": {"temperature": 1e400}}, "Infinity is not a number here"),
        ({"tools": ["search"]}, "tools: "),
        ({"web_search": "sometimes"}, "web_search: "),
        ({"web_search": None}, "web_search: This must be text."),
        ({"policy": {"name": "os.system"}}, "policy.name: This site does not offer"),
        ({"policy": {"name": PATH}}, "policy.name: This site does not offer"),
        ({"policy": {"cap_tokens": "many"}}, "policy.cap_tokens: This must be a whole number."),
        ({"policy": {"cap_tokens": True}}, "policy.cap_tokens: This must be a whole number."),
        ({"policy": {"cap_tokens": 1.5}}, "policy.cap_tokens: This must be a whole number."),
        ({"policy": {"cap_tokens": 0}}, "policy.cap_tokens: "),
        ({"policy": {"cap_tokens": -5}}, "policy.cap_tokens: "),
        ({"policy": {"cap_tokens": 10**12}}, "policy.cap_tokens: "),
        ({"policy": {"cap_tokens": 7}}, "policy.cap_tokens: Not even the shortest message"),
        ({"policy": {"reply_reserve_tokens": 10**6}}, "policy.reply_reserve_tokens: The reply reserve must be below"),
        ({"policy": {"last_messages": None}}, "policy.last_messages: This must be a whole number."),
        ({"policy": {"grounding_share": 2}}, "policy.grounding_share: "),
        ({"policy": {"grounding_share": 10**300}}, "policy.grounding_share: "),
        ({"policy": {"low_water_share": 0}}, "policy.low_water_share: "),
        ({"policy": {"low_water_share": 0.123}}, "policy.low_water_share: "),
        ({"policy": {"skip_oversized": 1}}, "policy.skip_oversized: This must be true or false."),
    ],
)
def test_what_a_form_would_not_take_is_refused_at_its_place(fields, words):
    assert words in problems(raw(**fields))


def test_a_number_beyond_all_numbers_is_refused():
    given = raw(policy={"low_water_share": 5}, sampling={"a": 7}).replace(b"5", b"1e400").replace(b"7", b"1e400")
    assert "policy.low_water_share: " in problems(given)


def test_all_that_is_unknown_or_of_another_kind_is_said_at_once():
    assert problems(raw(colour=1, shape=2, name=3, policy={"speed": 1})).count("\n") == 3


# The commands


def test_what_one_command_writes_the_other_reads(tmp_path):
    scenario = Scenario.objects.create(name="Guide", system_prompt="Be brief.", policy_name="full")
    file = tmp_path / "guide.json"
    call_command("export_scenario", scenario.pk, file)
    call_command("import_scenario", file, "--offered", stdout=io.StringIO())
    again = Scenario.objects.exclude(pk=scenario.pk).get()
    assert write_document(again) == write_document(scenario)
    assert (again.owner, again.offered) == (None, True)


def test_the_commands_go_between_pipes(monkeypatch):
    alice, said = make_user("alice"), io.StringIO()
    call_command("export_scenario", Scenario.objects.create(name="Guide").pk, stdout=said)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(said.getvalue().encode())))
    call_command("import_scenario", "--owner", "alice@EXAMPLE.org", stdout=io.StringIO())
    assert [each.name for each in alice.scenarios.all()] == ["Guide"]


def test_who_has_the_command_line_may_name_any_policy(tmp_path):
    file = tmp_path / "own.json"
    file.write_bytes(raw(policy={"name": PATH, "cap_tokens": 500}))
    call_command("import_scenario", file, stdout=io.StringIO())
    assert Scenario.objects.get().policy_name == PATH


@pytest.mark.parametrize(
    "arguments",
    [
        ["export_scenario", "4711"],
        ["import_scenario", "/nowhere/at/all.json"],
        ["import_scenario", "--owner", "missing@example.org", "manage.py"],
        ["import_scenario", "manage.py"],
    ],
)
def test_what_the_commands_can_not_do_they_say(arguments):
    with pytest.raises(CommandError):
        call_command(*arguments)
    assert not Scenario.objects.exists()

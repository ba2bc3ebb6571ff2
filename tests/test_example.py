"""The made-up schedule is one that a conference could have, and large enough to be cut."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

from conversations.example import CAP_TOKENS, SCHEDULE
from conversations.providers.tokens.tokenizer import count_text

TALKS = json.loads(SCHEDULE.read_text(encoding="utf-8"))
FIELDS = ["id", "title", "type", "speakers", "track", "room", "day", "start", "minutes", "level", "abstract"]


def span(talk):
    """Return the first minute of a talk and the one after its last, from midnight on."""
    hours, minutes = map(int, talk["start"].split(":"))
    start = hours * 60 + minutes
    return start, start + talk["minutes"]


def at_the_same_time(one, other):
    (start, end), (other_start, other_end) = span(one), span(other)
    return one["day"] == other["day"] and start < other_end and other_start < end


def is_listed_twice(one, other):
    """Tell whether two records are one talk in two tracks, as a list that was put together has some."""
    own = ("id", "track")
    return all((one[field] == other[field]) == (field not in own) for field in FIELDS)


def test_every_talk_has_the_same_fields_and_an_id_of_its_own():
    assert all(list(talk) == FIELDS for talk in TALKS)
    assert [talk["id"] for talk in TALKS] == [f"T{number:02}" for number in range(1, len(TALKS) + 1)]


def test_no_two_talks_share_a_room_or_a_speaker_at_the_same_time():
    for one, other in combinations(TALKS, 2):
        shared = one["room"] == other["room"] or set(one["speakers"]) & set(other["speakers"])
        clash = shared and at_the_same_time(one, other)
        assert not clash or is_listed_twice(one, other), (one["id"], other["id"])


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk["id"])
def test_a_talk_is_one_passage_of_the_usual_size(talk):
    assert 120 <= count_text("o200k_base")(json.dumps(talk, ensure_ascii=False, indent=0)) <= 300


def test_two_talks_are_given_twice_and_two_are_listed_in_two_tracks():
    pairs = [(one, other) for one, other in combinations(TALKS, 2) if one["abstract"] == other["abstract"]]
    assert [is_listed_twice(*pair) for pair in pairs] == [False, True, True, False]
    assert all(one["title"] == other["title"] for one, other in pairs)


def test_those_about_mobile_are_more_than_a_prompt_can_hold():
    about_mobile = [json.dumps(talk, ensure_ascii=False) for talk in TALKS if "mobile" in json.dumps(talk).lower()]
    assert len(about_mobile) > 20
    assert sum(map(count_text("o200k_base"), about_mobile)) > CAP_TOKENS

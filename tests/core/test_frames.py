"""Frames: what is sent is what is read, and no nonsense does more than raise `FrameError`."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.errors import FrameError
from conversations.core.frames.definitions import (
    FROM_PAGE,
    FROM_SERVER,
    ConversationFrame,
    ConversationSync,
    ErrorFrame,
    MessagePost,
    PageFrame,
)
from conversations.core.frames.frame import LARGEST_INTEGER, Frame, parse_frame
from tests.support.hypothesis_profile import count_cases

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)  # surrogates too
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.uuids().map(str)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(ANY_TEXT, st.integers() | ANY_TEXT, max_size=2)
VALUES = {
    int: st.integers(0, LARGEST_INTEGER),
    str: ANY_TEXT,
    bool: st.booleans(),
    uuid.UUID: st.uuids(),
    uuid.UUID | None: st.none() | st.uuids(),
    int | None: st.none() | st.integers(0, LARGEST_INTEGER),
    Mapping[str, Any]: OBJECTS,
    tuple[Mapping[str, Any], ...]: st.lists(OBJECTS, max_size=2).map(tuple),
    tuple[int, ...]: st.lists(st.integers(0, LARGEST_INTEGER), max_size=2).map(tuple),
    tuple[int, ...] | None: st.none() | st.lists(st.integers(0, LARGEST_INTEGER), max_size=2).map(tuple),
    tuple[uuid.UUID, ...]: st.lists(st.uuids(), max_size=2).map(tuple),
}
POST = MessagePost(uuid.UUID(int=1), uuid.UUID(int=2), "hello")
KNOWN = FROM_PAGE | FROM_SERVER


def frames_of(frame_class):
    """Return a strategy for frames of one class; a field of an unforeseen type fails here, to be looked at."""
    hints = get_type_hints(frame_class)
    return st.builds(frame_class, **{field.name: VALUES[hints[field.name]] for field in fields(frame_class)})


def by_json(frame):
    return json.loads(json.dumps(frame.to_dict()))


def is_refused(decoded, known=FROM_PAGE):
    """Return whether *decoded* is refused, as it must be unless it is a frame of *known*."""
    try:
        frame = parse_frame(decoded, known)
    except FrameError:
        return True
    assert type(frame) is known[decoded["type"]]
    assert by_json(frame).keys() >= decoded.keys()
    return False


@pytest.mark.parametrize("frame_class", KNOWN.values(), ids=KNOWN)
def test_every_frame_arrives_as_it_was_sent(frame_class):
    known = FROM_PAGE if frame_class.type in FROM_PAGE else FROM_SERVER

    @settings(max_examples=count_cases(40))
    @given(frames_of(frame_class))
    def arrives(frame):
        assert parse_frame(by_json(frame), known) == frame

    arrives()


def test_every_frame_is_known_to_exactly_one_side_and_named_noun_verb():
    assert not FROM_PAGE.keys() & FROM_SERVER.keys()
    defined = {
        frame_class.type for base in (Frame, ConversationFrame, PageFrame) for frame_class in base.__subclasses__()
    }
    assert set(KNOWN) == defined - {PageFrame.type}
    assert all(name == "error" or name.count(".") == 1 for name in KNOWN)


def test_a_page_may_not_send_what_only_the_server_says():
    with pytest.raises(FrameError):
        parse_frame(ErrorFrame("code", "message").to_dict(), FROM_PAGE)


@settings(max_examples=count_cases(500))
@given(JSON)
def test_random_json_is_refused_and_nothing_worse(decoded):
    assert is_refused(decoded)


@settings(max_examples=count_cases(500))
@given(st.sampled_from(list(KNOWN)), st.data())
def test_random_fields_are_refused_and_nothing_worse(frame_type, data):
    names = [field.name for field in fields(KNOWN[frame_type])]
    decoded = data.draw(st.dictionaries(st.sampled_from(names) | ANY_TEXT, JSON, max_size=6))
    is_refused(decoded | {"type": frame_type}, FROM_PAGE)
    is_refused(decoded | {"type": frame_type}, FROM_SERVER)


@settings(max_examples=count_cases(500))
@given(st.sampled_from(list(FROM_PAGE)).flatmap(lambda name: frames_of(FROM_PAGE[name])), st.data())
def test_one_wrong_field_is_refused_or_makes_a_valid_frame(frame, data):
    decoded = by_json(frame)
    decoded[data.draw(st.sampled_from(sorted(decoded)))] = data.draw(JSON)
    is_refused(decoded)


@pytest.mark.parametrize(
    "wrong", [True, False, -1, LARGEST_INTEGER + 1, 10**400, 1.0, float("nan"), "1", None, [], [1], {}]
)
def test_a_position_is_a_whole_number_that_a_page_can_hold(wrong):
    decoded = by_json(ConversationSync(uuid.UUID(int=1), 0)) | {"from_position": wrong}
    with pytest.raises(FrameError) as refused:
        parse_frame(decoded, FROM_PAGE)
    assert refused.value.detail == "from_position"


@pytest.mark.parametrize("wrong", [None, "", "x", 1, 1.5, True, [], {}, "1" * 1_000_000, "\ud800" * 32, "é" * 32])
def test_an_id_is_the_text_of_a_uuid(wrong):
    with pytest.raises(FrameError) as refused:
        parse_frame(by_json(POST) | {"client_id": wrong}, FROM_PAGE)
    assert refused.value.detail == "client_id"


@pytest.mark.parametrize("wrong", [None, 1, True, ["hello"], {"text": "hello"}])
def test_content_is_text(wrong):
    with pytest.raises(FrameError):
        parse_frame(by_json(POST) | {"content": wrong}, FROM_PAGE)


@pytest.mark.parametrize("content", ["", "x" * 1_000_000, "\x00", "\ud800", "<|endoftext|>"])
def test_any_text_is_content_to_a_frame(content):
    """Whether it can be sent is decided where it is cleaned and counted."""
    assert parse_frame(by_json(POST) | {"content": content}, FROM_PAGE).content == content


@pytest.mark.parametrize("missing", ["type", "conversation", "client_id", "content"])
def test_a_missing_field_is_named(missing):
    decoded = by_json(POST)
    del decoded[missing]
    with pytest.raises(FrameError) as refused:
        parse_frame(decoded, FROM_PAGE)
    assert refused.value.detail == missing


def test_a_field_too_many_is_named_in_few_words():
    with pytest.raises(FrameError) as refused:
        parse_frame(by_json(POST) | {"x" * 1_000_000: 1, "y": 2}, FROM_PAGE)
    assert refused.value.detail.startswith("unexpected: xxx")
    assert len(refused.value.detail) < 150


@pytest.mark.parametrize("wrong", [None, {}, "text", 1, [1], ["text"], [None], [[]]])
def test_a_snapshot_holds_messages_and_nothing_else(wrong):
    snapshot = {"type": "conversation.snapshot", "conversation": str(uuid.uuid4()), "from_position": 0, "title": ""}
    assert is_refused(
        snapshot
        | {"messages": wrong, "window": {}, "costs": "", "model_key": "", "live": True}
        | {"awaiting_approval": [], "writing": []},
        FROM_SERVER,
    )
    assert not is_refused(
        snapshot
        | {"messages": [{}], "window": {}, "costs": "", "model_key": "", "live": True}
        | {"awaiting_approval": [], "writing": []},
        FROM_SERVER,
    )


@pytest.mark.parametrize("wrong", [None, {}, "text", [1], ["text"], [None], [[]]])
@pytest.mark.parametrize(("field", "other"), [("awaiting_approval", "writing"), ("writing", "awaiting_approval")])
def test_a_snapshot_says_by_their_ids_which_conversations_await_approval_or_are_written(wrong, field, other):
    known = {"conversation": str(uuid.uuid4()), "from_position": 0, "title": "", "messages": [], "window": {}}
    snapshot = {"type": "conversation.snapshot", "costs": "", "model_key": "", "live": True, **known}
    assert is_refused(snapshot | {field: wrong, other: []}, FROM_SERVER)
    assert not is_refused(snapshot | {field: [str(uuid.uuid4())], other: []}, FROM_SERVER)


def test_a_deeply_nested_frame_is_refused():
    nested = json.loads("[" * 900 + "]" * 900)
    assert is_refused(nested)
    assert is_refused(by_json(POST) | {"content": nested})

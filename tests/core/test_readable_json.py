from __future__ import annotations

import json

import pytest

from conversations.core.text.readable_json import readable_json
from tests.support.cpu_time import cpu_time_under


def test_each_member_has_a_line():
    laid_out = '{\n  "to": [\n    "bob",\n    2\n  ],\n  "copy": {}\n}'
    assert readable_json('{"to":["bob",2],"copy":{}}') == laid_out


def test_a_key_that_comes_twice_is_shown_twice():
    assert readable_json('{"to": "bob", "to": "mallory"}').count('"to"') == 2


@pytest.mark.parametrize("number", ["1e999", "0.1000000000000000055", "-0", "1E2", "NaN", "1234567890" * 3])
def test_a_number_stays_as_it_was_written(number):
    assert readable_json(f'{{"amount":{number}}}') == f'{{\n  "amount": {number}\n}}'


def test_letters_stand_in_place_of_escapes_for_them():
    assert "rm -rf 中" in readable_json(r'{"command": "\u0072m -rf \u4e2d"}')


def test_what_nothing_can_be_written_for_stays_an_escape():
    shown = readable_json(r'{"a": "\ud800", "b": "\u0000 \ud83d\ude00"}')
    assert shown.encode()
    assert all(each in shown for each in (r"\ud800", r"\u0000", "😀"))


@pytest.mark.parametrize("text", ["", "{", "send it to bob", '{"a": 1} {"b": 2}', "[" * 100_000])
def test_what_is_not_json_is_shown_as_it_is(text):
    assert readable_json(text) == text


@pytest.mark.parametrize("value", [{}, [], "x", 1, None, {"a": [{"b": 'say "no": {,}'}, [], True]}, [[["\\"]]]])
def test_it_says_the_same(value):
    assert json.loads(readable_json(json.dumps(value))) == value


def test_what_is_nested_deeply_stays_short():
    with cpu_time_under(20):
        assert len(readable_json("[" * 900 + "]" * 900)) < 900 * 2 * 30

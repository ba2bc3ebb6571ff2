"""What may stand in an address as an id."""

from __future__ import annotations

import pytest

from conversations.admin.object_ids import id_in


@pytest.mark.parametrize(("text", "expected"), [("7", 7), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_digits_are_an_id(text, expected):
    assert id_in(text) == expected


@pytest.mark.parametrize("text", ["", "-1", "+1", "1.0", " 1", "1_0", "x", "٣", "²", "9" * 19, "9" * 5_000])
def test_nothing_else_is(text):
    assert id_in(text) is None

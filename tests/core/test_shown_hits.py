"""What pages before have shown fits into an address, and nothing but that is read from one."""

from __future__ import annotations

import random

import pytest

from conversations.core.text.shown_hits import MOST_CHARACTERS, MOST_SHOWN, ShownHits, read_shown, write_shown


@pytest.mark.parametrize("have_typos", [True, False])
def test_it_is_read_as_it_was_written(have_typos):
    drawn = random.Random(1)
    for count in (0, 1, 2, 50, MOST_SHOWN):
        shown = ShownHits(frozenset(drawn.sample(range(1, 10**9), count)), have_typos)
        written = write_shown(shown)
        assert read_shown(written) == shown
        assert len(written) <= 7 * count + 1


@pytest.mark.parametrize(
    "written",
    ["", "x", "wé", "w=", "wgA", "w" + "_" * 40, "w" + "A" * (MOST_CHARACTERS + 1), "w" + "AQEB" * MOST_SHOWN],
)
def test_anything_else_is_refused(written):
    with pytest.raises(ValueError):  # noqa: PT011  # whatever is wrong with it
        read_shown(written)

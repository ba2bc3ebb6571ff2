"""The offsets of a streaming reply, as the browser computes them: pieces twice, late, never, in any order."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page

CASES = 300
ALPHABET = "ab \n*é的😀🧑‍🚀"
APPLY = """async (cases) => {
  const { ReplyText } = await import("/static/js/reply_text.js");
  return cases.map(({ pieces, snapshot }) => {
    let text = new ReplyText({ tailAt: 0, tail: "" });
    const blocks = [];
    const show = (change) => blocks.push(...change.blocks);
    for (const piece of pieces) {
      show("html" in piece ? text.takeBlock(piece.at, piece.end, piece.html) : text.takeText(piece.at, piece.text));
    }
    const stateOf = ({ length, tail, tailAt, hasGap }, blocks) => ({ length, tail, tailAt, gap: hasGap, blocks });
    const before = stateOf(text, blocks.join(""));
    if (!snapshot || !text.isBehind(snapshot)) {
      return { before };
    }
    const merged = text.mergedInto(snapshot);
    return { before, after: stateOf(merged.text, snapshot.html + merged.change.blocks.join("")) };
  });
}"""


@pytest.fixture(scope="module")
def apply(site, browser) -> Any:
    """Give cases of pieces to the module in the browser; return what each came to."""
    page: Page = browser.new_page(base_url=site.address)
    page.goto("/accounts/login/")
    yield lambda cases: page.evaluate(APPLY, cases)
    page.close()


def cuts(randomness: random.Random, length: int) -> list[tuple[int, int]]:
    """Cut 0 to *length* into neighbouring spans."""
    inner = randomness.sample(range(1, length), k=min(length - 1, randomness.randint(0, 12)))
    edges = [0, *sorted(inner), length]
    return list(pairwise(edges))


def make_case(randomness: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Return a text, and its pieces in order: deltas, and blocks whose HTML is the very text they stand for."""
    text = "".join(randomness.choices(ALPHABET, k=randomness.randint(2, 60)))
    deltas = [{"at": start, "text": text[start:end]} for start, end in cuts(randomness, len(text))]
    spans = cuts(randomness, len(text))[: randomness.randint(0, 5)]
    return text, deltas + [{"at": start, "end": end, "html": text[start:end]} for start, end in spans]


def make_cases(disturb: Callable[[random.Random, list[Any]], list[Any]], *, seed: int) -> list[tuple[str, list[Any]]]:
    randomness = random.Random(seed)
    made = [make_case(randomness) for _ in range(CASES)]
    return [(text, disturb(randomness, pieces)) for text, pieces in made]


def shuffled_with_duplicates(randomness: random.Random, pieces: list[Any]) -> list[Any]:
    doubled = pieces + randomness.choices(pieces, k=len(pieces))
    randomness.shuffle(doubled)
    return doubled


def with_losses(randomness: random.Random, pieces: list[Any]) -> list[Any]:
    return [piece for piece in shuffled_with_duplicates(randomness, pieces) if randomness.random() < 0.4]


def test_pieces_in_any_order_and_twice_make_the_whole_text(apply):
    cases = make_cases(shuffled_with_duplicates, seed=1)
    for (text, _), result in zip(cases, apply([{"pieces": pieces} for _, pieces in cases]), strict=True):
        shown = result["before"]
        assert shown["blocks"] + shown["tail"] == text
        assert (shown["length"], shown["gap"]) == (len(text), False)


def test_what_is_shown_is_always_the_beginning_of_the_text(apply):
    cases = make_cases(with_losses, seed=2)
    for (text, _), result in zip(cases, apply([{"pieces": pieces} for _, pieces in cases]), strict=True):
        shown = result["before"]
        assert shown["blocks"] + shown["tail"] == text[: shown["length"]]
        assert shown["blocks"] == text[: shown["tailAt"]]


def test_a_gap_is_told_exactly_when_something_lies_beyond_it(apply):
    cases = make_cases(with_losses, seed=3)
    for (_, pieces), result in zip(cases, apply([{"pieces": pieces} for _, pieces in cases]), strict=True):
        shown = result["before"]
        texts_beyond = any("text" in piece and piece["at"] > shown["length"] for piece in pieces)
        blocks_beyond = any("html" in piece and piece["end"] > shown["tailAt"] for piece in pieces)
        assert shown["gap"] == (texts_beyond or blocks_beyond)


def test_a_snapshot_of_the_whole_text_heals_every_gap(apply):
    cases = make_cases(with_losses, seed=4)
    wire = [{"pieces": pieces, "snapshot": whole_snapshot(text)} for text, pieces in cases]
    for (text, _), result in zip(cases, apply(wire), strict=True):
        shown = result.get("after", result["before"])
        assert shown["blocks"] + shown["tail"] == text


def whole_snapshot(text: str) -> dict[str, Any]:
    half = len(text) // 2
    return {"tailAt": half, "tail": text[half:], "length": len(text), "html": text[:half]}


def test_an_old_snapshot_takes_nothing_away(apply):
    """What is stored can be half a second behind what has been shown."""
    pieces = [{"at": 0, "text": "The light"}, {"at": 9, "text": " above the hills"}]
    old = {"tailAt": 0, "tail": "The li", "length": 6, "html": ""}
    [result] = apply([{"pieces": pieces, "snapshot": old}])
    assert "after" not in result
    assert result["before"]["tail"] == "The light above the hills"


def test_what_came_beyond_a_gap_follows_the_snapshot_that_fills_it(apply):
    pieces = [{"at": 0, "text": "The "}, {"at": 9, "text": " above"}]
    snapshot = {"tailAt": 0, "tail": "The light", "length": 9, "html": ""}
    [result] = apply([{"pieces": pieces, "snapshot": snapshot}])
    assert (result["after"]["tail"], result["after"]["gap"]) == ("The light above", False)

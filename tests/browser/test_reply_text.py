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
  const { ReplyText } = await import("/static/js/messages/reply_text.js");
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
    """Give cases of pieces to the module in the browser; return the outcome of each."""
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
    sent = [{"pieces": pieces, "snapshot": whole_snapshot(text)} for text, pieces in cases]
    for (text, _), result in zip(cases, apply(sent), strict=True):
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


SHOW = """async ({ drawn, pieces, snapshots }) => {
  const { ReplyView } = await import("/static/js/messages/reply_view.js");
  const article = ({ step, tail }) => {
    const template = document.createElement("template");
    template.innerHTML = "<article><div data-blocks></div><div data-tail data-at='0'></div></article>";
    template.content.firstChild.dataset.step = step;
    template.content.querySelector("[data-tail]").textContent = tail;
    return template.content.firstChild;
  };
  const list = document.createElement("div");
  list.append(article(drawn));
  const view = new ReplyView(list.firstChild);
  pieces.forEach((piece) => view.take({ type: "reply.delta", ...piece }));
  const before = { tail: view.text.tail, gap: view.hasGap };
  snapshots.forEach((snapshot) => view.adopt(article(snapshot)));
  document.body.append(list);
  for (let frames = 0; !view.open.isCurrent; frames += 1) {
    if (frames > 5_000) {
      throw new Error("what is being written was not drawn");
    }
    await new Promise(requestAnimationFrame);
  }
  const shown = list.querySelector("[data-tail]").textContent;
  list.remove();
  return { before, tail: shown, step: view.step, gap: view.hasGap };
}"""


@pytest.fixture
def show(page) -> Any:
    """Draw a reply in the browser, give it pieces and then snapshots; return what it shows before and after those."""
    return lambda drawn, pieces, *snapshots: page.evaluate(
        SHOW, {"drawn": drawn, "pieces": pieces, "snapshots": list(snapshots)}
    )


def piece(step: int, at: int, text: str) -> dict[str, Any]:
    return {"step": step, "at": at, "text": text}


def stored(step: int, tail: str = "") -> dict[str, Any]:
    return {"step": step, "tail": tail}


def test_the_texts_of_two_steps_never_mix(show):
    shown = show(stored(1, "Let me see"), [piece(2, 0, "It is"), piece(1, 10, "."), piece(2, 5, " 391")], stored(2))
    assert shown["before"] == {"tail": "Let me see.", "gap": True}
    assert (shown["tail"], shown["step"], shown["gap"]) == ("It is 391", 2, False)


def test_what_is_late_from_a_step_before_is_ignored(show):
    shown = show(stored(2, "It is"), [piece(1, 5, " see"), piece(2, 5, " 391")], stored(1, "Let me see whether it"))
    assert (shown["tail"], shown["step"], shown["gap"]) == ("It is 391", 2, False)


def test_a_snapshot_of_the_next_step_is_taken_though_its_text_is_shorter(show):
    shown = show(stored(1, "Let me see"), [], stored(2, "It"), stored(2, "It is"))
    assert (shown["tail"], shown["step"]) == ("It is", 2)


def test_pieces_of_a_step_that_the_snapshot_does_not_know_yet_still_wait(show):
    shown = show(stored(1), [piece(3, 0, "It is")], stored(2, "Hm"))
    assert (shown["tail"], shown["step"], shown["gap"]) == ("Hm", 2, True)

"""Replies of extreme forms while they stream: a line of 1 MB, 500 columns, 10,000 items, nested fences, unclosed TeX.

Each is drawn in Chromium as a conversation's page does, half of it and the whole: work that is linear in the text takes
twice as long for twice as much. Prints the busy time of the page's thread and the longest task. Fails if a letter of
the text is not shown.

    python -m tests.benchmarks.extreme_replies [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from django.conf import settings
from playwright.sync_api import Page

from tests.benchmarks.streaming_look import deltas_of, page_of_reply

PIECE_CHARACTERS = 1_000
COLUMNS, ROWS = 500, 20
FORMS = {
    "one line of 1 MB": "a line that does not end " * 40_000,
    "a word of 1 MB": "x" * 1_000_000,
    "500 columns": "\n".join(
        ["| head " * COLUMNS + "|", "|---" * COLUMNS + "|", *["| cell " * COLUMNS + "|" for _ in range(ROWS)]]
    ),
    "10,000 items": "\n".join(f"- item {number}" for number in range(10_000)),
    "items in items": "\n".join("  " * (number % 40) + f"- item {number}" for number in range(2_000)),
    "nested fences": "".join("`" * (3 + number % 20) + "\ncode\n" for number in range(2_000)),
    "code of 1 MB": "```python\n" + "print('one more line')\n" * 45_000,
    "unclosed TeX": "$$ \\frac{a}{b} + " * 20_000,
    "unclosed brackets": "\\[ x [a](" * 20_000,
}
STREAM = """async ({ deltas }) => {
  document.body.dataset.markdown = "/static/js/markdown/markdown.js";
  const { ReplyView } = await import("/static/js/messages/reply_view.js");
  const article = document.querySelector("article");
  const view = new ReplyView(article);
  const seen = { longest: 0 };
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => {
    seen.longest = Math.max(seen.longest, duration);
  })).observe({ type: "longtask" });
  const scroller = document.querySelector("main");
  for (const { at, text, blocks } of deltas) {
    view.take({ type: "reply.delta", step: 1, at, text });
    blocks.forEach((block) => view.take({ type: "reply.html", step: 1, ...block }));
    scroller.scrollTop = scroller.scrollHeight;
    await new Promise((done) => requestAnimationFrame(done));
  }
  while (!view.open.isCurrent) {
    await new Promise((done) => requestAnimationFrame(done));
  }
  const shown = article.querySelector("[data-content]").textContent;
  seen.letters = shown.replace(/[^a-z0-9]/gi, "").length;
  return seen;
}"""


def letters_of(text: str) -> int:
    return sum(each.isascii() and each.isalnum() for each in text)


def draw(page: Page, address: str, text: str) -> dict[str, float]:
    """Return the seconds in which the page's thread was busy, its longest task in ms and the letters that are shown."""
    page.goto(address)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    before = busy_seconds(session)
    seen = page.evaluate(STREAM, {"deltas": deltas_of(text, PIECE_CHARACTERS)})
    return {"busy_s": busy_seconds(session) - before, "longest_ms": seen["longest"], "letters": seen["letters"]}


def busy_seconds(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def measure(page: Page, address: str) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "characters": len(text),
            "half": draw(page, address, text[: len(text) // 2]),
            "whole": draw(page, address, text),
        }
        for name, text in FORMS.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    settings.configure(USE_I18N=False)
    with page_of_reply() as (page, address):
        forms = measure(page, address)
    for name, form in forms.items():
        half, whole = form["half"], form["whole"]
        print(
            f"{name:<20} {form['characters']:>9,} characters: busy {whole['busy_s']:6.1f} s, "
            f"{whole['busy_s'] / half['busy_s']:.1f} times the half's; longest task {whole['longest_ms']:.0f} ms; "
            f"{whole['letters']:,} letters and figures shown"
        )
        assert whole["letters"] >= letters_of(FORMS[name]), f"{name}: something of it is not shown"
    if options.json:
        options.json.write_text(json.dumps(forms, indent=2))


if __name__ == "__main__":
    main()

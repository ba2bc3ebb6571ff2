"""What a page does while 2,000 tokens of mixed Markdown stream: layout shifts and long tasks at 4 times CPU slow-down.

Draws the reply in Chromium as a conversation's page does, one delta every 25 ms and finished blocks as the server sends
them. Prints for each run the sum of layout shifts by the browser's own measure, and the longest task; `--json` also
names what shifted.

    python -m tests.benchmarks.streaming_look [--runs N] [--json FILE]
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[2]
SLOWER = 4
DELTA_CHARACTERS = 4  # about a token
TOKENS = 2_000
MIXED = """\
## A trip by train

The **fastest** way is by *night*, see [the timetable](https://example.org/times) or `trains --night`; single
line breaks are spaces.

| Leg | Leaves | Price |
|---|:-:|--:|
| Vienna to Venice | 21:27 | 49.90 |
| Venice to Bologna, by the slow train along the coast | 08:05 | 12 |

1. Buy a ticket
   - for the **night**, and
   - for the day
2. Go

> A quote that goes on, ~~or not~~, for as long as it takes to fill a line and more.

```python
def price(legs):
    return sum(leg.price for leg in legs)
```

"""
STREAM = """async ({ deltas }) => {
  document.body.dataset.markdown = "/static/js/markdown/markdown.js";
  const { ReplyView } = await import("/static/js/messages/reply_view.js");
  const article = document.querySelector("article");
  const view = new ReplyView(article);
  const seen = { shift: 0, shifts: 0, longest: 0, long: 0 };
  new PerformanceObserver((list) => list.getEntries().forEach(({ value, sources }) => {
    seen.shift += value;
    seen.shifts += 1;
    seen.sources = [...(seen.sources ?? []), ...sources.map(({ node, previousRect: a, currentRect: b }) =>
      `${node?.nodeName}.${node?.className} ${a.y}>${b.y} ${a.height}>${b.height} ${a.width}>${b.width}`)].slice(0, 40);
  })).observe({ type: "layout-shift" });
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => {
    seen.longest = Math.max(seen.longest, duration);
    seen.long += 1;
  })).observe({ type: "longtask" });
  const scroller = document.querySelector("main");
  for (const { at, text, blocks } of deltas) {
    view.take({ type: "reply.delta", step: 1, at, text });
    blocks.forEach((block) => view.take({ type: "reply.html", step: 1, ...block }));
    scroller.scrollTop = scroller.scrollHeight;
    await new Promise((done) => setTimeout(done, 25));
  }
  await new Promise((done) => setTimeout(done, 300));
  return seen;
}"""
PAGE = """<!doctype html><meta charset="utf-8"><title>Reply</title>
<link rel="stylesheet" href="/static/css/tokens.css"><link rel="stylesheet" href="/static/css/base.css">
<link rel="stylesheet" href="/static/css/messages.css">
<main style="height: 780px; overflow: auto">
<article class="message" data-step="1" data-passages="0" data-state="streaming">
<div class="prose" data-content><div data-blocks></div><div class="tail" data-tail data-at="0"></div></div
><footer class="message-foot"></footer></article></main>
<script id="sentences" type="application/json">{"copy": "Copy"}</script>"""


def deltas_of(text: str, characters: int = DELTA_CHARACTERS) -> list[dict[str, Any]]:
    from conversations.rendering import BlockStream

    stream, deltas = BlockStream(), []
    for at in range(0, len(text), characters):
        piece = text[at : at + characters]
        blocks = [{"start": each.start, "end": each.end, "html": str(each.html)} for each in stream.feed(piece)]
        deltas.append({"at": at, "text": piece, "blocks": blocks})
    return deltas


class Handler(http.server.SimpleHTTPRequestHandler):
    """Static files, and the one page that uses them."""

    def do_GET(self) -> None:
        if self.path == "/":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE.encode())
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def page_of_reply() -> Iterator[tuple[Page, str]]:
    """Yield a page of Chromium, and the address at which it finds the page of a reply that streams."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(ROOT)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser.new_page(viewport={"width": 1280, "height": 800}), f"http://127.0.0.1:{server.server_port}/"
        browser.close()
    server.shutdown()


def stream_once(page: Page, address: str, deltas: list[dict[str, Any]]) -> dict[str, float]:
    page.goto(address)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    return dict(page.evaluate(STREAM, {"deltas": deltas}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    settings.configure(USE_I18N=False)
    text = (MIXED * 40)[: TOKENS * DELTA_CHARACTERS]
    with page_of_reply() as (page, address):
        runs = [stream_once(page, address, deltas_of(text)) for _ in range(options.runs)]
    for run in runs:
        print("layout shift {shift:.4f} in {shifts:.0f}, longest task {longest:.0f} ms of {long:.0f}".format(**run))
    if options.json:
        options.json.write_text(json.dumps(runs, indent=2))


if __name__ == "__main__":
    main()

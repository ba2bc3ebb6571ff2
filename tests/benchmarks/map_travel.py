"""A thread of 100,000 messages in Chromium: opened beside one of 10, and gone through by the map; time and memory.

A site is served as `make run` does. Both threads are opened in turns, from the request to the editable composer. Then
the map of the long one is pressed at random places and at its ends, each time until messages of that place are in view.
What the page holds afterwards (elements, JavaScript memory after a collection) is compared with what it held after the
first few presses: by then it has as many messages above, around and below as it ever keeps.

    python -m tests.benchmarks.map_travel [--presses 60] [--json FILE]
"""

from __future__ import annotations

import os
import random
import statistics
import time
from typing import Any

from playwright.sync_api import Page, expect

from tests.benchmarks._figures import Figures, arguments_for, percentile, verdict, write_json
from tests.benchmarks._processes import started
from tests.benchmarks._site import temporary_site
from tests.benchmarks.recall_story import chromium_page
from tests.browser.page_actions import composer
from tests.support.ports import free_port

SHORT, LONG = 10, 100_000
OPENED = 10
PRESSES = 60
FIRST_PRESSES = 5
WITHIN_SHORT = 1.5
FLAT = 1.2  # memory afterwards : after the first presses
# From the press until a message in the middle of the view is of the place that was pressed, in milliseconds.
ARRIVED = """([from, to]) => new Promise((resolve, reject) => {
  const began = performance.now();
  const scroller = document.querySelector('[data-part="scroller"]');
  const look = () => {
    const { top, bottom } = scroller.getBoundingClientRect();
    const seen = [...scroller.querySelectorAll('[data-message]')].filter(each => {
      const at = each.getBoundingClientRect();
      return at.height && at.bottom > top && at.top < bottom;
    });
    seen.some(({ dataset }) => dataset.position >= from && dataset.position <= to)
      ? resolve(performance.now() - began) : performance.now() - began > 10_000
        ? reject(new Error(`no message from ${from} to ${to} is in view`)) : requestAnimationFrame(look);
  };
  look();
})"""


def measure(*, presses: int) -> Figures:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with temporary_site(PORT=str(port), SITE_URL=address, LANGUAGE_MODELS="", OPENAI_BASE_URL=""):
        paths, cookie = make_threads()
        with started("manage.py", "serve", ready="Stop it with"), chromium_page(address, cookie) as page:
            opened: dict[int, list[float]] = {SHORT: [], LONG: []}
            for _ in range(OPENED + 1):
                for size, path in paths.items():
                    opened[size].append(open_thread(page, path))
            return {
                "opened_ms": {size: statistics.median(times[1:]) for size, times in opened.items()},
                **travel(page, presses),
            }


def make_threads() -> tuple[dict[int, str], str]:
    """Return the path of each thread by its length, and the session of their owner."""
    from conversations.models import Conversation
    from tests.benchmarks._long_conversations import make_conversations
    from tests.support.sockets import sign_in

    made = make_conversations((SHORT, LONG))
    threads = {size: Conversation.objects.select_related("owner").get(pk=each.id) for size, each in made.items()}
    return {size: f"/c/{each.public_id}/" for size, each in threads.items()}, sign_in(threads[LONG].owner)


def open_thread(page: Page, path: str) -> float:
    began = time.perf_counter()
    page.goto(path)
    expect(composer(page)).to_be_editable()
    return 1_000 * (time.perf_counter() - began)


def travel(page: Page, presses: int) -> dict[str, Any]:
    strip = page.get_by_role("slider", name="Place in the conversation")
    expect(strip).to_be_visible()
    session = page.context.new_cdp_session(page)
    chosen = random.Random(16)
    for _ in range(FIRST_PRESSES):
        press(page, strip.bounding_box(), chosen.random())
    before = held(session)
    shares = [*(chosen.random() for _ in range(presses)), 0, 1, chosen.random()]
    times = [press(page, strip.bounding_box(), share) for share in shares]
    return {
        "presses": len(times),
        "press_ms": {"median": statistics.median(times), "p95": percentile(times, 0.95)},
        "held": {"before": before, "after": held(session)},
    }


def press(page: Page, box: Any, share: float) -> float:
    at = max(2.0, min(share * box["height"], box["height"] - 2))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + at)
    page.mouse.down()
    position = int(at / box["height"] * LONG)
    arrived = page.evaluate(ARRIVED, [max(position - LONG // 50, 0), position + LONG // 50])
    page.mouse.up()
    page.mouse.move(10, 10)
    return float(arrived)


def held(session: Any) -> dict[str, float]:
    """Return the elements of the page and its JavaScript memory in MB, once what can be collected is."""
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return {"elements": metrics["Nodes"], "memory_mb": metrics["JSHeapUsedSize"] / 1e6}


def main() -> None:
    parser = arguments_for(__doc__ or "")
    parser.add_argument("--presses", type=int, default=PRESSES)
    arguments = parser.parse_args()
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright has a loop of its own in this thread
    figures = measure(presses=arguments.presses)
    opened, kept = figures["opened_ms"], figures["held"]
    print(
        f"opened, medians of {OPENED}: {opened[SHORT]:.0f} ms with {SHORT} messages, {opened[LONG]:.0f} with {LONG:,}"
    )
    print(f"long : short {verdict(opened[LONG] / opened[SHORT], at_most=WITHIN_SHORT)}")
    print(f"a press of the map, n={figures['presses']}: ms {figures['press_ms']}")
    print(f"held before and after: {kept}")
    print(f"memory {verdict(kept['after']['memory_mb'] / kept['before']['memory_mb'], at_most=FLAT)}")
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()

"""Switching conversations in Chromium: from the click in the list until the other conversation is drawn.

A site is served as `make run` does, with conversations of so many messages each. The page goes from one to the next in
its list: by the mouse, whose button is held down for `PRESS_MS` as people do, by the Enter key `FOCUS_MS` after the
focus has come to the link, and by Enter at once. The time goes from the event of the click to the end of the first
frame in which the other title stands, by the page's own clock. The page fetches a conversation when its link is pressed
or keeps the focus, so of the first two a part is over before. The first round is not counted: it compiles scripts and
fills caches. For comparison, the same conversations are opened as new pages, from the request to the first contentful
paint, in turns with the browser's cache and without it, as on a first visit.

    python -m tests.benchmarks.switching [--messages 40] [--switches 100] [--json F]
"""

from __future__ import annotations

import os
import random
import statistics
from collections.abc import Sequence

from playwright.sync_api import Page, expect

from tests.benchmarks._figures import Figures, arguments_for, percentile, verdict, write_json
from tests.benchmarks._processes import started
from tests.benchmarks._site import temporary_site
from tests.benchmarks.recall_story import chromium_page
from tests.browser.page_actions import composer
from tests.support.ports import free_port

CONVERSATIONS = 5
MESSAGES = 40
SWITCHES = 100
GOAL_MS = 100
PRESS_MS = 80  # of a mouse's button in a click
FOCUS_MS = 200  # from an arrow key to Enter: faster than people read a title
REST_MS = 800  # in which the page's own questions are answered: what is new, and what the next message would cost
WAYS = {"by_mouse": "by mouse", "by_key": "by the Enter key", "by_key_at_once": "by the Enter key at once"}
PARAGRAPHS = (
    "Take **Reine** for the first four nights. The cabin faces north over the open fjord, so with a clear sky you can "
    "watch the lights from the jetty, and the last street lamp is 200 m away.",
    "| What | State | For two |\n| --- | --- | --- |\n| Flights | booked | 612 |\n| Rorbu, 4 nights | booked | 784 |",
    "```python\ndef fare(nights: int) -> int:\n    return 196 * nights\n```",
    "1. Ask for the ferry times.\n2. Book the car only then.\n3. Keep the Friday free.",
)
# From the next click to the end of the first frame in which the title has changed, in milliseconds.
WAIT_FOR_SWITCH = """title => {
  window.switched = new Promise(resolve => addEventListener('click', ({ timeStamp: began }) => {
    const look = () => document.querySelector('[data-conversation-title]')?.textContent === title
      ? setTimeout(() => resolve(performance.now() - began)) : requestAnimationFrame(look);
    requestAnimationFrame(look);
  }, { capture: true, once: true }));
}"""
OPENED = """() => new Promise(resolve => new PerformanceObserver(list => {
  const painted = list.getEntriesByName('first-contentful-paint')[0];
  if (painted) resolve(painted.startTime);
}).observe({ type: 'paint', buffered: true }))"""


def measure(*, size: int, switches: int) -> Figures:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with temporary_site(PORT=str(port), SITE_URL=address, LANGUAGE_MODELS="", OPENAI_BASE_URL=""):
        titles, paths, cookie = make_conversations(size)
        with started("manage.py", "serve", ready="Stop it with"), chromium_page(address, cookie) as page:
            page.goto(paths[0])
            expect(composer(page)).to_be_editable()
            by_mouse, by_key, at_once = (
                [switch(page, title, focus_ms=focus_ms) for title in rounds(titles, switches)][CONVERSATIONS:]
                for focus_ms in (None, FOCUS_MS, 0)
            )
            first_visits, opened = [], []
            for path in rounds(paths, CONVERSATIONS * 4):
                first_visits.append(open_page(page, path, has_cache=False))
                opened.append(open_page(page, path))
    return {
        "messages": size,
        "by_mouse": figures_of(by_mouse),
        "by_key": figures_of(by_key),
        "by_key_at_once": figures_of(at_once),
        "new_page": figures_of(opened[CONVERSATIONS:]),
        "first_visit": figures_of(first_visits[CONVERSATIONS:]),
    }


def make_conversations(size: int) -> tuple[list[str], list[str], str]:
    """Return titles and paths of the conversations, and the session of their owner."""
    from chatsite.accounts.models import User
    from conversations.services.portability.chat_history import ChatHistory
    from tests.support.sockets import sign_in

    user = User.objects.create_user("switching@example.org")
    chosen = random.Random(7)
    titles, paths = [], []
    for number in range(CONVERSATIONS):
        messages = []
        for turn in range(size // 2):
            messages.append({"role": "user", "content": f"Question {turn} of conversation {number}?"})
            messages.append({"role": "assistant", "content": "\n\n".join(chosen.choices(PARAGRAPHS, k=3))})
        conversation = ChatHistory.from_openai(user=user, messages=messages).conversation
        conversation.title = f"Conversation {number}"
        conversation.save(update_fields=["title"])
        titles.append(conversation.title)
        paths.append(f"/c/{conversation.public_id}/")
    return titles, paths, sign_in(user)


def rounds(items: Sequence[str], count: int) -> list[str]:
    """Return *items* in turns, beginning with the second: the first is shown."""
    return [items[(number + 1) % len(items)] for number in range(count + len(items))]


def switch(page: Page, title: str, *, focus_ms: int | None) -> float:
    """Go there by the mouse, or by Enter so many milliseconds after the focus has come to the link."""
    page.wait_for_load_state("networkidle")  # a person looks at one before going to the next
    page.wait_for_timeout(REST_MS)
    link = page.locator("[data-entry]").filter(has_text=title)
    page.evaluate(WAIT_FOR_SWITCH, title)
    if focus_ms is None:
        link.click(delay=PRESS_MS)
    else:
        link.focus()
        page.wait_for_timeout(focus_ms)
        page.keyboard.press("Enter")
    return float(page.evaluate("window.switched"))


def open_page(page: Page, path: str, *, has_cache: bool = True) -> float:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": not has_cache})
    page.goto(path)
    painted = float(page.evaluate(OPENED))
    session.detach()
    return painted


def figures_of(times: Sequence[float]) -> Figures:
    return {"n": len(times), "median_ms": statistics.median(times), "p95_ms": percentile(times, 0.95)}


def main() -> None:
    parser = arguments_for(__doc__ or "")
    parser.add_argument("--messages", type=int, default=MESSAGES)
    parser.add_argument("--switches", type=int, default=SWITCHES)
    arguments = parser.parse_args()
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright has a loop of its own in this thread
    figures = measure(size=arguments.messages, switches=arguments.switches)
    for name, how in WAYS.items():
        switching = figures[name]
        print(f"switching {how}, n={switching['n']}: median {switching['median_ms']:.0f} ms,")
        print(f"  p95 in ms {verdict(switching['p95_ms'], at_most=GOAL_MS)}")
    new_page = figures["new_page"]
    print(f"as a new page, n={new_page['n']}: median {new_page['median_ms']:.0f} ms, p95 {new_page['p95_ms']:.0f} ms")
    first = figures["first_visit"]
    print(f"without the browser's cache, n={first['n']}: median {first['median_ms']:.0f} ms,")
    print(f"  {first['median_ms'] / new_page['median_ms']:.2f} times that with it")
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()

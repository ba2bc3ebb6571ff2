"""What a user does on the page of a conversation: steps for browser tests."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.utils import translation
from playwright.sync_api import APIResponse, Locator, Page, Route, WebSocketRoute, expect

from tests.support.patience import LOOK_AGAIN_SECONDS, PATIENCE_SECONDS

T = TypeVar("T")
ENDLESS = "count slowly to 5000"
CONVERSATION_PATH = re.compile(r"/c/[0-9a-f-]{36}/")
# Asked for by the page itself whenever it has changed, where `expect` looks every half second.
WHEN_CHANGED = """argument => new Promise(resolve => {{
  const holds = {condition};
  const observer = new MutationObserver(look);
  function look() {{
    if (holds(argument)) {{
      observer.disconnect();
      resolve(true);
    }}
  }}
  observer.observe(document, {{ attributes: true, characterData: true, childList: true, subtree: true }});
  look();
}})"""
NOTE_OPEN_SOCKET = """window.WebSocket = class extends WebSocket {
  constructor(...about) {
    super(...about);
    this.addEventListener("open", () => { document.documentElement.dataset.listens = ""; });
  }
}"""
HAS_REPLIES = """count => document.querySelectorAll('[data-role="assistant"]').length === count
  && !document.querySelector('[data-state="streaming"]')"""


@cache
def named(english: str) -> re.Pattern[str]:
    """Return what matches a name on the page in any of the site's languages."""
    names = {english}
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            names.add(translation.gettext(english))
    return re.compile("|".join(f"^{re.escape(name)}$" for name in names))


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name=named("Message"))


def open_account_menu(page: Page) -> None:
    page.get_by_role("button", name=re.compile("account and site$")).click()


def wait_for_page_parts(page: Page) -> None:
    """Wait until the scripts have come that a page in the shell fetches when it is shown, which it is by now."""
    page.evaluate("import(document.body.dataset.pageParts).then(() => undefined)")


def choose_scenario(page: Page, name: str) -> None:
    page.get_by_role("button", name="Language model:").click()
    page.get_by_role("menuitemradio", name=name).click()


def replies(page: Page) -> Locator:
    return page.locator('[data-role="assistant"]')


def ask_for_menu(page: Page, title: str) -> None:
    """Press the button that asks for the menu of an entry in the list."""
    page.get_by_role("navigation").get_by_role("link", name=title, exact=True).hover()
    page.get_by_role("button", name=f"Actions for “{title}”", exact=True).click()


def choose_for_entry(page: Page, title: str, action: str) -> None:
    """Choose what to do with a conversation in the menu of its entry in the list."""
    ask_for_menu(page, title)
    page.get_by_role("menuitem", name=action, exact=True).click()


def messages(page: Page) -> Locator:
    return page.locator("[data-message]")


def go_to_message(page: Page, back: int = 1) -> None:
    """Leave the field and move the focus to the last message, or *back* from the end, by keyboard."""
    composer(page).press("Control+;")
    for _ in range(back - 1):
        page.keyboard.press("Alt+ArrowUp")


def streaming(page: Page) -> Locator:
    return page.locator('[data-state="streaming"]')


def open_menu(message: Locator) -> Locator:
    """Open the menu of a message and return it."""
    message.hover()
    message.get_by_role("button", name="More", exact=True).click()
    return message.get_by_role("menu")


def press_action(message: Locator, action: str) -> None:
    """Press a button of a message's row; on a screen that knows no hovering, the one in the sheet that it opens."""
    page = message.page
    if page.evaluate("matchMedia('(hover: hover)').matches"):
        message.hover()
        message.locator(f'[data-action="{action}"]').click()
    else:
        message.get_by_role("button", name=named("Actions")).click()
        page.locator(f'#message-sheet [data-twin="{action}"]').click()


def write(page: Page, content: str) -> None:
    """Write a message and send it, without waiting for its reply."""
    composer(page).fill(content)
    composer(page).press("Enter")


def say(page: Page, content: str) -> Locator:
    """Send a message and return its reply, once that has ended."""
    composer(page).wait_for()  # it stands below the thread: a page that is still arriving has no replies to count
    before = replies(page).count()
    write(page, content)
    wait_for_change(page, HAS_REPLIES, before + 1)
    return replies(page).last


def begin_another(page: Page) -> None:
    """Go to a conversation that has not begun, and wait until it stands in place of the one that is shown."""
    page.get_by_role("link", name="New conversation").click()
    expect(messages(page)).to_have_count(0)


def scroller(page: Page) -> Locator:
    return page.locator('[data-part="scroller"]')


def is_at_end(page: Page) -> bool:
    return bool(scroller(page).evaluate("e => e.scrollHeight - e.scrollTop - e.clientHeight < 3"))


def wait_for_change(page: Page, condition: str, argument: object = None) -> None:
    """Wait until *condition*, a function of JavaScript, is true of what stands on the page and *argument*."""
    page.wait_for_function(WHEN_CHANGED.format(condition=condition), arg=argument)


def wait_until(page: Page, condition: Callable[[], T]) -> T:
    """Return what *condition* says once that is true, for what `expect` can't say. The page goes on meanwhile."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (result := condition()):
        assert time.monotonic() < deadline, f"{condition} did not come true"
        page.wait_for_timeout(LOOK_AGAIN_SECONDS * 1_000)
    return result


def scroll_up_to(page: Page, there: Locator) -> None:
    """Go up, as far as the page has come each time, until what is *there* has come in."""

    def is_there() -> int:
        messages(page).first.evaluate("e => e.scrollIntoView()")
        return there.count()

    wait_until(page, is_there)


def content_of(reply: Locator) -> str:
    return reply.locator("[data-content]").inner_text()


def goto_and_listen(page: Page, address: str) -> None:
    """Go there and wait until the socket is open: what all pages of a user are told before, this one does not hear."""
    page.add_init_script(NOTE_OPEN_SOCKET)
    page.goto(address)
    expect(page.locator("html[data-listens]")).to_have_count(1)


def block_socket(page: Page) -> Callable[[], None]:
    """Let no socket of *page* connect; return a function that unblocks them."""
    blocked = [True]
    page.route_web_socket("**/ws/", lambda socket: socket.close() if blocked else socket.connect_to_server())
    return blocked.clear


def lose_frames(page: Page, kind: str) -> list[str]:
    """Let no frame of that *kind* come through to *page* once it is reloaded; return those that were lost."""
    lost: list[str] = []

    def connect(socket: WebSocketRoute) -> None:
        def pass_on(payload: str) -> None:
            lost.append(payload) if json.loads(payload)["type"] == kind else socket.send(payload)

        socket.connect_to_server().on_message(pass_on)

    page.route_web_socket("**/ws/", connect)
    return lost


def hold_frames(page: Page, kind: str) -> Callable[[], None]:
    """Keep frames of that *kind* from *page* once it is reloaded; return a function that waits for one and lets go."""
    held: list[Callable[[], None]] = []
    is_open = False

    def connect(socket: WebSocketRoute) -> None:
        def pass_on(payload: str) -> None:
            if is_open or json.loads(payload)["type"] != kind:
                socket.send(payload)
            else:
                held.append(lambda: socket.send(payload))

        socket.connect_to_server().on_message(pass_on)

    def let_come() -> None:
        nonlocal is_open
        wait_until(page, lambda: held)
        is_open = True
        for send in held:
            send()

    page.route_web_socket("**/ws/", connect)
    return let_come


def reload_until_current(page: Page) -> None:
    """Load the page again, and wait until what it asks first has been answered, which draws its last message again."""
    let_come = hold_frames(page, "conversation.snapshot")
    page.reload()
    messages(page).last.evaluate("article => { article.dataset.old = true; }")
    let_come()
    expect(page.locator("[data-old]")).to_have_count(0)


def take_pictures(page: Page, path: Path) -> None:
    """Take one of the page in light and one in dark; nothing may be wider than it."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=f"{path}-{scheme}.png", animations="disabled")


WAIT_FOR_EVER = "AbortSignal.timeout = () => new AbortController().signal"


class HeldAnswers:
    """The answers to requests of a *path*, which are there and do not come to *page* before they are let.

    The page waits for as long as the test takes: the seconds after which it gives up are those of the real clock.
    """

    def __init__(self, page: Page, path: str) -> None:
        self._page, self._path = page, path
        self._held: list[tuple[Route, APIResponse]] = []
        page.add_init_script(WAIT_FOR_EVER)
        page.evaluate(WAIT_FOR_EVER)
        page.route(f"**{path}", lambda route: self._held.append((route, route.fetch())))

    def wait_for(self, words: str) -> None:
        """Wait until the newest of them has these *words*."""
        wait_until(self._page, lambda: self._held and words in self._held[-1][1].text())

    def let_newest_come(self) -> None:
        route, answer = self._held.pop()
        with self._page.expect_event("response", lambda response: response.url.endswith(self._path)):
            route.fulfill(response=answer)
        self._page.evaluate("fetch('/healthz')")  # once that is back, the page has looked at the answer


def lose_next_answer(page: Page) -> None:
    """Let the next message reach the server by HTTP, and its answer get lost."""

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/messages/post/", lose, times=1)


def draft_kept(page: Page) -> list[str]:
    """Return the drafts that this browser keeps."""
    stored = page.evaluate("() => Object.entries(localStorage).filter(([key]) => key.startsWith('draft:'))")
    return [json.loads(value).get("content", "") for _, value in stored]


def ask_for_long_reply(page: Page, content: str = ENDLESS) -> None:
    """Ask for a reply that takes a while."""
    write(page, content)
    expect(streaming(page)).to_have_count(1)
    expect(page.locator("#main")).to_have_class(re.compile(r"\bis-streaming\b"))


def stop_clock(page: Page) -> None:
    """Let no time go by for the scripts of *page*, however long the test takes, until `page.clock` is moved on."""
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") + 1_000)


def session_of(page: Page) -> str:
    """Return the session by which the page's user is signed in."""
    [session] = [cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "sessionid"]
    return session


def public_id_of(page: Page) -> str:
    """Return the id in the address of the page of a conversation."""
    return page.url.rstrip("/").rpartition("/")[2]

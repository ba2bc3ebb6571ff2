"""People who use a site at random for hours, and how often each action was done."""

from __future__ import annotations

import io
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from http.client import HTTPException
from random import Random
from typing import Any

from PIL import Image
from websockets.exceptions import WebSocketException
from websockets.protocol import State

from tests.benchmarks._two_people import text_of
from tests.faults.browsers import PASSWORD, Browser
from tests.faults.pages import Page
from tests.faults.sites import Site

FAST, LONG, CUT_OFF = "tokens-150", "paced-120-50", "length"
LANGUAGE_MODELS = (FAST, "tokens-400", "paced-40-25", LONG, CUT_OFF, "usage-none", "cut-after-5", "status-503-times-1")
USUAL_MODELS = (FAST, FAST, FAST, "tokens-400", "paced-40-25", "paced-40-25", "usage-none", "cut-after-5")
REFUSED_MEANWHILE = (429, 503)
ERRORS = (OSError, HTTPException, WebSocketException)  # a process that ends cuts off what it was asked


class Surprise(Exception):
    """Something else came than what may come."""


class Person:
    """Someone with a browser, some conversations, and one page at a time."""

    def __init__(self, site: Site, addresses: Callable[[], list[str]], randomly: Random) -> None:
        self.site, self.randomly = site, randomly
        self.done: Counter[str] = Counter()
        self._addresses = addresses
        self.browser = self._sign_up()
        self.conversations: list[str] = []
        self.page: Page | None = None

    def _sign_up(self) -> Browser:
        browser = Browser(self._addresses()[0])
        browser.sign_up(f"{uuid.UUID(int=self.randomly.getrandbits(128)).hex[:12]}@example.org")
        return browser

    def live(self, until: threading.Event, pause_seconds: Callable[[], float], report: Callable[..., None]) -> None:
        """Do one thing after another until *until* is set. What breaks off or surprises is reported."""
        while not until.wait(self.randomly.expovariate(1 / pause_seconds())):
            action = self.randomly.choices(ACTIONS, WEIGHTS)[0]
            name = action.__name__
            began = time.time()
            try:
                action(self)
                self.done[name] += 1
            except Exception as error:
                self.done[f"{name}, broken off"] += 1
                report(action=name, began=began, error=f"{type(error).__name__}: {error}"[:500])
                self._close_page()
        self._close_page()

    # Addresses, pages and requests

    def _reach(self) -> Browser:
        """Return the person's browser at one of the web processes that are served now."""
        return Browser(self.randomly.choice(self._addresses()), cookies=self.browser)

    def _open_page(self, conversation: str | None = None) -> Page:
        """Open a page on a conversation, at times a new one, and choose who answers there."""
        self._close_page()
        browser = self._reach()
        if conversation is None:
            is_new = not self.conversations or self.randomly.random() < 0.15
            conversation = self.site.begin(browser) if is_new else self.randomly.choice(self.conversations)
        if conversation not in self.conversations:
            self.conversations.append(conversation)
        browser.request(f"/c/{conversation}/")
        self.page = self.site.open_page(browser, conversation)
        return self.page

    def _close_page(self) -> None:
        if self.page is not None:
            self.page.drop()
        self.page = None

    def _get_page(self) -> Page:
        """Return the page, connected again if its process has ended meanwhile."""
        if self.page is None:
            return self._open_page()
        if self.page.socket.protocol.state is not State.OPEN:
            self.done["connected again"] += 1
            self.page.browser = self._reach()
            self.page.open()
        return self.page

    def _ask(self, language_model: str = "", **fields: Any) -> tuple[Page, int]:
        """Send a message, again if the process ends before it has answered, as a page does; return its reply."""
        page, client_id = self._get_page(), str(uuid.uuid4())
        page.send("model.choose", language_model=language_model or self.randomly.choice(USUAL_MODELS), effort="")
        words = self.randomly.randint(3, 60)
        content = f"{uuid.uuid4().hex[:12]} {text_of(words, self.randomly)}"
        for _ in range(10):
            try:
                page.post(content, client_id=client_id, **fields)
                answer = page.answer()
                break
            except ERRORS:
                self.done["message sent again"] += 1
                time.sleep(0.5)
                page.browser = self._reach()
                self._try(page.open)
        else:
            raise Surprise("a message was never answered")
        if answer["type"] == "error":
            raise Surprise(f"a message was refused: {answer}")
        return page, answer["reply"]

    def _try(self, action: Callable[[], object]) -> bool:
        try:
            action()
        except ERRORS:
            return False
        return True

    def _hear(self, page: Page, reply: int) -> dict[str, Any]:
        """Wait for the end of *reply*, by another socket if this one ends."""
        for _ in range(10):
            try:
                return page.wait_for_end(reply)
            except TimeoutError:
                self.done["end not told, asked for"] += 1
                page.sync()
            except ERRORS:
                time.sleep(0.5)
                page.browser = self._reach()
                self._try(page.open)
        raise Surprise(f"reply {reply} never ended")

    def _check(self, answer: tuple[int, Any], *expected: int) -> Any:
        status, body = answer
        if status in REFUSED_MEANWHILE and status not in expected:
            self.done[f"answered {status}"] += 1
        elif status not in (expected or (200,)):
            raise Surprise(f"{status}: {str(body)[:300]}")
        return body

    # What people do

    def send(self) -> None:
        self._hear(*self._ask())

    def send_over_http(self) -> None:
        browser, conversation = self._reach(), self._get_page().conversation
        answer = browser.post(conversation, f"{uuid.uuid4().hex[:12]} {text_of(20, self.randomly)}")
        stored = self._check(answer, 200, 201)
        self._hear(self._get_page(), stored["reply"])

    def stop(self) -> None:
        page, reply = self._ask(LONG)
        page.wait_for_text(reply, 20)
        page.stop(reply)
        self._hear(page, reply)

    def close_tab(self) -> None:
        """Leave in mid reply, with or without a word, and come back."""
        page, reply = self._ask(LONG)
        page.wait_for_text(reply, 20)
        (page.leave if self.randomly.random() < 0.5 else page.vanish)()
        time.sleep(self.randomly.uniform(0, 10))
        self._hear(self._open_page(page.conversation), reply)

    def reload(self) -> None:
        self._open_page(self._get_page().conversation)

    def turn_to_another(self) -> None:
        self._open_page()

    def regenerate(self) -> None:
        page, reply = self._ask()
        self._hear(page, reply)
        self._hear(page, page.regenerate(reply))

    def edit(self) -> None:
        page, reply = self._ask()
        self._hear(page, reply)
        [message] = [
            each["id"]
            for each in self._check(self._reach().json(f"/c/{page.conversation}/sync/?from=0"))["messages"][-2:-1]
        ]
        client_id = str(uuid.uuid4())
        page.edit(message, f"{uuid.uuid4().hex[:12]} instead", client_id=client_id)
        frame = page.read_until(lambda frame: frame.get("client_id") == client_id, "an answer to an edit")
        if frame["type"] != "message.stored":
            raise Surprise(f"an edit was refused: {frame}")
        self._hear(page, frame["reply"])

    def go_on(self) -> None:
        page, reply = self._ask(CUT_OFF)
        self._hear(page, reply)
        for other in self.site.pages:
            if other.conversation == page.conversation:
                other.ends.pop(reply, None)
        page.continue_reply(reply)
        self._hear(page, reply)

    def upload_document(self) -> None:
        page = self._get_page()
        text = text_of(self.randomly.randint(500, 8_000), self.randomly)
        name = f"notes-{self.randomly.randrange(10**6)}.{self.randomly.choice(('txt', 'md'))}"
        self._check(self._reach().upload(f"/c/{page.conversation}/documents/add/", name, text.encode()), 200, 201)
        self._check(self._reach().request(f"/c/{page.conversation}/documents/"))

    def send_picture(self) -> None:
        page = self._get_page()
        path, content = f"/c/{page.conversation}/pictures/add/", self._draw()
        added = self._check(self._reach().upload(path, "picture.png", content), 201)
        if "picture" in added:
            self._check(self._reach().download(f"/c/{page.conversation}/pictures/{added['picture']}/"))
            self._hear(*self._ask(FAST, pictures=[added["picture"]]))

    def _draw(self) -> bytes:
        size = self.randomly.randint(100, 900), self.randomly.randint(100, 700)
        file = io.BytesIO()
        Image.frombytes("RGB", size, self.randomly.randbytes(size[0] * size[1] * 3)).save(file, "PNG")
        return file.getvalue()

    def preview(self) -> None:
        draft = {"conversation": self._get_page().conversation, "content": text_of(80, self.randomly)}
        self._check(self._reach().request("/estimate/", **draft))
        self._check(self._reach().request("/preview/", **draft))

    def search(self) -> None:
        word = text_of(1, self.randomly).strip(".")
        self._check(self._reach().request(f"/conversations/?q={word}"))

    def look_around(self) -> None:
        for path in ("/", "/usage/", "/scenarios/", "/account/", f"/c/{self._get_page().conversation}/"):
            self._check(self._reach().request(path))

    def show_window(self) -> None:
        page, reply = self._ask()
        self._hear(page, reply)
        self._check(self._reach().request(f"/c/{page.conversation}/replies/{reply}/window/"))

    def sign_out_and_in(self) -> None:
        self._close_page()
        browser = self._reach()
        self._check(browser.request("/accounts/logout/", really="yes"))
        if browser.request("/usage/")[1].count("/accounts/logout/"):
            raise Surprise("still signed in")
        browser.sign_in(self.browser.person)

    def export(self) -> None:
        browser = self._reach()
        browser.request("/accounts/reauthenticate/")
        self._check(browser.request("/accounts/reauthenticate/", password=PASSWORD, next="/account/export/"))
        content = self._check(browser.download("/account/export/", really="yes"))
        if isinstance(content, bytes) and content[:2] != b"PK":
            raise Surprise(f"no export: {content[:3000]!r}")

    def delete_conversation(self) -> None:
        self._close_page()
        if self.conversations:
            conversation = self.randomly.choice(self.conversations)
            self.conversations.remove(conversation)
            self._check(self._reach().request(f"/c/{conversation}/delete/", really="yes"))


WEIGHTED: dict[Callable[[Person], None], float] = {
    Person.send: 24,
    Person.send_over_http: 5,
    Person.stop: 5,
    Person.close_tab: 4,
    Person.reload: 6,
    Person.turn_to_another: 10,
    Person.regenerate: 4,
    Person.edit: 3,
    Person.go_on: 3,
    Person.upload_document: 3,
    Person.send_picture: 3,
    Person.preview: 8,
    Person.search: 6,
    Person.look_around: 4,
    Person.show_window: 4,
    Person.sign_out_and_in: 1.5,
    Person.export: 1.5,
    Person.delete_conversation: 4,
}
ACTIONS, WEIGHTS = list(WEIGHTED), list(WEIGHTED.values())

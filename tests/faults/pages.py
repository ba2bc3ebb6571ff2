"""A page without a browser: a socket, and the text of each reply by the rule of `core/frames/definitions.py`."""

from __future__ import annotations

import html
import itertools
import json
import re
import socket
import struct
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from socket import SHUT_RDWR, SO_LINGER, SO_RCVBUF, SOL_SOCKET
from types import MappingProxyType
from typing import Any

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT

from .browsers import Browser

# The rules by which a page connects again and asks again, with its own numbers.
SERVER_JS = PROJECT / "static/js/server"
PAGE_JS = "".join((SERVER_JS / name).read_text(encoding="utf-8") for name in ("socket.js", "connection.js"))
FIRST_PAUSE, LONGEST_PAUSE, STEADY_AFTER, SILENCE = (
    int(re.search(rf"const {name}_MS = ([\d_]+);", PAGE_JS)[1]) / 1000  # type: ignore[index]  # else nothing is tested
    for name in ("FIRST_PAUSE", "LONGEST_PAUSE", "STEADY_AFTER", "SILENCE")
)
LOOK_UP_SECONDS = 1.0
TAIL = re.compile(r'data-tail data-at="(\d+)">(.*?)</div>', re.DOTALL)
STEP = re.compile(r'data-step="(\d+)"')
TAGS = re.compile(r"<[^>]*>")
DIVS = re.compile(r"</?div\b")


@dataclass
class KnownText:
    """The code points of a reply's *step* from *start* on, without a gap; pieces beyond a gap wait.

    With each step the text begins again: pieces of a step that is not known yet are left to a snapshot.
    """

    step: int = 1
    start: int = 0
    text: str = ""
    waiting: list[tuple[int, str]] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def take(self, at: int, text: str) -> bool:
        """Append what is new of *text*; returns False if something is missing before it."""
        self.waiting.append((at, text))
        while ready := next((piece for piece in self.waiting if piece[0] <= self.end), None):
            self.waiting.remove(ready)
            self.text += ready[1][self.end - ready[0] :]
        return not self.waiting

    def take_stored(self, step: int, at: int, text: str) -> None:
        """Begin at *at*, if what is stored goes further than what is known."""
        if step > self.step:
            self.step, self.start, self.text, self.waiting = step, at, "", []
        if step < self.step:
            return
        if at > self.end:
            self.start, self.text = at, ""
        self.take(at, text)


class Page:
    """A socket of *browser*'s person that follows *conversation*."""

    def __init__(self, browser: Browser, conversation: str, *, reads_little: bool = False) -> None:
        self.browser, self.conversation = browser, conversation
        self.acknowledged: dict[str, str] = {}  # client id → content
        self.texts: dict[int, KnownText] = {}  # by reply
        self.ends: dict[int, dict[str, Any]] = {}
        self.frames: list[dict[str, Any]] = []
        self._posted: dict[str, str] = {}
        self._connect = open_deaf_socket if reads_little else open_socket
        self.open()

    def open(self) -> None:
        """Connect, or connect again, and ask for what is stored."""
        self.socket = self._connect(self.browser)
        self.sync()

    def come_back(self, chance: Random) -> None:
        """Connect again as a page that has lost its socket: after a pause, which grows for as long as that fails."""
        for failures in itertools.count(1):
            time.sleep(pause_after(failures, chance))
            with suppress(OSError, WebSocketException):
                self.open()
                break

    def leave(self) -> None:
        """Close the socket as a tab that is closed does."""
        self.socket.close()

    def drop(self) -> None:
        """Let go of the connection without a closing frame. Only closed, its thread would wait for it for ever."""
        with suppress(OSError):  # it is closed already
            self.socket.socket.shutdown(SHUT_RDWR)

    def vanish(self) -> None:
        """Be gone without a word: the server gets a reset connection."""
        self.socket.socket.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.socket.close()

    # What the page says

    def send(self, frame_type: str, **fields: Any) -> None:
        self.socket.send(json.dumps({"type": frame_type, "conversation": self.conversation, **fields}))

    def sync(self) -> None:
        self.send("conversation.sync", from_position=0)

    def post(self, content: str = "", *, client_id: str | None = None, **fields: Any) -> str:
        """Send a message and return its content, which no other message has unless it is given."""
        content, client_id = content or f"Tell me about {uuid.uuid4().hex[:8]}", client_id or str(uuid.uuid4())
        self._posted[client_id] = content
        self._newest = client_id
        self.send("message.post", content=content, client_id=client_id, **fields)
        return content

    def edit(self, message: int, content: str, *, client_id: str) -> None:
        self.send("message.edit", message=message, content=content, client_id=client_id)

    def ask(self, content: str = "") -> int:
        """Post a message and return its reply's id once the page is told that both are stored."""
        self.post(content)
        return self.answer()["reply"]

    def answer(self) -> dict[str, Any]:
        """Return the acknowledgement of this page's newest message, or its refusal."""
        answers = ("message.stored", "error")
        return self.read_until(
            lambda frame: frame["type"] in answers and frame["client_id"] == self._newest, "an answer to what was sent"
        )

    def stop(self, reply: int) -> None:
        self.send("reply.stop", reply=reply)

    def regenerate(self, reply: int) -> int:
        """Ask for it, again where a stalled machine is still stopping *reply* when the site waits no longer."""
        while True:
            self.send("reply.regenerate", reply=reply)
            frame = self.wait_for("reply.started", "error")
            if frame["type"] == "reply.started":
                return frame["reply"]
            assert frame["code"] == "reply_in_progress"

    def continue_reply(self, reply: int) -> int:
        """Continue the text that the page shows of *reply*, twice at once, and wait until a worker does."""
        self.ends.pop(reply, None)
        for _ in range(2):
            self.send("reply.continue", reply=reply, length=self.texts[reply].end)
        return self.wait_for("reply.started")["reply"]

    # What the page hears

    def next(self, *, seconds: float = PATIENCE_SECONDS) -> dict[str, Any]:
        """Read a frame. Raises `TimeoutError` where none comes within so many *seconds*."""
        frame = json.loads(self.socket.recv(timeout=seconds))
        self.frames.append(frame)
        if handle := getattr(self, f"_on_{frame['type'].replace('.', '_')}", None):
            handle(frame)
        return frame

    def read_until(self, condition: Callable[[dict[str, Any]], object], what: str) -> dict[str, Any]:
        """Read on until a frame makes *condition* true, and return it."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition(frame := self.next()):
            assert time.monotonic() < deadline, f"{what} never came"
        return frame

    def wait_for(self, *types: str) -> dict[str, Any]:
        """Read on until a frame of one of *types* comes, and return it."""
        return self.read_until(lambda frame: frame["type"] in types, f"a frame of {types}")

    def wait_for_text(self, reply: int, length: int = 1) -> str:
        """Read on until *length* characters of *reply* are known."""
        known = self.texts.setdefault(reply, KnownText())
        if len(known.text) < length:
            self.read_until(lambda _: self._knows(reply, length), f"{length} characters of reply {reply}")
        return self.texts[reply].text

    def wait_for_new_text(self, reply: int, length: int) -> float:
        """Read on, and ask again where nothing comes live, until more than *length* characters; return that time."""
        self.texts.setdefault(reply, KnownText())
        self.read_until(lambda frame: self._has_more(frame, reply, length), f"new text of reply {reply}")
        return time.monotonic()

    def _has_more(self, frame: dict[str, Any], reply: int, length: int) -> bool:
        has_more = self.texts[reply].end > length
        if frame["type"] == "conversation.snapshot" and not has_more:
            self.sync()
        return has_more

    def _knows(self, reply: int, length: int) -> bool:
        is_known = len(self.texts[reply].text) >= length
        assert is_known or reply not in self.ends, f"it ended before: {self.ends[reply]}"
        return is_known

    def wait_for_end(self, reply: int) -> dict[str, Any]:
        """Read on until *reply* has ended, and return the frame or the snapshot's message that says how."""
        if reply not in self.ends:
            self.read_until(lambda _: reply in self.ends, f"the end of reply {reply}")
        end, known = self.ends[reply], self.texts.setdefault(reply, KnownText())
        # A page asks for what is stored at each end: what was said while Redis was away comes by no frame.
        if known.waiting or known.end != end.get("length", known.end):
            self.sync()
            self.read_until(lambda frame: tells_end(frame, reply), f"the stored text of reply {reply}")
        return end

    def hear_out(self) -> list[dict[str, Any]]:
        """Return what the server still had to say: it answers in order, so it is asked for what it refuses."""
        before = len(self.frames)
        self.post(" ")
        assert self.answer()["type"] == "error"
        return self.frames[before:-1]

    def hears_live(self) -> bool:
        """Return whether a piece of a reply came live since the page was last heard out."""
        return any(frame["type"] == "reply.delta" for frame in self.hear_out())

    def is_told_live(self) -> bool:
        """Ask, and return whether the server says that this page hears replies as they are written."""
        self.sync()
        return bool(self.wait_for("conversation.snapshot")["live"])

    def wait_until_closed(self) -> int | None:
        """Read on until the server closes the socket, and return its code."""
        try:
            while True:
                self.next()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None

    def _on_message_stored(self, frame: dict[str, Any]) -> None:
        if frame["client_id"] in self._posted:
            self.acknowledged[frame["client_id"]] = self._posted[frame["client_id"]]

    def _on_reply_delta(self, frame: dict[str, Any]) -> None:
        known = self.texts.setdefault(frame["reply"], KnownText())
        is_ahead = frame["step"] > known.step
        if is_ahead or (frame["step"] == known.step and not known.take(frame["at"], frame["text"])):
            self.sync()

    def _on_reply_restarted(self, frame: dict[str, Any]) -> None:
        self.texts[frame["reply"]] = KnownText(step=frame["step"])

    def _on_reply_step(self, frame: dict[str, Any]) -> None:
        self.sync()

    def _on_reply_done(self, frame: dict[str, Any]) -> None:
        self.ends[frame["reply"]] = frame

    _on_reply_failed = _on_reply_done

    def _on_conversation_snapshot(self, frame: dict[str, Any]) -> None:
        for message in frame["messages"]:
            if message["role"] != "assistant":
                continue
            known = self.texts.setdefault(message["id"], KnownText())
            if message["state"] != "streaming":
                self.ends.setdefault(message["id"], message)
                if known.end != message["length"]:  # also the text of a step before
                    self.texts[message["id"]] = KnownText(text=shown_text(message))
            elif (tail := TAIL.search(message["html"])) and (step := STEP.search(message["html"])):
                known.take_stored(int(step[1]), int(tail[1]), html.unescape(tail[2]))


class StayingPage(Page):
    """A page that stays open in a thread of its own, from `stay` to `rest`, and follows the newest reply.

    When it has lost its socket it opens one to the next of *browsers*, which are one person's at several processes.
    While the reply streams, it asks what is stored once nothing about its conversation has come for as long as pages
    wait.
    """

    def __init__(self, browsers: Sequence[Browser], conversation: str, chance: Random) -> None:
        self._browsers, self._chance = itertools.cycle(browsers), chance
        self._is_over, self._error = threading.Event(), None
        self._thread = threading.Thread(target=self._live, daemon=True)
        self.times_lost, self.longest_gap = 0, 0.0
        super().__init__(browsers[0], conversation)

    def open(self) -> None:
        self.browser = next(self._browsers)
        super().open()

    def stay(self, reply: int) -> None:
        self._reply, self._end, self._grown_at = reply, 0, time.monotonic()
        self.texts.setdefault(reply, KnownText())
        self._thread.start()

    @property
    def has_heard_all(self) -> bool:
        """Whether it knows how the reply has ended, and the text of it that is stored."""
        end, known = self.ends.get(self._reply), self.texts[self._reply]
        return end is not None and not known.waiting and known.end == end.get("length", known.end)

    def rest(self) -> None:
        """End the thread. Raises what has ended it before."""
        self._is_over.set()
        self._thread.join()
        if self._error:
            raise self._error

    def _live(self) -> None:
        try:
            while not self._is_over.is_set():
                try:
                    self._follow()
                except ConnectionClosed:
                    self.times_lost += 1
                    self.come_back(self._chance)
        except BaseException as error:
            self._error = error

    def _follow(self) -> None:
        heard_at = time.monotonic()
        while not self._is_over.is_set():
            with suppress(TimeoutError):
                if self.next(seconds=LOOK_UP_SECONDS).get("conversation") == self.conversation:
                    heard_at = time.monotonic()
                self._note_growth()
            if not self.has_heard_all and time.monotonic() - heard_at >= SILENCE:
                self.sync()
                heard_at = time.monotonic()

    def _note_growth(self) -> None:
        """Remember the longest time in which the text has not grown, from its beginning to the end of the reply."""
        known, now = self.texts[self._reply], time.monotonic()
        if known.end > self._end:
            if self._end:
                self.longest_gap = max(self.longest_gap, now - self._grown_at)
            self._end, self._grown_at = known.end, now


def pause_after(failures: int, chance: Random) -> float:
    """Return how many seconds a page waits before it connects again, after so many *failures* in a row."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2**failures) * (0.5 + chance.random() / 2)


def open_deaf_socket(browser: Browser) -> ClientConnection:
    """Connect with next to no room for what has not been read: if the page does not read, the server soon feels it."""
    deaf = socket.socket()
    deaf.setsockopt(SOL_SOCKET, SO_RCVBUF, 2**16)
    deaf.connect(("127.0.0.1", int(browser.address.rpartition(":")[2])))
    return open_socket(browser, sock=deaf, max_queue=1)


def open_socket(
    browser: Browser, headers: Mapping[str, str] = MappingProxyType({}), **options: Any
) -> ClientConnection:
    """Connect as a page of *browser* does; *headers* replace its own, and an empty one is left out."""
    headers = {"Origin": browser.address, "Cookie": browser.cookie_header, **headers}
    address = browser.address.replace("http", "ws", 1) + "/ws/"
    return connect(
        address,
        additional_headers={name: value for name, value in headers.items() if value},
        compression=None,
        max_size=None,
        proxy=None,
        open_timeout=PATIENCE_SECONDS,
        close_timeout=1,
        ping_interval=None,
        # What comes is read meanwhile, and the server's pings are answered.
        **{"max_queue": None, **browser.socket_options(), **options},
        legacy=True,  # as a test holds it for longer than a block
    )


def tells_end(frame: dict[str, Any], reply: int) -> bool:
    """Is it a snapshot in which *reply* has ended?"""
    messages = frame["messages"] if frame["type"] == "conversation.snapshot" else []
    return any(message["id"] == reply and message["state"] != "streaming" for message in messages)


def shown_text(message: dict[str, Any]) -> str:
    """Return the words of a snapshot's message as they are read, without what the page adds below them."""
    below = message["html"].split("data-content", 1)[1].split(">", 1)[1]
    return html.unescape(TAGS.sub("", _within_div(below))).strip()


def _within_div(below: str) -> str:
    """Return *below*, which begins within a `<div>`, up to its end: the notice of an interruption comes after it."""
    depth = 1
    for tag in DIVS.finditer(below):
        depth += -1 if tag[0].startswith("</") else 1
        if not depth:
            return below[: tag.start()]
    raise AssertionError(f"the content is not closed: {below}")

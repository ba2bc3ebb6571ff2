"""Messages of a million characters that are made to cost: the event loop goes on, and others are answered as before.

In `make test` they have a fifth of that.
"""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import pytest

from tests.support import loop_stalls
from tests.support.api_clients import make_key, post_raw

from .conftest import REPEATS_ALL
from .goals import LONGEST_STALL, OTHERS_SLOWER, percentile_95

CHARACTERS = 1_000_000 if REPEATS_ALL else 200_000
TEXTS = {
    "a": "a" * CHARACTERS,
    "newlines": "x" + "\n" * CHARACTERS + "x",
    "Chinese": "的" * CHARACTERS,
    "brackets": "[" * CHARACTERS,
    "tags": "<div>" * (CHARACTERS // 5),
    "special tokens": "<|endoftext|>" * (CHARACTERS // 13),
    "backticks": "`" * (CHARACTERS // 10),
}
FRAME_CHARACTERS = 40_000  # of any of these, less than a frame may have
OTHERS, IDLE_REQUESTS = 3, 40


@pytest.fixture(scope="module")
def long_site(make_site, tmp_path_factory):
    """A site that notes its stalls; all of the texts fit into the window of its language model."""
    stalls = tmp_path_factory.mktemp("loop") / "stalls"
    models = "ok context_window=600000 encoding=o200k_base input_usd=1 output_usd=2"
    settings = {loop_stalls.STALLS_FILE: str(stalls), "TOOL_MODULES": "tests.support.loop_stalls"}
    with make_site(LANGUAGE_MODELS=models, **settings) as site:
        site.stalls = stalls
        site.serve()
        yield site


def send_everywhere(site, key, text):
    """Send *text* by each way into the site, and return how it was answered."""
    browser, conversation = site.browser, site.begin()
    asked = {"model": "ok", "messages": [{"role": "user", "content": text}]}
    responses = {"model": "ok", "input": text}
    page = site.open_page()
    page.post(text[:FRAME_CHARACTERS])
    answers = {
        "form": browser.post(conversation, text)[0],
        "estimate": browser.json("/estimate/", conversation=conversation, content=text)[0],
        "completions": post_raw(site, key, json.dumps(asked))[0],
        "responses": post_raw(site, key, json.dumps(responses), "/v1/responses")[0],
        "socket": page.answer()["type"],
    }
    page.drop()  # or rounds later the person would have too many
    site.pages.remove(page)
    return answers


class Other:
    """Another person, who loads a page again and again."""

    def __init__(self, site):
        self._browser = site.sign_up()
        self._conversation = site.begin(self._browser)
        self.seconds = []

    def ask(self):
        began = time.monotonic()
        status, _ = self._browser.request(f"/c/{self._conversation}/")
        self.seconds.append(time.monotonic() - began)
        assert status == 200

    def ask_until(self, ended):
        while not ended.is_set():
            self.ask()


@contextmanager
def others_ask(others):
    """Let *others* ask on and on meanwhile."""
    ended = Event()
    with ThreadPoolExecutor(len(others)) as pool:
        asking = [pool.submit(other.ask_until, ended) for other in others]
        try:
            yield
        finally:
            ended.set()
        for each in asking:
            each.result()


def taken(others):
    seconds = [each for other in others for each in other.seconds]
    for other in others:
        other.seconds = []
    return seconds


def test_long_messages_stop_neither_the_event_loop_nor_others(long_site, chance):
    site = long_site
    key, others = make_key(site), [Other(site) for _ in range(OTHERS)]
    with others_ask(others):
        while sum(len(other.seconds) for other in others) < IDLE_REQUESTS:
            time.sleep(0.02)
    idle = percentile_95(taken(others))
    began = time.time()
    with others_ask(others):
        for name in chance.sample(sorted(TEXTS), len(TEXTS)):
            answers = send_everywhere(site, key, TEXTS[name])
            assert not [status for status in answers.values() if isinstance(status, int) and status >= 500], answers
    OTHERS_SLOWER.measure(percentile_95(taken(others)) / idle)
    LONGEST_STALL.measure(loop_stalls.longest_stall(site.stalls, since=began))

"""Every process is restarted, one after the other, while fifty replies stream: two web processes and two workers.

A new worker is started before an old one is told to stop. A web process gives its port to the one that follows;
meanwhile the other one has its pages, and all else that is asked of the site.
"""

from __future__ import annotations

import http.client
import signal
import threading
import time
import uuid
from random import Random

import pytest

from conversations.runs.worker import DRAIN_SECONDS
from tests.support.patience import wait_for
from tests.support.ports import free_port

from .browsers import Browser
from .conftest import checked
from .goals import GONE, INTERRUPTED_BY_RESTART, LONGEST_GAP
from .pages import StayingPage
from .processes import RedisProcess

pytestmark = pytest.mark.redis
REPLIES, PEOPLE = 50, 10
AT_ONCE = 30  # of a worker, so that both make some
SHORT, MIDDLING, LONG = "paced-100-200", "paced-200-200", "paced-500-200"  # 20, 40 and 100 seconds
MARGIN_SECONDS = 1.0
ASK_SECONDS = 0.2
NO_ANSWER = (OSError, http.client.HTTPException)
REPLIES_TO = """
SELECT count(reply.id) FROM conversations_message question
JOIN conversations_message reply ON reply.parent_id = question.id WHERE question.content = %s
"""


@pytest.fixture(scope="module")
def replicated_site(make_site, redis_server_path):
    redis, second_port = RedisProcess(redis_server_path), str(free_port())
    with make_site(RUN_WORKER="off", REDIS_URL=redis.url, REPLIES_AT_ONCE=str(AT_ONCE)) as site:
        site.web = {site.settings["PORT"]: site.serve(), second_port: site.start("serve", PORT=second_port)}
        site.workers = [site.run_worker() for _ in range(2)]
        people = [site.sign_up() for _ in range(PEOPLE + 1)]
        site.people = [[Browser(f"http://127.0.0.1:{port}", cookies=person) for port in site.web] for person in people]
        yield site
    redis.kill()


@pytest.fixture
def site(replicated_site):
    with checked(replicated_site):
        yield replicated_site


class Visitor(threading.Thread):
    """Someone who reads a page and sends a message again and again, at the process that answers."""

    def __init__(self, site, browsers) -> None:
        super().__init__(daemon=True)
        self._browsers, self._is_over = browsers, threading.Event()
        self._conversation = site.begin(browsers[0])
        self.statuses, self.sent, self.replies, self.unanswered = [], [], [], 0

    def run(self) -> None:
        while not self._is_over.wait(ASK_SECONDS):
            self.statuses.append(self._ask(lambda browser: browser.request(f"/c/{self._conversation}/"))[0])
            content, client_id = f"Tell me about {uuid.uuid4().hex[:8]}", str(uuid.uuid4())
            status, answer = self._ask(
                lambda browser, said=content, key=client_id: browser.post(self._conversation, said, key)
            )
            self.statuses.append(status)
            if status in (200, 201):
                self.sent.append(content)
                self.replies.append(answer["reply"])

    def _ask(self, request):
        """Return the answer of the first process that gives one: a proxy in front of both asks the other, too."""
        for browser in self._browsers:
            try:
                return request(browser)
            except NO_ANSWER:
                self._browsers = [*self._browsers[1:], self._browsers[0]]
        self.unanswered += 1
        return 0, {}

    def leave(self) -> None:
        self._is_over.set()
        self.join()


def begin_replies(site, chance):
    """Return pages that follow one reply each; some end soon, others after the drain of a worker."""
    pages = [
        StayingPage(site.people[number % PEOPLE], site.begin(site.people[number % PEOPLE][0]), Random(chance.random()))
        for number in range(REPLIES)
    ]
    site.pages += pages
    shuffled = chance.sample(pages, REPLIES)
    for number, language_model in enumerate((LONG, MIDDLING, SHORT)):
        site.answer_with(language_model)
        for page in shuffled[number::3]:
            page.content = page.post()
            page.reply = page.answer()["reply"]
            page.stay(page.reply)
        site.upstream.wait_for_requests(sum(len(shuffled[each::3]) for each in range(number + 1)))
    return pages


def restart_all(site):
    """Restart every process; returns when each worker was told to stop."""
    for port, process in site.web.items():
        stop(process)
        site.web[port] = site.start("serve", PORT=port)
    told = []
    for number, worker in enumerate(site.workers):
        site.workers[number] = site.run_worker()
        told.append(time.time())
        stop(worker)
    return told


def stop(process):
    told_at = time.monotonic()
    process.terminate()
    assert process.wait() in (0, -signal.SIGTERM)
    GONE.measure(time.monotonic() - told_at)


def test_a_rolling_restart_loses_nothing(site, chance):
    pages = begin_replies(site, chance)
    site.answer_with("ok")
    visitor = Visitor(site, site.people[PEOPLE])
    visitor.start()
    time.sleep(chance.uniform(0, 3))  # anywhere in the replies
    told = restart_all(site)
    visitor.leave()
    ends = {page: site.wait_for_end(page.reply) for page in pages}
    for page, end in ends.items():
        wait_for(lambda page=page: page.has_heard_all, "the page has heard all")
        page.rest()
        assert page.texts[page.reply].text == end["content"]
        assert site.database.value(REPLIES_TO, page.content) == 1
    interrupted = [page for page, end in ends.items() if end["state"] == "interrupted"]
    assert {end["state"] for end in ends.values()} <= {"complete", "interrupted"}
    for page in interrupted:
        [exchange] = site.requests_about(page.content)
        told_at = max(at for at in told if at < exchange["ended_at"])
        assert exchange["ended_at"] - told_at > DRAIN_SECONDS - MARGIN_SECONDS, "it had all the time of a drain"
    INTERRUPTED_BY_RESTART.measure(len(interrupted))
    LONGEST_GAP.measure(max(page.longest_gap for page in pages))
    assert sum(page.times_lost for page in pages) >= REPLIES, "pages have lost their sockets"
    assert visitor.unanswered == 0
    assert set(visitor.statuses) <= {200, 201, 409}  # as long as the reply before is being made
    assert {site.wait_for_end(reply)["content"] for reply in visitor.replies} == {"Hello from the upstream."}
    assert [site.database.value(REPLIES_TO, content) for content in visitor.sent] == [1] * len(visitor.sent)

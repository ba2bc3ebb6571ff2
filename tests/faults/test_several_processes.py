"""One site of two web processes behind one port, and a worker: any of them may die, and the main process too."""

from __future__ import annotations

import re
import signal
import time
from contextlib import suppress

import psutil
import pytest

from conversations.selectors.figures.live_gauges import POOL
from tests.support.patience import PATIENCE_SECONDS, wait_for

from .conftest import checked
from .goals import RESUMED_ELSEWHERE
from .processes import RedisProcess

pytestmark = pytest.mark.redis
MOST_KILLED = 4  # children of one main process: it gives up at five quick ends in a row, as in many rounds
STORED = "SELECT content FROM conversations_message WHERE id = %s"


@pytest.fixture(scope="module")
def wide_site(make_site, redis_server_path):
    redis = RedisProcess(redis_server_path)
    try:
        with make_site(PROCESSES="2", REDIS_URL=redis.url) as site:
            yield site
    finally:
        redis.kill()


@pytest.fixture
def site(wide_site):
    if wide_site.is_served and wide_site.killed == MOST_KILLED:
        ended = children(wide_site)
        wide_site.process.end()
        psutil.wait_procs(ended, timeout=PATIENCE_SECONDS)
    if not wide_site.is_served:
        wide_site.serve()
        wide_site.killed = 0
    wait_for(lambda: len(web_processes(wide_site)) == 2 and worker_of(wide_site), "all processes are there")
    with checked(wide_site):
        yield wide_site


def children(site) -> list[psutil.Process]:
    return psutil.Process(site.process.process.pid).children()


def web_processes(site) -> list[psutil.Process]:
    return [child for child in children(site) if runs(child, "serve")]


def worker_of(site) -> psutil.Process | None:
    return next((child for child in children(site) if runs(child, "run_worker")), None)


def runs(process, command) -> bool:
    with suppress(psutil.NoSuchProcess):  # also a zombie
        return command in process.cmdline()
    return False


def kill(site, process: psutil.Process) -> None:
    site.killed += 1
    process.kill()


def open_pages_apart(site) -> tuple[list[psutil.Process], list]:
    """Return the web processes and, for each, a page of the same conversation whose socket it holds."""
    processes, conversation, pages = web_processes(site), site.begin(), []
    for process in processes:
        others = [other for other in processes if other is not process]
        for other in others:
            other.suspend()  # so that it can't take the connection
        pages.append(site.open_page(conversation=conversation))
        for other in others:
            other.resume()
        assert holds(process, pages[-1])
    return processes, pages


def holds(process, page) -> bool:
    port = page.socket.socket.getsockname()[1]
    return any(connection.raddr and connection.raddr.port == port for connection in process.net_connections())


def test_pages_of_two_processes_hear_one_reply_live(site):
    _, pages = open_pages_apart(site)
    site.answer_with("endless-20")
    reply = pages[0].ask()
    for page in pages:
        page.wait_for("reply.delta")
        page.wait_for_text(reply, 100)
    site.upstream.release()
    assert {page.wait_for_end(reply)["state"] for page in pages} == {"complete"}
    assert {page.texts[reply].text for page in pages} == {site.wait_for_end(reply)["content"]} == {site.emitted()}


def test_a_killed_web_process_loses_nothing_and_is_replaced(site, chance):
    (killed, other), (page, page_of_other) = open_pages_apart(site)
    site.answer_with("endless-20")
    reply = page.ask()
    page.wait_for_text(reply, 50)
    page_of_other.wait_for_text(reply, 50)
    emitted, killed_at = len(site.emitted()), time.monotonic()
    kill(site, killed)
    page.wait_until_closed()
    page.come_back(chance)
    RESUMED_ELSEWHERE.measure(page.wait_for_new_text(reply, emitted) - killed_at)
    page.wait_for_text(reply, 100)
    wait_for(lambda: len(web_processes(site)) == 2, "another is started")
    page_of_other.wait_for_text(reply, 100)
    assert other.is_running()
    site.upstream.release()
    for each in (page, page_of_other):
        assert each.wait_for_end(reply)["state"] == "complete"
        assert each.texts[reply].text == site.emitted() == site.wait_for_end(reply)["content"]
    assert site.process.has_said("has ended and is started again: SIGKILL")


def test_a_killed_worker_is_replaced(site):
    page = site.open_page()
    reply = site.ask(page, "hang-after-3")
    page.wait_for_text(reply)
    wait_for(lambda: site.database.value(STORED, reply), "some of it is stored")
    killed = worker_of(site)
    kill(site, killed)
    wait_for(lambda: worker_of(site) not in (None, killed), "another is started")
    site.upstream.release()
    assert site.wait_for_end(reply)["state"] == "interrupted"
    site.answer_with("ok")
    page.wait_for_end(reply)
    assert site.wait_for_end(page.ask())["state"] == "complete"


def test_the_metrics_are_the_sums_of_all(site):
    before = site.metrics().get('windowseat_replies_ended_total{state="complete"}', 0.0)
    open_pages_apart(site)
    site.answer_with("ok")
    site.wait_for_end(site.pages[0].ask())
    wait_for(lambda: site.metrics()["windowseat_open_sockets"] == 2.0, "the sockets of both are counted")
    assert site.metrics()['windowseat_replies_ended_total{state="complete"}'] == before + 1
    wait_for(lambda: site.metrics()["windowseat_database_pool_size"] >= 3, "the pools of all three are counted")
    assert {f"windowseat_database_{name}" for name in POOL} <= site.metrics().keys()
    killed = web_processes(site)[0]
    kill(site, killed)
    wait_for(lambda: site.metrics()["windowseat_open_sockets"] == 1.0, "those of the dead one are not")
    assert site.metrics()['windowseat_replies_ended_total{state="complete"}'] == before + 1


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=["told to stop", "main process killed"])
def test_all_end_when_the_main_process_does_and_replies_may_end_first(site, end):
    pages = [site.open_page() for _ in range(4)]
    replies = [site.ask(page, "held-60") for page in pages]
    for page, reply in zip(pages, replies, strict=True):
        page.wait_for_text(reply)
    processes = children(site)
    site.process.process.send_signal(end)
    for page in pages:
        page.wait_until_closed()
    site.upstream.release()
    assert site.process.wait() == (0 if end == signal.SIGTERM else -signal.SIGKILL)
    psutil.wait_procs(processes, timeout=PATIENCE_SECONDS)
    assert not [process for process in processes if process.is_running()]
    assert {site.wait_for_end(reply)["state"] for reply in replies} == {"complete"}
    assert re.search("Traceback", site.log.read_text()) is None

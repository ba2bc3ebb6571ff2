"""Requests at `/v1` of one owner: so many are begun at once, the others wait, and far too many are refused."""

from __future__ import annotations

import asyncio
import json
import uuid
from types import SimpleNamespace

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from conversations.core.api.chat_request import read_chat_request
from conversations.core.api.idempotency import IdempotencyMarks
from conversations.core.errors import ParameterInvalid
from conversations.live import user_turns
from conversations.models import ApiScope
from conversations.services.api.api_keys import KeyBounds, make_key
from conversations.services.api.event_queue import EventQueue, Failed
from conversations.services.api.idempotent_requests import Idempotency
from conversations.services.api.joined_chat import JoinedRequest
from conversations.views.api import chat_completions, turns
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import make_user
from tests.support.waiting import wait_in_loop

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def begun(monkeypatch, settings):
    """How many requests were being begun at once, at most: *way_out* lets them go on."""
    settings.REQUESTS_PER_USER = 2
    monkeypatch.setattr(user_turns, "REFUSAL_SECONDS", 0)
    seen = SimpleNamespace(now=0, most=0, way_out=asyncio.Event())

    async def wait(*_):
        seen.now += 1
        seen.most = max(seen.most, seen.now)
        await seen.way_out.wait()
        seen.now -= 1
        raise ParameterInvalid("messages", "that is enough")

    monkeypatch.setattr(turns, "in_database", wait)
    return seen


async def ask(text):
    headers = {"Authorization": f"Bearer {text}"}
    return await AsyncClient().post("/v1/chat/completions", b"{}", content_type="application/json", headers=headers)


async def test_of_many_requests_of_one_owner_two_are_begun_at_once_and_far_too_many_refused(begun, monkeypatch):
    monkeypatch.setattr(turns, "MOST_WAITING", 2)
    alice = await sync_to_async(make_user)("alice")
    keys = [(await sync_to_async(make_key)(alice, name=name)).text for name in "ab"]
    tasks = [asyncio.create_task(ask(keys[number % 2])) for number in range(6)]
    done, waiting = await asyncio.wait(tasks, timeout=60, return_when=asyncio.FIRST_COMPLETED)
    while len(done) < 2:
        more, waiting = await asyncio.wait(waiting, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        done |= more
    for refused in (task.result() for task in done):
        assert (refused.status_code, refused["x-should-retry"]) == (429, "true")
        assert json.loads(refused.content)["error"]["code"] == "too_many_requests_at_once"
    bob = await sync_to_async(make_user)("bob")
    others = asyncio.create_task(ask((await sync_to_async(make_key)(bob, name="c")).text))
    await wait_in_loop(lambda: begun.now >= 3)
    assert begun.most == 3
    begun.way_out.set()
    answers = await asyncio.gather(others, *waiting)
    assert {answer.status_code for answer in answers} == {400}
    assert begun.most == 3


async def test_answers_to_earlier_requests_have_a_number_of_readers(monkeypatch):
    """No other limit holds for them, and each reads the database three times a second."""
    monkeypatch.setattr(turns, "MOST_READERS", 2)
    queues = []

    class Answer(EventQueue):
        def __init__(self, joined):
            super().__init__()
            self.way_out = asyncio.Event()
            self._task = asyncio.create_task(self.way_out.wait())
            queues.append(self)

        async def close(self):
            self.way_out.set()
            await asyncio.wait([self._task])

    def begin(key, *arguments):
        request = read_chat_request(json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode())
        return request, JoinedRequest(Idempotency(key, IdempotencyMarks(), b""), uuid.uuid4()), None

    monkeypatch.setattr(chat_completions, "_begin", begin)
    monkeypatch.setattr(chat_completions, "JoinedChat", Answer)
    alice = await sync_to_async(make_user)("alice")
    key = (await sync_to_async(make_key)(alice, name="a")).text
    tasks = [asyncio.create_task(ask(key)) for _ in range(2)]
    await wait_in_loop(lambda: len(queues) >= 2)
    assert (await ask(key)).status_code == 429
    queues[0].put(Failed(ParameterInvalid("messages", "that is enough")))
    async with asyncio.timeout(PATIENCE_SECONDS):
        done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)  # either may have been the first
    assert [task.result().status_code for task in done] == [400]
    others.add(asyncio.create_task(ask(key)))
    await wait_in_loop(lambda: len(queues) >= 3)
    for queue in queues[1:]:
        queue.put(Failed(ParameterInvalid("messages", "that is enough")))
    assert [answer.status_code for answer in await asyncio.gather(*others)] == [400, 400]


async def test_a_client_that_goes_away_keeps_its_turn_until_its_thread_is_done(begun, settings):
    """Or who sends and goes away at once would have any number of requests counted beside each other."""
    settings.REQUESTS_PER_USER = 1
    key = (await sync_to_async(make_key)(await sync_to_async(make_user)("alice"), name="a")).text
    first = asyncio.create_task(ask(key))
    await wait_in_loop(lambda: begun.now)
    second = asyncio.create_task(ask(key))
    await wait_in_loop(lambda: turns._turns()._waiting)
    first.cancel()
    for _ in range(20):  # rounds of the event loop, in which a turn that was given back would be taken
        await asyncio.sleep(0)
    assert begun.now == 1
    begun.way_out.set()
    assert (await second).status_code == 400
    assert begun.most == 1


NOT_THERE = uuid.UUID(int=1)  # the same in all processes that run tests
CONVERSATION, RESPONSE = f"conversations/conv_{NOT_THERE.hex}", f"responses/resp_{NOT_THERE.hex}{1:016x}"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *[("get", "models"), ("get", "models/m"), ("post", "responses"), ("post", "responses/input_tokens")],
        *[("get", RESPONSE), ("delete", RESPONSE), ("get", f"{RESPONSE}/input_items"), ("post", f"{RESPONSE}/cancel")],
        *[("post", "conversations"), *((method, CONVERSATION) for method in ("get", "post", "delete"))],
        *[(method, f"{CONVERSATION}/items") for method in ("get", "post")],
        *[("get", f"{CONVERSATION}/items/msg_1"), ("get", f"windowseat/{CONVERSATION}/export")],
        *[("post", f"windowseat/{name}") for name in ("windows", "recall", "search")],
        *[("get", f"windowseat/{name}") for name in ("usage", f"windows/{NOT_THERE}", f"{RESPONSE}/windows")],
    ],
)
async def test_whatever_is_asked_waits_for_a_turn(begun, settings, method, path):
    """There are few threads for programs; to read long conversations or store long texts takes one for seconds."""
    settings.REQUESTS_PER_USER = 1
    bounds = KeyBounds(scopes=tuple(ApiScope))
    key = (await sync_to_async(make_key)(await sync_to_async(make_user)("alice"), name="a", bounds=bounds)).text
    first = asyncio.create_task(ask(key))
    await wait_in_loop(lambda: begun.now)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    second = asyncio.create_task(getattr(AsyncClient(), method)(f"/v1/{path}", headers=headers))
    await wait_in_loop(lambda: turns._turns()._waiting)
    begun.way_out.set()
    assert [answer.status_code for answer in await asyncio.gather(first, second)] == [400, 400]
    assert begun.most == 1

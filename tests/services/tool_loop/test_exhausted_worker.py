"""A worker can open no connection in the middle of a loop: what is stored is gone on from, and nothing is run again."""

from __future__ import annotations

import pytest

from conversations.core.errors import WorkerExhausted
from conversations.models import Completion, Message, Run
from conversations.services.replies.reap_reply import may_be_given_back
from tests.support.people import post
from tests.support.waiting import in_thread

from .tools import NotedTool, call, script


class Exhausted:
    """A client whose process has no descriptor left after *requests*."""

    def __init__(self, client, *, requests):
        self._client, self._left = client, requests

    async def stream(self, request):
        if not self._left:
            raise WorkerExhausted(detail="Too many open files")
        self._left -= 1
        async for event in self._client.stream(request):
            yield event


def is_given_back(reply):
    stored = Message.objects.select_related("parent").get(pk=reply.pk)
    return may_be_given_back(stored, Run.objects.get(reply=reply))


@pytest.mark.parametrize("requests", [0, 1])
async def test_another_worker_goes_on_from_the_step_that_was_to_be_asked_for(talk, requests):
    client, tool = talk.client, NotedTool()
    reply = (await in_thread(post, talk.conversation, script([call()]))).reply
    talk.client = Exhausted(client, requests=requests)
    with pytest.raises(WorkerExhausted):
        await talk.begin(reply, tool)
    assert await in_thread(is_given_back, reply)
    talk.client = client
    assert (await talk.end(talk.begin(reply, tool))).state == "complete"
    assert len(tool.ran) == 1
    assert len(talk.upstream.log()) == 2
    codes = await in_thread(list, Completion.objects.order_by("pk").values_list("error_code", flat=True))
    assert sorted(codes) == ["", "", "worker_exhausted"]

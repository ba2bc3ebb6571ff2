"""Ask the demo model and wait for its reply."""

from __future__ import annotations

import uuid

from conversations.models import Scenario
from conversations.models.scenario import WITH_TOOLS
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.message_index.index_messages import index_conversation
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import make_user, post
from tests.support.waiting import in_thread, wait_until


def talk(*said: str):
    """Post the last of *said* in a scenario with tools, after the others, which were answered."""
    default_scenario()
    with_tools = Scenario.objects.get(name=WITH_TOOLS)
    user = make_user("alice")
    conversation = start_conversation(user=user, public_id=uuid.uuid4(), scenario_id=with_tools.pk)
    for each in said[:-1]:
        end_reply(post(conversation, each).reply.pk, COMPLETE, content="I see.")
    index_conversation(conversation.pk)
    return post(conversation, said[-1]).reply


async def answered(*said: str):
    reply = await in_thread(talk, *said)

    def ended():
        reply.refresh_from_db()
        return reply.has_ended

    await wait_until(ended)
    return reply

"""Storing a step does not wait for requests that change the conversation."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from conversations.services.replies.tool_calls import store_step
from conversations.services.windows.active_path import lock_conversation
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_step_is_stored_while_a_user_holds_the_conversation():
    """Deciding about a call locks the conversation and then the reply, so the reply must not wait for that."""
    reply = post(begin(make_user("alice")), "Write that down").reply
    add_call(reply)
    storing = threading.Thread(target=_store_step, args=[reply.pk])
    with transaction.atomic():
        lock_conversation(reply.conversation)
        storing.start()
        storing.join(PATIENCE_SECONDS)
        assert not storing.is_alive()
    storing.join()


def _store_step(reply_id):
    try:
        store_step(reply_id, step=1, text="")
    finally:
        connection.close()

"""The page of a conversation in which tools were called."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from conversations.models.tool_call import ToolCallState
from conversations.selectors.conversations.window_coverage import Coverage
from conversations.views.conversations import page_context
from tests.admin.stored import make_record
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def reply(client):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return post(begin(user), "What is 17 × 23?").reply


def page_of(client, reply):
    return client.get(reverse("conversations:conversation", args=[reply.conversation.public_id])).content.decode()


def snapshot_of(client, reply, from_position):
    path = reverse("conversations:sync", args=[reply.conversation.public_id])
    return client.get(f"{path}?from={from_position}").json()


def test_a_call_that_awaits_approval_has_a_form_with_what_the_approval_is_bound_to(client, reply):
    call = add_call(
        reply, "write_down", {"note": "x"}, state=ToolCallState.AWAITING_APPROVAL, source="own", digest="d" * 64
    )
    page = page_of(client, reply)
    action = reverse("conversations:decide_call", args=[reply.conversation.public_id, call.pk])
    form = re.search(rf'<form[^>]*action="{action}".*?</form>', page, re.DOTALL)[0]
    assert f'name="digest" value="{"d" * 64}"' in form
    assert "csrfmiddlewaretoken" in form
    assert re.findall(r'name="allowed" value="(\w+)"', form) == ["yes", "no"]
    assert "autofocus" not in form


def test_a_page_without_scripts_waits_for_a_reply_but_not_for_its_reader(client, reply):
    assert 'http-equiv="refresh"' in page_of(client, reply)
    add_call(reply, state=ToolCallState.AWAITING_APPROVAL)
    assert 'http-equiv="refresh"' not in page_of(client, reply)


def test_the_reply_says_at_which_step_it_is(client, reply):
    assert 'data-step="1"' in page_of(client, reply)
    add_call(reply, result="391")
    end_step(reply)
    assert 'data-step="2"' in page_of(client, reply)


def test_a_page_that_asks_from_where_a_reply_began_gets_it_from_there(client, reply):
    """Though the reply has moved on behind its steps: a snapshot that began later would seem to have a hole."""
    add_call(reply, result="391")
    end_step(reply)
    snapshot = snapshot_of(client, reply, 1)
    assert (snapshot["from_position"], snapshot["parent"]) == (1, reply.parent_id)
    assert [(message["id"], message["position"]) for message in snapshot["messages"]] == [(reply.pk, 3)]


def test_the_line_where_the_view_ends_stands_before_the_reply_whose_step_comes_first(client, reply, monkeypatch):
    add_call(reply, result="391")
    end_step(reply)
    monkeypatch.setattr(page_context, "last_window", lambda conversation: make_record())
    monkeypatch.setattr(Coverage, "of", lambda record, forgotten_before: Coverage(first_position=2))
    page = page_of(client, reply)
    assert page.index('id="message-') < page.index("data-horizon") < page.index(f'id="message-{reply.pk}"')
    assert not re.search(r"<[^>]*data-horizon[^>]*\shidden", page)


def test_what_a_tool_answers_is_text(client, reply):
    add_call(reply, "look", {"q": "<i>a</i>"}, result="**b** <script>c</script>", source="crm (crm.example.org)")
    page = page_of(client, reply)
    assert "**b** &lt;script&gt;c&lt;/script&gt;" in page
    assert "&lt;i&gt;a&lt;/i&gt;" in page
    assert "<script>c" not in page

"""What is reviewed can't be written: not by a superuser, not by a forged request, not by an action."""

from __future__ import annotations

from typing import Any

import pytest
from django.forms.models import model_to_dict
from django.urls import reverse

from conversations.models import Calibration, Completion, Conversation, Document, Message, Reading, Run, ToolCall
from tests.admin.readings import read_by
from tests.admin.stored import make_conversation
from tests.support.documents import add
from tests.support.tool_steps import add_call

MODELS = [Conversation, Message, Completion, Run, Calibration, Document, Reading, ToolCall]
FORGED = {
    "title": "forged",
    "content": "forged",
    "language_model": "forged",
    "worker": "forged",
    "ratio": 1,
    "_save": "Save",
}


@pytest.fixture(autouse=True)
def _rows(alice, superuser):
    reply = make_conversation(alice).head
    add(alice, reply.conversation)
    read_by(superuser, reply.conversation)
    Run.objects.create(reply=reply)
    add_call(reply)
    Calibration.objects.create(language_model="letters", limit_tokens=2_000)


def address(model: type, page: str, *args: Any) -> str:
    return reverse(f"admin:conversations_{model._meta.model_name}_{page}", args=args)


def stored(model: type) -> list[dict[str, Any]]:
    return [model_to_dict(row) | {"pk": row.pk} for row in model.objects.order_by("pk")]


@pytest.mark.parametrize("model", MODELS)
def test_nothing_can_be_added(admin_browser, model):
    before = stored(model)
    assert admin_browser.get(address(model, "add")).status_code == 403
    assert admin_browser.post(address(model, "add"), FORGED).status_code == 403
    assert stored(model) == before


@pytest.mark.parametrize("model", MODELS)
def test_nothing_can_be_changed(admin_browser, model):
    before = stored(model)
    url = address(model, "change", model.objects.first().pk)
    assert admin_browser.get(url).status_code == 200
    assert admin_browser.post(url, FORGED).status_code == 403
    assert stored(model) == before


@pytest.mark.parametrize("model", MODELS)
def test_nothing_can_be_deleted(admin_browser, model):
    before = stored(model)
    url = address(model, "delete", model.objects.first().pk)
    assert admin_browser.get(url).status_code == 403
    assert admin_browser.post(url, {"post": "yes"}).status_code == 403
    assert stored(model) == before


@pytest.mark.parametrize("model", MODELS)
def test_a_forged_action_does_nothing(admin_browser, model):
    before = stored(model)
    keys = [row["pk"] for row in before]
    forged = {"action": "delete_selected", "_selected_action": keys, "index": 0, "post": "yes"}
    admin_browser.post(address(model, "changelist"), forged)
    assert stored(model) == before


@pytest.mark.parametrize("model", MODELS)
def test_a_forged_list_form_does_nothing(admin_browser, model):
    before = stored(model)
    rows = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": before[0]["pk"]}
    forged = {f"form-0-{name}": value for name, value in FORGED.items()}
    admin_browser.post(address(model, "changelist"), rows | forged | {"_save": "Save"})
    assert stored(model) == before


def test_the_page_of_a_conversation_has_no_field_to_write_in(admin_browser):
    """Not once there is a reason: before that it asks for one."""
    page = admin_browser.get(address(Conversation, "change", Conversation.objects.get().pk)).content.decode()
    assert "<textarea" not in page
    assert 'name="_save"' not in page

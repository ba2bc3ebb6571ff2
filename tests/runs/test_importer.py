"""The importer: it does what waits, hands over what it is at, and looks for it without a word."""

from __future__ import annotations

import pytest

from conversations.models import Conversation, ConversationImport
from conversations.runs import importer as module
from conversations.runs.importer import Importer
from conversations.runs.waiting_work import find_waiting_work
from conversations.services.imports import run_import
from tests.support.exports import as_json, chatgpt_line
from tests.support.imports import send_files
from tests.support.people import make_user
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def send(count):
    send_files(make_user("alice"), as_json([chatgpt_line(f"c{number}", "x") for number in range(count)]))


async def test_what_waits_is_imported_and_what_is_stopped_goes_on(monkeypatch):
    monkeypatch.setattr(run_import, "ITEMS_AT_ONCE", 1)
    monkeypatch.setattr(module, "BREATH_SECONDS", 0.05)
    await in_thread(send, 6)
    assert (await in_thread(find_waiting_work)).imports
    first, second = Importer(), Importer()
    await first.start()
    await wait_until(Conversation.objects.count)
    await first.drain()
    await wait_until(ConversationImport.objects.filter(state="waiting").exists)
    await second.start()
    await wait_until(ConversationImport.objects.filter(state="ended").exists)
    await second.drain()
    assert await in_thread(Conversation.objects.count) == 6
    assert not (await in_thread(find_waiting_work)).imports

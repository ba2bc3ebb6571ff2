"""The file of one conversation while it is read back: its owner goes on meanwhile, and its worker keeps the import."""

from __future__ import annotations

import datetime as dt
import threading

import pytest
from django.db import connection, transaction
from django.utils import timezone

from conversations.access import lock_admitted
from conversations.models import Conversation, ConversationImport
from conversations.services.imports import import_claim, windowseat_files
from conversations.services.imports.import_claim import begin_command_import, claim_import
from conversations.services.imports.run_import import import_batches
from conversations.services.portability.conversation_json import whole_conversation_json
from conversations.services.portability.read_conversation_json import read_conversation
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.exports import export_of
from tests.support.patience import wait_for
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def file():
    talk = begin(make_user("alice"))
    end_reply(post(talk, "Which seat?").reply.pk, COMPLETE, content="12A")
    return "".join(whole_conversation_json(Conversation.objects.select_related("scenario").get(pk=talk.pk)))


def beside(work):
    """Do *work* in another thread, by a connection of its own, and return what it returns."""
    answers = []

    def do():
        try:
            answers.append(work())
        finally:
            connection.close()

    thread = threading.Thread(target=do)
    thread.start()
    thread.join()
    return answers[0]


def test_its_owner_goes_on_asking_meanwhile(file):
    bob = make_user("bob")

    def can_be_locked():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '200ms'")
            lock_admitted(bob)
        return True

    def lines():
        for line in file.splitlines(keepends=True):
            assert beside(can_be_locked)
            yield line

    assert read_conversation(user=bob, lines=lines()).messages.count() == 2


def test_no_other_worker_takes_its_import_over_meanwhile(file, monkeypatch):
    monkeypatch.setattr(import_claim, "LEASE", dt.timedelta(seconds=0.6))
    bob = make_user("bob")
    claimed = begin_command_import(bob, export_of(file.encode()).files, "first")
    began = ConversationImport.objects.get().lease_until
    read = windowseat_files.read_conversation

    def read_slowly(**given):
        wait_for(lambda: timezone.now() > began + dt.timedelta(seconds=0.6), "its first lease is over")
        assert beside(lambda: claim_import("second")) is None
        assert beside(lambda: ConversationImport.objects.get().state) == "running"
        return read(**given)

    monkeypatch.setattr(windowseat_files, "read_conversation", read_slowly)
    list(import_batches(claimed))
    assert ConversationImport.objects.get().state == "ended"
    assert bob.conversations.count() == 1

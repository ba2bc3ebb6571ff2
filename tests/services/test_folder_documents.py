"""Documents of a folder: those of every conversation that is in it, gone with it, and in its owner's export."""

from __future__ import annotations

import json
import re
import uuid
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from conversations.access import find_document
from conversations.core.errors import DocumentNotFound, FolderNotFound
from conversations.models import Conversation, Document, Scenario, SharedMessage
from conversations.selectors.conversations.deleted_conversations import list_deleted_conversations
from conversations.selectors.conversations.documents import count_documents_for
from conversations.selectors.conversations.sources import sources_of_reply
from conversations.selectors.figures.account_contents import count_account_contents
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.conversations.deletion import restore_conversation
from conversations.services.conversations.folders import create_folder, delete_folder
from conversations.services.conversations.list_changes import move_conversations
from conversations.services.documents.index_document import claim_document
from conversations.services.grounding.look_up import look_up
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.services.portability.branch_conversation import branch_conversation
from conversations.services.portability.delete_account import delete_account
from conversations.services.portability.export_account import exported_files
from conversations.services.portability.share_conversation import share_conversation
from conversations.services.portability.shared_rows import ShareChoices
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import load_reply, prepare_reply
from tests.admin.stored import make_completion
from tests.grounding.documents import store_document
from tests.support.documents import add, grounded
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread

pytestmark = pytest.mark.django_db
SECRET = "The canary sleeps in the cellar at noon."
QUESTION = "Where does the canary sleep at noon?"


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def work(alice):
    return create_folder(alice, name="Work")


@pytest.fixture
def talk(alice, work):
    return start_conversation(user=alice, public_id=uuid.uuid4(), folder_id=work.pk)


async def look_up_in(reply):
    return await look_up(reply.pk, embed=None)


def answer(posted, found):
    """End the reply as a worker does that was sent what was *found*."""
    record = prepare_reply(posted.reply.pk, found).window.record.to_json()
    make_completion(posted.reply.conversation.owner, reply=posted.reply, window=record)
    end_reply(posted.reply.pk, COMPLETE, content="In the cellar.")
    return posted.reply


@pytest.mark.django_db(transaction=True)
async def test_a_reply_is_made_from_them_and_its_sources_say_where_they_are_from(alice, work, talk):
    await in_thread(store_document, work, [SECRET])
    posted = await in_thread(post, talk, QUESTION)
    found = await look_up_in(posted.reply)
    reply = await in_thread(answer, posted, found)
    [passage] = (await in_thread(sources_of_reply, reply)).passages
    assert (passage.sent, passage.document_place) == (SECRET, "folder")
    await in_thread(move_conversations, alice, [talk.public_id], None)
    await in_thread(talk.refresh_from_db)
    later = await in_thread(post, talk, QUESTION)
    assert await look_up_in(later.reply) is None


def test_they_are_counted_for_what_is_in_the_folder_and_not_for_what_is_temporary(alice, work, talk):
    store_document(work, [SECRET])
    assert count_documents_for(talk) == 1
    assert count_documents_for(Conversation(owner=alice, scenario=talk.scenario, folder=work)) == 1
    assert count_documents_for(begin(alice)) == 0
    temporary = start_conversation(user=alice, public_id=uuid.uuid4(), folder_id=work.pk, temporary=True)
    assert (temporary.folder, count_documents_for(temporary)) == (None, 0)


def test_the_estimate_of_a_first_message_counts_them(alice, work, settings):
    store_document(work, [SECRET])
    draft = {"conversation": None, "content": QUESTION, "folder_id": work.pk}
    assert estimate_draft(user=alice, **draft).documents == 1
    assert estimate_draft(user=alice, begins_temporary=True, **draft).documents == 0
    with pytest.raises(FolderNotFound):
        estimate_draft(user=make_user("mallory"), **draft)


def test_a_conversation_that_begins_with_a_document_begins_in_the_folder_of_its_page(client, alice, work):
    client.force_login(alice)
    page = client.get(f"/?folder={work.pk}").text
    assert f'<input type="hidden" data-beginning name="folder" value="{work.pk}">' in page
    added = {"files": SimpleUploadedFile("a.txt", b"words"), "folder": work.pk, "scenario": default_scenario().pk}
    client.post(reverse("conversations:add_conversation_documents", args=[new := uuid.uuid4()]), added)
    assert Conversation.objects.get(public_id=new).folder == work


def test_what_is_chosen_for_a_new_conversation_leaves_it_in_the_folder(client, alice, work):
    Scenario.objects.create(owner=alice, name="Own")
    client.force_login(alice)
    page = client.get(f"/?folder={work.pk}").text
    choices = re.findall(r'href="(/\?[^"]*)"[^>]*data-action="choose-(?:model|scenario)"', page)
    assert len(choices) >= 2
    assert [choice for choice in choices if f"folder={work.pk}" not in choice] == []
    assert f"/?folder={work.pk}&" in json.loads(unescape(re.search(r'data-urls="([^"]*)"', page).group(1)))["newHere"]


def test_a_reply_waits_for_them_and_no_longer_once_it_has_left_the_folder(alice, work, talk):
    add(alice, work)
    reply = post(talk, QUESTION).reply
    assert (load_reply(reply.pk).may_be_looked_up, load_reply(reply.pk).may_have_to_wait) == (True, True)
    move_conversations(alice, [talk.public_id], None)
    assert (load_reply(reply.pk).may_be_looked_up, load_reply(reply.pk).may_have_to_wait) == (False, False)


def test_one_is_read_with_the_encoding_of_the_scenario_of_its_folder(alice):
    plain = create_folder(alice, name="Plain")
    with_scenario = create_folder(alice, name="With", scenario_id=Scenario.objects.create(owner=alice, name="Own").pk)
    for folder in (plain, with_scenario):
        document = add(alice, folder)
        held, _ = claim_document("worker", [])
        assert (held.id, bool(held.encoding)) == (document.pk, True)
        Document.objects.update(state="failed", lease_until=None)


def test_a_branch_stays_in_the_folder(talk, work):
    posted = post(talk, QUESTION)
    end_reply(posted.reply.pk, COMPLETE, content="In the cellar.")
    branch = branch_conversation(user=talk.owner, conversation=talk, message_id=posted.reply.pk)
    assert branch.folder == work


def looked_up(talk, document):
    posted = post(talk, QUESTION, grounding=[{"text": SECRET, "source": "guide.md", "score": 1.0}])
    record = prepare_reply(posted.reply.pk).window.record.to_json()
    make_completion(talk.owner, reply=posted.reply, window=record)
    grounded(posted.message, document, text=SECRET)
    end_reply(posted.reply.pk, COMPLETE, content="Downstairs.")
    return posted.message


@pytest.mark.parametrize("with_conversations", [False, True])
def test_with_the_folder_they_go_and_their_words_leave_messages_and_shares(alice, work, talk, with_conversations):
    question = looked_up(talk, store_document(work, [SECRET]))
    other = begin(alice)
    share = {"user": alice, "conversation": talk, "message_id": None, "title": "Shared"}
    share_conversation(**share, shown=ShareChoices())
    assert SECRET not in str(list(SharedMessage.objects.values()))
    share_conversation(**share, shown=ShareChoices(shows_documents=True))
    assert SECRET in str(list(SharedMessage.objects.values()))
    delete_folder(alice, work.pk, with_conversations=with_conversations)
    question.refresh_from_db()
    assert not Document.objects.exists()
    assert question.grounding[0]["text"] == ""
    assert SECRET not in str(list(SharedMessage.objects.values()))
    talk.refresh_from_db()
    other.refresh_from_db()
    assert (talk.folder, bool(talk.deleted_at), other.deleted_at) == (None, with_conversations, None)
    if with_conversations:
        assert [each.pk for each in list_deleted_conversations(alice)] == [talk.pk]
        restore_conversation(user=alice, public_id=talk.public_id)
        talk.refresh_from_db()
        assert (talk.deleted_at, talk.folder) == (None, None)


def test_nothing_is_added_to_a_folder_that_has_gone(alice, work):
    delete_folder(alice, work.pk)
    with pytest.raises(FolderNotFound):
        add(alice, work)


def test_one_is_found_by_the_owner_of_its_folder_alone(alice, work):
    document = add(alice, work)
    assert find_document(alice, work, document.public_id) == document
    with pytest.raises(DocumentNotFound):
        find_document(make_user("ada", role="admin"), work, document.public_id)
    with pytest.raises(DocumentNotFound):
        find_document(alice, create_folder(alice, name="Home"), document.public_id)


def test_the_export_of_the_account_has_them_and_the_account_takes_them_along(alice, work, talk):
    make_user("root", role="admin")
    document = add(alice, work, "plan.txt", SECRET.encode())
    question = looked_up(talk, document)
    files = {name: b"".join(pieces) for name, pieces in exported_files(alice, language_code="en")}
    assert files[f"documents/{document.public_id}/plan.txt"] == SECRET.encode()
    assert f"plan.txt,,{work.name},," in files["documents.csv"].decode()
    assert count_account_contents(alice).documents == 1
    delete_account(alice)
    assert not Document.objects.exists()
    assert not type(question).objects.filter(pk=question.pk).exists()


def test_the_composer_suggests_them_also_before_the_first_message(client, alice, work, talk):
    client.force_login(alice)
    store_document(work, [SECRET], name="guide.md")
    offered = [
        client.get("/commands/", query).json()["documents"]
        for query in ({"conversation": talk.public_id}, {"folder": work.pk}, {})
    ]
    assert offered == [["guide.md"], ["guide.md"], []]


def test_the_page_says_how_many_there_are_and_where_and_follows_a_move(client, alice, work, talk):
    client.force_login(alice)
    store_document(work, [SECRET])
    post(talk, QUESTION)
    sentence = "Answers use 1 document from the folder “Work”."
    for address in (f"/c/{talk.public_id}/", f"/c/{talk.public_id}/place/", f"/?folder={work.pk}"):
        assert sentence in client.get(address).text, address
    assert sentence not in client.get(f"/?folder={work.pk}&temporary=true").text
    move_conversations(alice, [talk.public_id], None)
    assert sentence not in client.get(f"/c/{talk.public_id}/place/").text
    assert "guide.md" in client.get(f"/conversations/folders/{work.pk}/").text
    assert "1 document" in client.get("/conversations/folders/").text


def test_a_folder_is_deleted_with_or_without_its_conversations_by_its_page(client, alice, work, talk):
    client.force_login(alice)
    add(alice, work)
    page = client.get(f"/conversations/folders/{work.pk}/delete/").text
    assert "Its 1 document is deleted permanently" in page
    assert "Its 1 conversation<" in page
    client.post(f"/conversations/folders/{work.pk}/delete/", {"conversations": "delete"})
    talk.refresh_from_db()
    assert talk.deleted_at

"""Shares: nothing is stored that was not chosen, and a link works exactly as long as it should."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from itertools import product

import pytest
from django.core import serializers
from django.utils import timezone

from chatsite.accounts.models import GateRule
from chatsite.accounts.sign_up.one_time_links import hash_token
from conversations.access import find_shared
from conversations.core.errors import (
    DocumentStorageFull,
    LimitReached,
    MessageNotFound,
    NothingToShare,
    SharedMessagesTooMany,
    ShareNotFound,
    SharesOff,
    ShareStorageFull,
    TemporaryNotExported,
    TooManyShares,
)
from conversations.core.window.window_record import WindowRecord
from conversations.models import Conversation, KeptText, Message, Share, SharedMessage
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.deletion import delete_conversation, restore_conversation
from conversations.services.conversations.notes import save_about_me, save_notes
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.mark_message import exclude_message
from conversations.services.portability import share_conversation as module
from conversations.services.portability import share_storage
from conversations.services.portability.continue_share import COPIES, continue_share
from conversations.services.portability.delete_account import delete_account
from conversations.services.portability.share_conversation import last_shareable, share_conversation
from conversations.services.portability.shared_rows import ShareChoices
from conversations.services.portability.shares import change_end, link_of, revoke_share
from conversations.services.replies.end_reply import COMPLETE, STOPPED, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.reasoning import Reasoning
from tests.admin.stored import make_completion
from tests.support.documents import add, grounded
from tests.support.people import begin, make_user, post, post_answered
from tests.support.pictures import store_picture
from tests.support.summaries import keep_summary
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db
ALL, NOTHING = ShareChoices(*[True] * 6), ShareChoices()


@pytest.fixture
def alice(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return make_user("alice")


@pytest.fixture
def talk(alice):
    return begin(alice)


def share(talk, message=None, *, shown=NOTHING, **fields):
    fields = {"title": "Trip", "message_id": message and message.pk} | fields
    return share_conversation(user=talk.owner, conversation=talk, shown=shown, **fields)


def is_open(made) -> bool:
    try:
        return find_shared(hash_token(made.token)).pk == made.share.pk
    except ShareNotFound:
        return False


def stored(made) -> str:
    """Return everything that the share's rows hold."""
    rows = [Share.objects.get(pk=made.share.pk), *SharedMessage.objects.filter(share=made.share)]
    return serializers.serialize("json", rows, ensure_ascii=False)


SECRETS = {
    "shows_system_prompt": "the-system-prompt",
    "shows_documents": "the-document",
    "shows_tools": "the-arguments",
    "shows_reasoning": "the-reasoning",
    "shows_pictures": "the-picture",
}
NEVER = ("the-notes", "about-me", "the-summary", "old-version", "later-message", "the-title", "other-talk", "0.0987")
NEVER_OF_A_WINDOW = {"calibration": "1.3171", "tools_withheld": "the-allowance"}


@pytest.fixture
def full(alice):
    """A conversation with a word of its own in everything that there may be in one."""
    save_about_me(alice, "about-me")
    other = begin(alice)
    post_answered(other, "other-talk")
    talk = begin(alice)
    talk.title = "the-title"
    talk.scenario.system_prompt = "the-system-prompt"
    talk.scenario.save()
    talk.save()
    save_notes(talk, "the-notes")
    first = post_answered(talk, "old-version")
    edited = edit_message(
        user=alice, conversation=talk, message_id=first.message.pk, content="Which seat?", client_id=uuid.uuid4()
    )
    end_reply(edited.reply.pk, COMPLETE, content="12A", reasoning=Reasoning("the-reasoning", 2.5, 17))
    keep_summary(talk, "the-summary", edited.message)
    picture = store_picture(talk, alt_text="the-picture", file_name="the-picture.png")
    asked = post(
        Conversation.objects.select_related("scenario").get(pk=talk.pk), "And now?", pictures=[picture.pk],
        grounding=[{"text": "the-document says", "source": "the-document.txt", "score": 1.0}],
    )  # fmt: skip
    add_call(asked.reply, "calculator", '{"x": "the-arguments"}', result="the-arguments again")
    prepared = prepare_reply(asked.reply.pk)
    record = prepared.window.record.to_json() | NEVER_OF_A_WINDOW
    assert record["grounding"]["included"]
    make_completion(
        alice, reply=asked.reply, window=record, cost_usd="0.0987", request={"model": "demo"},
        system_prompt=KeptText.objects.create(text=prepared.window.prompt[0].content, digest="x" * 64),
    )  # fmt: skip
    end_step(asked.reply, text="Let me see.")
    end_reply(asked.reply.pk, COMPLETE, content="Row 12.", reasoning=Reasoning("the-reasoning too", 1.0, 3))
    post_answered(talk, "later-message")
    return talk, asked.reply


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize(
    "chosen", list(product([False, True], repeat=5)), ids=lambda chosen: "".join("01"[c] for c in chosen)
)
def test_a_share_holds_no_word_of_what_was_not_chosen(full, chosen, windows):
    talk, last = full
    choices = dict(zip(SECRETS, chosen, strict=True))
    held = stored(share(talk, last, shown=ShareChoices(shows_windows=windows, **choices)))
    assert "Which seat?" in held
    assert "Let me see.\\n\\nRow 12." in held
    assert [word for word in (*NEVER, *NEVER_OF_A_WINDOW.values()) if word in held] == []
    for choice, secret in SECRETS.items():
        is_told = choices[choice] and (windows or choice != "shows_system_prompt") and choice != "shows_pictures"
        assert (secret in held) is is_told, choice
    assert '"window": null' in held
    assert ('"record"' in held) is windows


def test_a_window_names_messages_of_the_share_alone_and_no_money(full):
    talk, last = full
    made = share(talk, last, shown=ALL)
    row = made.share.messages.get(number=4)
    record = row.window["record"]
    assert {entry["message"] for entry in record["entries"]} <= {None, 1, 2, 3, 4}
    assert [entry["message"] for entry in record["entries"] if entry["kind"] == "newest"] == [3]
    assert not {name for name in row.window if "usd" in name or "cost" in name}
    assert row.window["system_prompt"] == "the-system-prompt"
    assert made.share.window_tokens == record["context_window_tokens"]
    assert WindowRecord.from_json(record).parts["free"] >= 0
    assert (record["policy"], record["summary"], record["anchor"]) == ({}, None, None)


def test_a_snapshot_stays_as_it_is(talk, alice):
    first = post_answered(talk, "One")
    made = share(talk)
    before = stored(made)
    post_answered(talk, "Two")
    edited = edit_message(
        user=alice, conversation=talk, message_id=first.message.pk, content="Other", client_id=uuid.uuid4()
    )
    end_reply(edited.reply.pk, COMPLETE, content="Fine")
    assert stored(made) == before
    assert made.share.message_count == 2


def test_while_a_reply_is_written_the_share_ends_before_it(talk):
    with pytest.raises(NothingToShare):
        last_shareable(talk)
    post_answered(talk, "One")
    writing = post(Conversation.objects.select_related("scenario").get(pk=talk.pk), "Two")
    assert last_shareable(talk, writing.reply.pk) == writing.message
    made = share(talk)
    assert [row.content for row in made.share.messages.order_by("number")] == ["One", "Fine", "Two"]


def test_what_is_excluded_is_shared_as_it_is_shown(talk):
    first = post_answered(talk, "One")
    exclude_message(conversation=talk, message_id=first.reply.pk, excluded=True)
    stopped = post(Conversation.objects.select_related("scenario").get(pk=talk.pk), "Two")
    end_reply(stopped.reply.pk, STOPPED, content="Half")
    rows = share(talk).share.messages.order_by("number")
    assert [(row.content, row.state) for row in rows][1::2] == [("Fine", "complete"), ("Half", "stopped")]


def test_a_token_opens_its_share_and_is_stored_nowhere(talk):
    post_answered(talk, "One")
    made = share(talk)
    assert is_open(made)
    assert link_of(made.share).endswith(f"/s/{made.token}/")
    assert made.token not in stored(made)
    with pytest.raises(ShareNotFound):
        find_shared(hash_token(made.token[:-1]))
    with pytest.raises(ShareNotFound):
        find_shared(made.share.sealed_token)


def test_the_link_is_blank_once_the_key_has_changed_and_still_works(talk, settings):
    post_answered(talk, "One")
    made = share(talk)
    settings.SECRET_KEY = "another key"
    assert link_of(made.share) == ""
    assert is_open(made)


def test_it_is_over_when_it_ends_or_is_revoked(talk):
    post_answered(talk, "One")
    made = share(talk, ends_at=timezone.now() + dt.timedelta(hours=1))
    assert is_open(made)
    change_end(made.share, timezone.now() - dt.timedelta(seconds=1))
    assert not is_open(made)
    change_end(made.share, None)
    assert is_open(made)
    revoke_share(made.share)
    assert not is_open(made)


def test_it_is_over_while_its_conversation_is_deleted_and_works_again_once_it_is_back(talk, alice):
    post_answered(talk, "One")
    made = share(talk)
    delete_conversation(talk)
    assert not is_open(made)
    restore_conversation(user=alice, public_id=talk.public_id)
    assert is_open(made)
    Conversation.objects.get(pk=talk.pk).delete()
    assert not Share.objects.exists()
    assert not SharedMessage.objects.exists()


@pytest.mark.parametrize(
    "state", [{"gate_rule": GateRule.BLOCKED}, {"is_active": False}, {"gate_rule": GateRule.REQUIRED}]
)
def test_it_is_over_while_its_owner_is_not_admitted(talk, alice, state):
    post_answered(talk, "One")
    made = share(talk)
    type(alice).objects.filter(pk=alice.pk).update(**state)
    assert not is_open(made)
    type(alice).objects.filter(pk=alice.pk).update(gate_rule=GateRule.SITE, is_active=True)
    assert is_open(made)


def test_it_goes_with_the_account(talk, alice):
    make_user("root", role="admin")
    post_answered(talk, "One")
    made = share(talk)
    delete_account(alice)
    assert not is_open(made)
    assert not SharedMessage.objects.exists()


def test_a_deleted_document_is_taken_out_of_it(talk, alice):
    document = add(alice, talk, "plan.txt", b"the-document")
    asked = post(
        Conversation.objects.select_related("scenario").get(pk=talk.pk), "Plan?",
        grounding=[{"text": "the-document", "source": "plan.txt", "score": 1.0}],
    )  # fmt: skip
    record = prepare_reply(asked.reply.pk).window.record.to_json()
    make_completion(alice, reply=asked.reply, window=record)
    grounded(asked.message, document, text="the-document")
    end_reply(asked.reply.pk, COMPLETE, content="Yes")
    made = share(talk, shown=ALL)
    assert "the-document" in stored(made)
    document.delete()
    assert "the-document" not in stored(made)
    assert "plan.txt" not in stored(made)


def test_what_is_refused(talk, alice, settings, monkeypatch):
    post_answered(talk, "One")
    other = post_answered(begin(make_user("bob")), "Mine")
    with pytest.raises(MessageNotFound):
        share(talk, other.reply)
    monkeypatch.setattr(module, "MOST_MESSAGES", 1)
    with pytest.raises(SharedMessagesTooMany):
        share(talk)
    monkeypatch.setattr(module, "MOST_MESSAGES", 2)
    share(talk)
    monkeypatch.setattr(module, "MOST_SHARES", 1)
    with pytest.raises(TooManyShares):
        share(talk)
    settings.SHARES = "off"
    with pytest.raises(SharesOff):
        share(talk)
    assert Share.objects.count() == 1


def test_a_temporary_conversation_is_not_shared(alice):
    talk = start_conversation(user=alice, public_id=uuid.uuid4(), temporary=True)
    post_answered(talk, "One")
    with pytest.raises(TemporaryNotExported):
        share(talk)


def test_a_reader_goes_on_with_a_copy_of_the_words(full, settings):
    talk, last = full
    bob = make_user("bob")
    made = share(talk, last, shown=ShareChoices(shows_pictures=True, shows_reasoning=True, shows_tools=True))
    copy = continue_share(user=bob, share=made.share)
    path = list(copy.messages.order_by("position"))
    assert [message.content for message in path] == ["Which seat?", "12A", "And now?", "Let me see.\n\nRow 12."]
    assert [message.parent_id for message in path] == [None, *(message.pk for message in path[:-1])]
    assert all(message.encoding and message.content_tokens for message in path)
    assert copy.owner == bob
    assert copy.head == path[-1]
    assert copy.scenario.owner_id != talk.owner_id
    assert not copy.notes
    picture = copy.pictures.get()
    assert path[2].picture_ids == [picture.pk]
    assert picture.uploader == bob
    assert (picture.file_name, picture.alt_text) == ("", "the-picture")  # the share's pages show no name of a file
    assert "the-reasoning" not in serializers.serialize("json", Message.objects.filter(conversation=copy))
    post_answered(copy, "And on?")


def test_copies_count_the_limits_of_their_reader(talk, settings):
    store = store_picture(talk, b"x" * 2_000_000)
    post_answered(talk, "One", pictures=[store.pk])
    made = share(talk, shown=ALL)
    bob = make_user("bob")
    settings.DOCUMENT_STORAGE_MEGABYTES = 1
    with pytest.raises(DocumentStorageFull):
        continue_share(user=bob, share=made.share)
    assert not Conversation.objects.filter(owner=bob).exists()
    settings.DOCUMENT_STORAGE_MEGABYTES = 500
    for _ in range(COPIES.most - 1):
        continue_share(user=bob, share=made.share)
    with pytest.raises(LimitReached):
        continue_share(user=bob, share=made.share)


def test_a_long_conversation_is_copied_a_page_at_a_time(talk, django_assert_max_num_queries):
    for number in range(4):
        post_answered(talk, f"Question {number}")
    with django_assert_max_num_queries(60):
        made = share(talk, shown=ALL)
    assert json.loads(stored(made))[0]["fields"]["message_count"] == 8


@pytest.fixture
def small(monkeypatch):
    """Megabytes of a thousand bytes."""
    monkeypatch.setattr(share_storage, "BYTES_PER_MEGABYTE", 1_000)


def test_shares_and_copies_hold_as_much_text_as_the_setting_says_and_nothing_of_more(talk, alice, small, settings):
    settings.SHARE_STORAGE_MEGABYTES = 2
    post_answered(talk, "One", reply="".join(map(chr, range(0x4E00, 0x4E00 + 400))))  # nothing that could be compressed
    made = share(talk)
    assert 1_200 < made.share.size_bytes < 2_000
    with pytest.raises(ShareStorageFull):
        share(talk)
    assert (Share.objects.count(), SharedMessage.objects.count()) == (1, 2)
    bob = make_user("bob")
    copy = continue_share(user=bob, share=made.share)
    assert copy.copied_bytes == made.share.size_bytes
    with pytest.raises(ShareStorageFull):
        continue_share(user=bob, share=made.share)
    assert Conversation.objects.filter(owner=bob).count() == 1
    made.share.delete()
    share(talk)


def test_what_a_search_of_documents_found_is_held_only_with_their_passages(talk):
    posted = post(Conversation.objects.select_related("scenario").get(pk=talk.pk), "Plan?")
    add_call(posted.reply, "search_documents", '{"words": "plan"}', result="[plan.txt] the-found")
    add_call(posted.reply, "calculator", '{"x": "1"}', result="the-sum")
    end_step(posted.reply, text="Let me see.")
    end_reply(posted.reply.pk, COMPLETE, content="Yes")
    without, together = (
        stored(share(talk, shown=ShareChoices(shows_tools=True, shows_documents=shows))) for shows in (False, True)
    )
    assert ("the-found" in without, "the-sum" in without) == (False, True)
    assert "the-found" in together

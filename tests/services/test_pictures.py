"""Adding pictures, sending them with messages, and sweeping those that never were."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from django.utils import timezone

from chatsite.accounts.models import Limits
from conversations.core.errors import (
    ConversationNotFound,
    DocumentStorageFull,
    EmptyMessage,
    PictureAlreadySent,
    PictureKindUnknown,
    PicturesGone,
    PictureTooLarge,
    TooManyPictures,
    UploadsUsedUp,
)
from conversations.models import Conversation, Message, Picture, PictureFile, UploadCount
from conversations.services.conversations.deletion import delete_conversation, sweep_deleted_conversations
from conversations.services.documents.storage_limit import kept_bytes
from conversations.services.messages.edit_message import edit_message
from conversations.services.pictures.pictures import KEPT_UNSENT, add_picture, describe_picture, sweep_unsent_pictures
from conversations.services.portability.delete_account import delete_account
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.parsing.pictures import drawing, encoded, photo
from tests.support.people import begin, make_user, post
from tests.support.pictures import store_picture

pytestmark = pytest.mark.django_db
NAVY, TEAL = encoded(drawing()), encoded(drawing(colour="teal"))


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def conversation(alice):
    return begin(alice)


def add(user, conversation, content=NAVY, name="cat.png"):
    return add_picture(user=user, public_id=conversation.public_id, name=name, content=content)


def test_a_picture_is_kept_as_it_was_encoded_again(alice, conversation):
    picture = add(alice, conversation, encoded(photo(), "WEBP"), name="../cat\u202e.webp")
    assert (picture.media_type, picture.width, picture.height) == ("image/jpeg", 320, 240)
    assert (picture.file_name, picture.uploader, picture.sent) == ("cat.webp", alice, False)
    stored = bytes(PictureFile.objects.get(picture=picture).content)
    assert stored.startswith(b"\xff\xd8\xff")
    assert len(stored) == picture.size_bytes == kept_bytes(alice)


def test_the_same_picture_is_the_same_row(alice, conversation):
    assert add(alice, conversation) == add(alice, conversation) != add(alice, begin(alice))
    assert add(alice, conversation, encoded(drawing(), "PNG", optimize=True)) == add(alice, conversation)


def test_a_picture_begins_a_conversation(alice):
    public_id = uuid.uuid4()
    add_picture(user=alice, public_id=public_id, name="", content=NAVY)
    assert Conversation.objects.get(public_id=public_id).owner == alice


def test_one_of_someone_else_takes_none(alice, conversation):
    with pytest.raises(ConversationNotFound):
        add(make_user("bob"), conversation)
    assert not UploadCount.objects.exists()


def test_limits_of_uploads_hold_for_pictures(alice, conversation, settings):
    Limits.objects.create(user=alice, uploads_per_day=2)
    with pytest.raises(PictureKindUnknown):
        add(alice, conversation, b"<html>")
    add(alice, conversation)
    with pytest.raises(UploadsUsedUp):
        add(alice, conversation, TEAL)


def test_a_file_that_is_too_large_is_not_opened(alice, conversation, settings):
    settings.PICTURE_MEGABYTES = 0
    with pytest.raises(PictureTooLarge):
        add(alice, conversation)


def test_pictures_and_documents_share_the_storage(alice, conversation, settings):
    add(alice, conversation)
    settings.DOCUMENT_STORAGE_MEGABYTES = 0
    with pytest.raises(DocumentStorageFull):
        add(alice, conversation, TEAL)
    assert add(alice, conversation)  # which is there already


def test_a_message_holds_its_pictures_in_their_order_each_once(conversation):
    cat, dog = store_picture(conversation, b"cat"), store_picture(conversation, b"dog")
    posted = post(conversation, "Which?", pictures=[dog.pk, cat.pk, dog.pk])
    assert Message.objects.get(pk=posted.message.pk).picture_ids == [dog.pk, cat.pk]
    assert set(Picture.objects.values_list("sent", flat=True)) == {True}


def test_a_message_of_pictures_alone_needs_no_words(conversation):
    cat = store_picture(conversation)
    posted = post(conversation, "  ", pictures=[cat.pk])
    assert (posted.message.content, posted.cleaned) == ("", False)
    conversation.refresh_from_db()
    assert conversation.title == ""


def test_nothing_at_all_is_no_message(conversation):
    with pytest.raises(EmptyMessage):
        post(conversation, " ", pictures=[])


def test_sent_again_it_is_the_same_message(conversation):
    cat, client_id = store_picture(conversation), uuid.uuid4()
    first = post(conversation, "See", pictures=[cat.pk], client_id=client_id)
    again = post(conversation, "See", pictures=[cat.pk], client_id=client_id)
    assert (again.message, again.created) == (first.message, False)


def test_fifty_pictures_at_once_are_refused_and_nothing_is_stored(conversation):
    with pytest.raises(TooManyPictures, match="20 pictures"):
        post(conversation, "See", pictures=range(1, 51))
    assert not Message.objects.exists()


def test_a_picture_of_another_conversation_is_refused_and_nothing_is_stored(alice, conversation):
    elsewhere, here = store_picture(begin(alice)), store_picture(conversation)
    with pytest.raises(PicturesGone):
        post(conversation, "See", pictures=[here.pk, elsewhere.pk])
    assert not Message.objects.exists()
    assert not Picture.objects.filter(sent=True).exists()


@pytest.mark.parametrize(("pictures", "left"), [(None, ["cat"]), ([], []), (["dog"], ["dog"])])
def test_a_new_version_keeps_its_pictures_unless_others_are_named(conversation, pictures, left):
    ids = {name: store_picture(conversation, name.encode()).pk for name in ("cat", "dog")}
    posted = post(conversation, "See", pictures=[ids["cat"]])
    end_reply(posted.reply.pk, COMPLETE, content="I see")
    edited = edit_message(
        user=conversation.owner,
        conversation=conversation,
        message_id=posted.message.pk,
        content="Look",
        client_id=uuid.uuid4(),
        pictures=None if pictures is None else [ids[name] for name in pictures],
    )
    assert edited.message.picture_ids == [ids[name] for name in left]


def test_what_was_not_sent_for_a_day_is_swept(conversation):
    old, sent, new = (store_picture(conversation, name) for name in (b"old", b"sent", b"new"))
    post(conversation, "See", pictures=[sent.pk])
    Picture.objects.exclude(pk=new.pk).update(created_at=timezone.now() - KEPT_UNSENT - dt.timedelta(minutes=1))
    assert sweep_unsent_pictures() == 1
    assert set(Picture.objects.all()) == {sent, new}
    assert not PictureFile.objects.filter(pk=old.pk).exists()


def test_one_that_is_added_again_is_kept_for_another_day(alice, conversation):
    picture = add(alice, conversation)
    Picture.objects.update(created_at=timezone.now() - KEPT_UNSENT - dt.timedelta(minutes=1))
    assert add(alice, conversation) == picture
    assert sweep_unsent_pictures() == 0


def test_a_description_is_one_line(conversation):
    cat = store_picture(conversation)
    assert describe_picture(cat, alt_text="  A\x00 cat\non a mat ") == "A cat on a mat"
    cat.refresh_from_db()
    assert cat.alt_text == "A cat on a mat"


def test_a_picture_that_was_sent_keeps_its_description(alice):
    conversation = begin(alice)
    cat = store_picture(conversation, alt_text="A cat")
    post(conversation, "What is this?", pictures=[cat.pk])
    assert describe_picture(cat, alt_text=" A cat ") == "A cat"
    with pytest.raises(PictureAlreadySent):
        describe_picture(cat, alt_text="A dog")
    assert Picture.objects.get(pk=cat.pk).alt_text == "A cat"


def test_pictures_go_with_their_conversation(conversation, alice):
    post(conversation, "See", pictures=[store_picture(conversation).pk])
    delete_conversation(conversation)
    assert Picture.objects.exists()
    Conversation.objects.update(deleted_at=timezone.now() - dt.timedelta(days=31))
    sweep_deleted_conversations()
    assert not Picture.objects.exists()
    assert not PictureFile.objects.exists()


def test_pictures_go_with_their_account(conversation, alice):
    post(conversation, "See", pictures=[store_picture(conversation).pk])
    delete_account(alice)
    assert not PictureFile.objects.exists()

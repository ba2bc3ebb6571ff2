"""Pictures over HTTP: added, shown to their owner alone, sent with a message."""

from __future__ import annotations

import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.test import Client
from django.urls import reverse

from conversations.models import Conversation, Message, Picture
from conversations.selectors.conversations.conversation_list import list_conversations
from conversations.services.conversations.deletion import sweep_unused_conversations
from conversations.services.pictures.pictures import KEPT_UNSENT, sweep_unsent_pictures
from conversations.services.review.readings import open_reading
from conversations.views.http.inert_policy import INERT
from tests.grounding.documents import store_document
from tests.parsing.pictures import drawing, encoded, photo
from tests.support.people import begin, make_user, post
from tests.support.pictures import store_picture

pytestmark = pytest.mark.django_db
JSON = {"HTTP_ACCEPT": "application/json"}


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def conversation(alice):
    return begin(alice)


def client_of(user):
    client = Client()
    client.force_login(user)
    return client


def send(user, public_id, content, **headers):
    files = {"files": SimpleUploadedFile("cat.png", content)}
    return client_of(user).post(reverse("conversations:add_picture", args=[public_id]), files, **headers)


def address_of(picture, name="picture"):
    return reverse(f"conversations:{name}", args=[picture.conversation.public_id, picture.pk])


def test_a_script_is_told_the_number_and_the_size(alice):
    answer = send(alice, uuid.uuid4(), encoded(drawing()), **JSON)
    picture = Picture.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {"picture": picture.pk, "width": 320, "height": 240, "alt_text": ""}


def test_a_picture_that_is_not_sent_puts_no_conversation_into_the_list_and_leaves_none(alice):
    public_id = uuid.uuid4()
    send(alice, public_id, encoded(drawing()), **JSON)
    assert list_conversations(alice) == []
    assert sweep_unused_conversations() == 0
    Picture.objects.update(created_at=F("created_at") - KEPT_UNSENT * 2)
    Conversation.objects.update(last_active_at=F("last_active_at") - KEPT_UNSENT * 2)
    assert sweep_unused_conversations() == 0  # its picture may still be sent
    sweep_unsent_pictures()
    assert sweep_unused_conversations() == 1
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("kept", ["message", "document", "name", "notes"])
def test_what_lasts_puts_it_there_and_keeps_it(alice, conversation, kept):
    if kept == "message":
        post(conversation, "What is this?")
    elif kept == "document":
        store_document(conversation, ["A cat."])
    else:
        columns = {"name": {"title": "Cats", "title_is_given": True}, "notes": {"notes": "It is about cats."}}[kept]
        Conversation.objects.update(**columns)
    Conversation.objects.update(last_active_at=F("last_active_at") - KEPT_UNSENT * 2)
    assert list_conversations(alice) == [conversation]
    assert sweep_unused_conversations() == 0


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [(b"<html>", 400, "picture_kind_unknown"), (b"", 400, "picture_empty"), (b"\xff\xd8\xff", 400, "picture_damaged")],
)
def test_what_is_no_picture_is_refused_with_a_reason(alice, content, status, code):
    answer = send(alice, uuid.uuid4(), content, **JSON)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not Conversation.objects.exists()


def test_no_file_is_said(alice, conversation):
    answer = client_of(alice).post(reverse("conversations:add_picture", args=[conversation.public_id]), **JSON)
    assert (answer.status_code, answer.json()["code"]) == (400, "file_missing")


def test_a_picture_is_shown_as_what_it_is_and_nothing_else(conversation, alice):
    picture = store_picture(conversation, b"<script>", file_name='"; evil')
    shown = client_of(alice).get(address_of(picture))
    assert (shown.status_code, shown.content, shown["Content-Type"]) == (200, b"<script>", "image/png")
    assert shown["X-Content-Type-Options"] == "nosniff"
    assert shown["Content-Security-Policy"] == INERT
    assert shown["Cache-Control"] == "private, max-age=31536000, immutable"
    assert shown["Content-Disposition"] == f'inline; filename="picture-{picture.pk}.png"'


def test_others_see_nothing_of_it(conversation):
    picture = store_picture(conversation)
    bob = make_user("bob")
    assert client_of(bob).get(address_of(picture)).status_code == 404
    below_his_own = reverse("conversations:picture", args=[begin(bob).public_id, picture.pk])
    assert client_of(bob).get(below_his_own).status_code == 404
    assert client_of(bob).post(address_of(picture, "describe_picture"), {"alt_text": "x"}).status_code == 404


def test_it_is_described(conversation, alice):
    picture = store_picture(conversation)
    answer = client_of(alice).post(address_of(picture, "describe_picture"), {"alt_text": "A  cat"}, **JSON)
    assert answer.json() == {"alt_text": "A cat"}


def test_a_form_sends_a_message_with_its_pictures(conversation, alice):
    cat, dog = store_picture(conversation, b"cat"), store_picture(conversation, b"dog")
    fields = {"content": "", "client_id": uuid.uuid4(), "pictures": [dog.pk, cat.pk]}
    answer = client_of(alice).post(reverse("conversations:post", args=[conversation.public_id]), fields, **JSON)
    assert answer.status_code == 201
    assert Message.objects.get(role="user").picture_ids == [dog.pk, cat.pk]


def plain_form(user, public_id, *files, **fields):
    """Send the form of the composer as a browser without a script does."""
    named = [SimpleUploadedFile(f"{number}.png", file) for number, file in enumerate(files)]
    values = {"content": "What is this?", "client_id": uuid.uuid4(), "files": named, **fields}
    return client_of(user).post(reverse("conversations:post", args=[public_id]), values)


def test_a_plain_form_sends_its_files_as_pictures_of_the_message(alice):
    public_id = uuid.uuid4()
    answer = plain_form(alice, public_id, encoded(drawing()), encoded(photo(), "JPEG"))
    page = client_of(alice).get(answer.url).content.decode()
    sent = Message.objects.get(role="user")

    assert answer.url == reverse("conversations:conversation", args=[public_id])
    assert [Picture.objects.get(pk=pk).media_type for pk in sent.picture_ids] == ["image/png", "image/jpeg"]
    assert all(address_of(picture) in page for picture in Picture.objects.all())


def test_a_plain_form_needs_no_words_beside_its_pictures(alice, conversation):
    assert plain_form(alice, conversation.public_id, encoded(drawing()), content="").status_code == 302
    assert Message.objects.get(role="user").picture_ids == [Picture.objects.get().pk]


def test_the_page_has_a_plain_choice_of_files_for_browsers_without_scripts(alice, conversation):
    page = client_of(alice).get(reverse("conversations:conversation", args=[conversation.public_id])).content.decode()
    form = page[page.index('<form class="composer"') :]
    plain = form[form.index("<noscript>") : form.index("</noscript>")]

    assert 'enctype="multipart/form-data"' in form[: form.index(">")]
    assert 'type="file" name="files"' in plain


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [(b"<html>", 400, "not a picture that can be read"), (b"\xff\xd8\xff", 400, "damaged")],
)
def test_a_file_of_a_plain_form_that_is_refused_sends_nothing(alice, conversation, content, status, words):
    answer = plain_form(alice, conversation.public_id, encoded(drawing()), content)
    page = answer.content.decode()

    assert answer.status_code == status
    assert words in page
    assert ">What is this?</textarea>" in page
    assert f'name="pictures" value="{Picture.objects.get().pk}" checked' in page  # the other one was kept
    assert not Message.objects.exists()


def test_a_refused_message_is_sent_again_with_the_pictures_that_were_kept(alice, conversation):
    refused = plain_form(alice, conversation.public_id, encoded(drawing()), content="window " * 5_000)
    kept = Picture.objects.get()
    again = plain_form(alice, conversation.public_id, pictures=[kept.pk])

    assert (refused.status_code, again.status_code) == (413, 302)
    assert f'name="pictures" value="{kept.pk}" checked' in refused.content.decode()
    assert Message.objects.get(role="user").picture_ids == [kept.pk]


def test_a_plain_form_has_the_same_limits(alice, conversation, settings):
    settings.PICTURES_PER_MESSAGE = 1
    many = plain_form(alice, conversation.public_id, encoded(drawing()), encoded(photo()))
    settings.PICTURE_MEGABYTES = 0
    large = plain_form(alice, conversation.public_id, encoded(drawing()))

    assert (many.status_code, large.status_code) == (413, 413)
    assert not Picture.objects.exists()
    assert not Message.objects.exists()


def test_a_conversation_that_begins_with_a_picture_begins_as_it_was_chosen(alice, settings):
    settings.OPENAI_BASE_URL = "http://localhost:1/v1"
    settings.LANGUAGE_MODELS = "first context_window=8192, second context_window=8192 efforts=low|high"
    public_id = uuid.uuid4()
    chosen = {"language_model": "second", "effort": "high", "searches_web": "true"}
    form = {"files": SimpleUploadedFile("cat.png", encoded(drawing())), **chosen}
    client_of(alice).post(reverse("conversations:add_picture", args=[public_id]), form)

    begun = Conversation.objects.get(public_id=public_id)
    assert (begun.language_model, begun.effort, begun.searches_web) == ("second", "high", True)


def test_a_number_that_is_none_is_refused(conversation, alice):
    fields = {"content": "x", "client_id": uuid.uuid4(), "pictures": ["1e3"]}
    answer = client_of(alice).post(reverse("conversations:post", args=[conversation.public_id]), fields, **JSON)
    assert (answer.status_code, answer.json()["code"]) == (400, "frame_invalid")


def test_the_thread_shows_them_below_the_question(conversation, alice):
    cat = store_picture(conversation, alt_text='A "cat"')
    post(conversation, "What is this?", pictures=[cat.pk])
    page = client_of(alice).get(reverse("conversations:conversation", args=[conversation.public_id])).content.decode()
    assert f'src="{address_of(cat)}" alt="A &quot;cat&quot;" width="320" height="240"' in page


def test_a_form_for_a_new_version_says_which_pictures_stay(conversation, alice):
    cat = store_picture(conversation)
    message = post(conversation, "See", pictures=[cat.pk]).message
    form = client_of(alice).get(reverse("conversations:edit", args=[conversation.public_id, message.pk])).content
    assert f'name="pictures" value="{cat.pk}" checked'.encode() in form


def test_a_reviewer_sees_it_within_a_reading_alone(conversation):
    grace = make_user("grace", role="reviewer")
    cat = store_picture(conversation, b"cat")
    post(conversation, "See", pictures=[cat.pk])
    client, own = client_of(grace), address_of(cat)
    address = reverse("admin:conversations_conversation_picture", args=[conversation.pk, cat.pk])
    thread = reverse("admin:conversations_conversation_change", args=[conversation.pk])
    assert client.get(address).status_code == 302
    assert address not in client.get(thread).content.decode()
    reading = open_reading(grace, conversation, "A complaint about what was answered")
    shown = client.get(address)
    assert shown.content == b"cat"
    assert "no-store" in shown["Cache-Control"]  # a reading ends
    assert address in client.get(thread).content.decode()
    assert ("picture", str(cat.pk)) in reading.steps.values_list("what", "detail")
    assert client.get(own).status_code == 404
    elsewhere = store_picture(begin(make_user("bob")))
    crossed = reverse("admin:conversations_conversation_picture", args=[conversation.pk, elsewhere.pk])
    assert client.get(crossed).status_code == 404

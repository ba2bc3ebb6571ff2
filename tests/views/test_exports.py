"""Exports of conversations: as Markdown, as a page that loads nothing, as JSON, and several as a ZIP."""

from __future__ import annotations

import io
import re
import uuid
from zipfile import ZipFile

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils.translation import gettext, override

from chatsite.accounts.models import User
from conversations.models import Conversation, ExportLease
from conversations.models.conversation import UNTITLED
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.folders import create_folder
from conversations.services.conversations.list_changes import arrange_conversations, move_conversations
from conversations.services.messages.edit_message import edit_message
from conversations.services.portability.export_lease import take_lease
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.retention.keep_conversations import keep_conversation
from conversations.views.http import export_stream
from conversations.views.http.export_stream import LONGEST_PAUSE_SECONDS, export_response
from conversations.views.portability.exported_markdown import markdown_pieces
from conversations.views.portability.exported_page import page_pieces
from conversations.wording.error_sentences import ReaderLocale
from tests.support.people import begin, make_user, post
from tests.support.pictures import store_picture
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db(transaction=True)
READER = ReaderLocale("en")
SEVERAL = reverse("conversations:export_several")


@pytest.fixture
def alice(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return make_user("alice")


@pytest.fixture
def talk(alice):
    talk = begin(alice)
    talk.title = 'Lofoten: "March"/April'
    talk.save()
    return talk


def answer(talk, question, content, **posted):
    found = post(talk, question, **posted)
    end_reply(found.reply.pk, COMPLETE, content=content)
    return found


def address(talk, **query):
    return reverse("conversations:export", args=[talk.public_id], query=query or None)


def downloaded(user, path, fields=None):
    async def ask():
        client = AsyncClient()
        await client.aforce_login(user)
        response = await (client.post(path, fields) if fields else client.get(path))
        body = b"".join([piece async for piece in response.streaming_content]) if response.streaming else b""
        return response, body

    return async_to_sync(ask)()


@pytest.mark.parametrize(("kind", "ending"), [("markdown", "md"), ("html", "html"), ("json", "json")])
def test_a_file_is_named_by_the_title(alice, talk, kind, ending):
    answer(talk, "Is there *snow*?", "**Yes**, lots.")
    response, body = downloaded(alice, address(talk, kind=kind))
    assert f'filename="Lofoten March April.{ending}"' in response["Content-Disposition"]
    assert "Is there" in body.decode()
    assert not ExportLease.objects.exists()


def test_the_page_has_the_versions_that_are_shown_and_loads_nothing(alice, talk):
    first = answer(talk, "An old question", "An old reply")
    picture = store_picture(talk, b"\x89PNG and so on", alt_text="a <cat>")
    edited = edit_message(
        user=alice, conversation=talk, message_id=first.message.pk, content="Look!", client_id=uuid.uuid4()
    )
    end_reply(edited.reply.pk, COMPLETE, content="![x](https://evil.example/x.png) <script>alert(1)</script>")
    answer(talk, "And this?", "A cat", pictures=[picture.pk])
    page = "".join(page_pieces(talk, READER))
    assert "An old" not in page
    assert "<script" not in page
    assert 'alt="a &lt;cat&gt;"' in page
    assert re.findall(r'(?:src|srcset|poster|data)="(?!data:image/)[^"]*"', page) == []
    assert "<link" not in page
    assert not re.search(r"url\((?!.?#)", page)
    assert "@import" not in page


def test_markdown_has_what_was_written_and_what_was_called(alice, talk):
    counted = post(talk, "What is 17 × 23?")
    add_call(counted.reply, "calculator", "```\n{}\n````", result="391")
    end_step(counted.reply, text="Let me see.")
    end_reply(counted.reply.pk, COMPLETE, content="It is `391`.")
    text = "".join(markdown_pieces(talk, READER))
    assert text.startswith('# Lofoten: "March"/April\n\n## You, ')
    assert "Let me see.\n\nIt is `391`." in text
    assert "`````\n```\n{}\n````\n`````" in text  # no fence in it ends the block
    assert "391" in text


def test_what_a_picture_shows_is_on_one_line_of_markdown(alice, talk):
    picture = store_picture(talk, alt_text="a *cat*\n\n# on a mat")
    answer(talk, "And this?", "A cat", pictures=[picture.pk])
    assert r"*Picture: a \*cat\* \# on a mat*" in "".join(markdown_pieces(talk, READER))


def test_an_export_pauses_after_each_piece(alice, talk, monkeypatch):
    pauses, seconds = [], [0.0]

    async def sleep(pause_seconds):
        pauses.append(round(pause_seconds, 3))

    def pieces():
        for took_seconds in (0.1, 0.02, 99):
            seconds[0] += took_seconds
            yield b"piece"

    monkeypatch.setattr(export_stream, "sleep", sleep)
    monkeypatch.setattr(export_stream, "monotonic", lambda: seconds[0])

    response = export_response(alice, "file", pieces(), content_type="text/plain")

    async def read():
        return [piece async for piece in response]

    assert async_to_sync(read)() == [b"piece"] * 3
    assert pauses == [0.15, 0.03, LONGEST_PAUSE_SECONDS, 0.0]


def test_several_come_in_one_zip(alice, talk):
    answer(talk, "Snow?", "Yes")
    other = begin(alice)
    answer(other, "Rain?", "No")
    fields = {"conversation": [talk.public_id, other.public_id], "kind": "markdown"}
    _, body = downloaded(alice, SEVERAL, fields)
    archive = ZipFile(io.BytesIO(body))
    texts = [archive.read(name).decode() for name in archive.namelist()]
    assert ["Snow?" in text for text in texts] == [True, False]
    assert ["Rain?" in text for text in texts] == [False, True]


def test_in_a_zip_what_has_no_title_is_named_in_the_readers_language(alice, talk):
    answer(talk, "Snow?", "Yes")
    Conversation.objects.filter(pk=talk.pk).update(title="")
    User.objects.filter(pk=alice.pk).update(language="zh-hans")
    _, body = downloaded(alice, SEVERAL, {"conversation": [talk.public_id], "kind": "markdown"})
    [name] = ZipFile(io.BytesIO(body)).namelist()
    with override("zh-hans"):
        untitled = gettext(UNTITLED)
    assert untitled != UNTITLED
    assert f" {untitled} (" in name


def test_a_folder_comes_whole_in_one_zip_and_an_empty_one_says_so(alice, talk):
    answer(talk, "Snow?", "Yes")
    kept = create_folder(alice, name="Winter/2027")
    for each in (kept_one := begin(alice), starred := begin(alice), begin(alice)):
        answer(each, f"Question {each.pk}", "Yes")
    move_conversations(alice, [kept_one.public_id, starred.public_id], kept)
    arrange_conversations(alice, [starred.public_id], starred=True, archived=True)
    response, body = downloaded(alice, SEVERAL, {"whole_folder": kept.pk, "kind": "markdown"})
    assert 'filename="Winter 2027 ' in response["Content-Disposition"]
    archive = ZipFile(io.BytesIO(body))
    texts = "".join(archive.read(name).decode() for name in archive.namelist())
    assert len(archive.namelist()) == 2
    assert f"Question {kept_one.pk}" in texts
    assert f"Question {starred.pk}" in texts
    empty = create_folder(alice, name="Nothing yet")
    response, _ = downloaded(alice, SEVERAL, {"whole_folder": empty.pk, "kind": "markdown"})
    assert response.status_code == 409
    response, _ = downloaded(make_user("bob"), SEVERAL, {"whole_folder": kept.pk, "kind": "markdown"})
    assert response.status_code == 404


def test_those_that_are_ticked_are_exported_also_with_a_folder_to_move_them_to(alice, talk):
    answer(talk, "Snow?", "Yes")
    kept = create_folder(alice, name="Winter")
    _, body = downloaded(alice, SEVERAL, {"conversation": [talk.public_id], "folder": kept.pk, "kind": "json"})
    assert len(ZipFile(io.BytesIO(body)).namelist()) == 1


def test_someone_elses_among_several_is_not_found(alice, talk):
    answer(talk, "Snow?", "Yes")
    bob = make_user("bob")
    response, body = downloaded(bob, SEVERAL, {"conversation": [begin(bob).public_id, talk.public_id], "kind": "json"})
    assert (response.status_code, body) == (404, b"")


def test_the_form_is_asked_for_first(alice, talk):
    client = Client()
    client.force_login(alice)
    assert "download" in client.get(address(talk)).text
    assert "one ZIP" in client.get(SEVERAL, {"conversation": [talk.public_id]}).text
    assert client.get(address(talk, kind="pdf")).status_code == 400
    assert client.get(SEVERAL, {"conversation": ["'"]}).status_code == 400
    assert client.get(SEVERAL).status_code == 400


def test_a_temporary_conversation_is_exported_only_once_it_is_kept(alice):
    talk = start_conversation(user=alice, public_id=uuid.uuid4(), temporary=True)
    answer(talk, "Snow?", "Yes")
    client = Client()
    client.force_login(alice)
    response = client.get(address(talk, kind="html"))
    assert response.status_code == 409
    assert "temporary conversation can’t be exported" in response.text
    keep_conversation(talk)
    assert downloaded(alice, address(talk, kind="html"))[0].status_code == 200


def test_two_at_once_are_one_too_many(alice, talk):
    answer(talk, "Snow?", "Yes")
    take_lease(alice)
    response, _ = downloaded(alice, address(talk, kind="json"))
    assert response.status_code == 429


def test_a_long_one_is_read_a_page_at_a_time(alice, talk, django_assert_max_num_queries):
    for number in range(3):
        answer(talk, f"Question {number}", "Yes")
    whole_page = page_pieces(talk, READER)
    next(whole_page)
    with django_assert_max_num_queries(12):
        assert "Question 2" in "".join(whole_page)

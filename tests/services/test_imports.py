"""Imports from their files to stored conversations: new, again, grown, deleted, with pictures, and cut short."""

from __future__ import annotations

import datetime as dt
import io
import json
import uuid

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from chatsite.accounts.models import Limits
from conversations.core.errors import (
    FileMissing,
    ImportNotFound,
    ImportPieceMisplaced,
    ImportsForbidden,
    ImportTooLarge,
    MessagesForbidden,
    ScenarioNotFound,
    TooManyImports,
)
from conversations.models import (
    Completion,
    Conversation,
    ConversationImport,
    ConversationOrigin,
    ImportFile,
    ImportPiece,
    Message,
    Picture,
    Scenario,
    ToolCall,
)
from conversations.parsing import read_picture
from conversations.services.conversations.deletion import delete_conversation, sweep_deleted_conversations
from conversations.services.imports import import_pictures, run_import, store_conversations
from conversations.services.imports.import_claim import (
    MOST_ATTEMPTS,
    ImportLost,
    begin_command_import,
    claim_import,
    release_import,
)
from conversations.services.imports.import_files import (
    SentFile,
    StoredFile,
    add_piece,
    begin_import,
    cancel_import,
    find_import,
    pause_import,
    resume_import,
    start_import,
    sweep_imports,
)
from conversations.services.imports.run_import import import_batches
from conversations.services.imports.text_room import ROW_BYTES
from conversations.services.messages.switch_version import switch_version
from conversations.services.portability.delete_account import delete_account
from conversations.services.portability.export_account import exported_files
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.parsing.pictures import drawing, encoded
from tests.support.exports import (
    as_json,
    as_zip,
    chatgpt,
    chatgpt_files,
    chatgpt_line,
    claude,
    export_of,
    librechat,
    node,
    odd_chatgpt,
    open_webui,
)
from tests.support.hypothesis_profile import count_cases
from tests.support.idle_transactions import ending_idle_transactions
from tests.support.imports import import_files, report_of, run_claimed, run_waiting, send_files
from tests.support.people import make_user, path_of, post

pytestmark = pytest.mark.django_db
NAVY = encoded(drawing())


@pytest.fixture
def alice():
    return make_user("alice")


def adds_up(found):
    report = report_of(found)
    return report.total("messages_found") == report.total("messages_taken") + sum(report.left_out.values())


# What is stored


def test_an_imported_conversation_is_like_one_that_was_written_here(alice):
    asked = chatgpt_line(
        "c", "Where is the sea?", "There.", title="The\u202e sea\x00", is_archived=True, is_starred=True
    )
    found = import_files(alice, as_json([asked]))
    [conversation] = Conversation.objects.all()
    assert path_of(conversation) == [("user", "complete", "Where is the sea?"), ("assistant", "complete", "There.")]
    assert (conversation.title, conversation.title_is_given) == ("The sea", True)
    assert (conversation.archived, conversation.starred) == (True, True)
    assert conversation.created_at == dt.datetime.fromtimestamp(1761000000.25, dt.UTC)
    assert conversation.last_active_at == dt.datetime.fromtimestamp(1761000090.5, dt.UTC)
    assert conversation.scenario.is_default
    assert conversation.head.content == "There."
    assert conversation.head.content_tokens > 0
    assert found.state == "ended"
    assert not Completion.objects.exists()
    posted = post(conversation, "And the lighthouse?")
    assert posted.message.position == 2


def test_each_oddity_is_taken_or_named(alice):
    lost = {"id": "x", "title": "none", "create_time": 1}
    found = import_files(alice, as_zip(chatgpt_files(odd_chatgpt(), lost, picture=NAVY)))
    [conversation] = Conversation.objects.all()
    assert [content for _, _, content in path_of(conversation)] == [
        "Text before the picture\nand after",
        "",
        "X\nrobots",
        "It is a lighthouse. ([Sea](https://sea.example))",
        "new wording\n\n[File: plan.pdf]",
        "**Plan**\n\n# The plan",
    ]
    old = Message.objects.get(content="old wording")
    assert not old.active
    switch_version(conversation=conversation, message_id=old.pk)
    reply = Message.objects.get(content__startswith="It is")
    assert (reply.reasoning, reply.copied_model) == ("**Look**\n\nA small picture.", "gpt-x")
    assert reply.reasoning_tokens > 0
    [picture] = Picture.objects.all()
    assert (picture.file_name, picture.sent, picture.media_type) == ("sea.png", True, "image/png")
    assert Message.objects.get(position=0).picture_ids == [picture.pk]
    report = report_of(found)
    assert report.formats["chatgpt"] == {
        "new": 1, "broken": 1, "messages_found": 14, "messages_taken": 8, "messages_added": 8,
    }  # fmt: skip
    assert report.problems == [["none", "no_messages"]]
    assert (report.pictures, adds_up(found)) == (1, True)


def test_a_picture_that_is_missing_is_named_in_its_message(alice):
    found = import_files(alice, as_zip(chatgpt_files(odd_chatgpt())))
    first = Message.objects.get(position=0)
    assert first.content == "Text before the picture\nand after\n\n[Picture: ?]"
    assert report_of(found).missing["missing_files"] == 1
    import_files(alice, as_zip(chatgpt_files(odd_chatgpt(), picture=NAVY)))  # a newer export has it
    first.refresh_from_db()
    assert len(first.picture_ids) == 1


def test_a_picture_that_many_messages_name_is_read_once(alice, monkeypatch):
    read = []
    monkeypatch.setattr(import_pictures, "read_picture", lambda content: read.append(content) or read_picture(content))
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00ab"}
    shown = {"content_type": "multimodal_text", "parts": ["See", pointer]}
    lost = {"content_type": "multimodal_text", "parts": ["See", {**pointer, "asset_pointer": "sediment://file_bad"}]}
    talks = [chatgpt(f"c{talk}", [
        node(f"n{number}", f"n{number - 1}" if number else "root", "user", lost if number == 4 else shown)
        for number in range(5)], "n4") for talk in range(2)]  # fmt: skip
    files = chatgpt_files(*talks, picture=NAVY) | {"file_bad.dat": b"not a picture"}
    found = import_files(alice, as_zip(files))
    assert len(read) == 2
    assert sorted(Picture.objects.values_list("conversation__title", flat=True)) == ["c0", "c1"]
    assert set(Picture.objects.values_list("file_name", flat=True)) == {"sea.png"}
    assert Message.objects.exclude(picture_ids=[]).count() == 8
    assert (report_of(found).pictures, report_of(found).missing) == (8, {"unreadable_pictures": 2})


def test_what_is_no_picture_and_what_has_no_room_is_left_out(alice, settings):
    found = import_files(alice, as_zip(chatgpt_files(odd_chatgpt(), picture=b"not a picture")))
    assert report_of(found).missing["unreadable_pictures"] == 1
    settings.DOCUMENT_STORAGE_MEGABYTES = 0
    found = import_files(alice, as_zip(chatgpt_files(odd_chatgpt("other"), picture=NAVY)))
    assert report_of(found).missing["no_room"] == 1
    assert not Picture.objects.exists()


@pytest.mark.parametrize(
    ("content", "name"),
    [(as_json([claude()]), "claude"), (as_json([open_webui()]), "open_webui"), (as_json(librechat()), "librechat")],
)
def test_each_format_is_stored_and_adds_up(alice, content, name):
    found = import_files(alice, content)
    assert Conversation.objects.get().origins.get().format == name
    assert adds_up(found)


def test_tool_turns_become_steps_of_their_reply(alice):
    call = {"id": "1", "type": "function", "function": {"name": "sum", "arguments": "{}"}}
    rows = [
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "4", "tool_call_id": "1"},
        {"role": "assistant", "content": "Four."},
    ]
    import_files(alice, as_json(rows))
    [made] = ToolCall.objects.all()
    assert (made.reply.content, made.message.content, made.state) == ("Four.", "4", "succeeded")
    assert [role for role, _, _ in path_of(Conversation.objects.get())] == ["user", "assistant", "tool", "assistant"]
    assert made.reply.parent.content == "2+2?"


def test_our_own_export_is_read_back(alice):
    import_files(alice, as_zip(chatgpt_files(odd_chatgpt(), picture=NAVY)))
    conversation = Conversation.objects.get()
    posted = post(conversation, "And?")
    end_reply(posted.reply.pk, COMPLETE, content="So.")
    Message.objects.filter(content="So.").update(pinned=True)
    packed = as_zip({name: b"".join(content) for name, content in exported_files(alice, language_code="en")})
    found = import_files(make_user("bob"), packed)
    copy = Conversation.objects.get(owner__name="Bob")
    assert path_of(copy) == path_of(conversation)
    assert (copy.title, copy.created_at, copy.has_pins) == (conversation.title, conversation.created_at, True)
    assert copy.messages.count() == conversation.messages.count()
    assert copy.messages.get(position=3, active=True).copied_model == "gpt-x"
    assert copy.pictures.get().digest == conversation.pictures.get().digest
    assert adds_up(found)


def test_our_own_export_adds_nothing_where_it_is_from(alice):
    import_files(alice, as_json([chatgpt_line("c", "a", "b")]))
    packed = as_zip({name: b"".join(content) for name, content in exported_files(alice, language_code="en")})
    found = import_files(alice, packed)
    assert Conversation.objects.count() == 1
    assert Message.objects.count() == 2
    assert report_of(found).formats["windowseat"]["known"] == 1


def test_moments_that_can_not_be_keep_an_order(alice):
    asked = [chatgpt_line(f"c{number}", "x", create_time=0, update_time=253402300799.0) for number in range(3)]
    for each in asked:
        for made in each["mapping"].values():
            if made["message"]:
                made["message"]["create_time"] = None
    import_files(alice, as_json(asked))
    listed = Conversation.objects.order_by("-last_active_at").values_list("title", flat=True)
    assert list(listed) == ["c0", "c1", "c2"]


def test_what_says_it_is_of_the_future_is_reached_by_retention(alice, settings):
    settings.RETENTION_DAYS, settings.RETENTION_NOTICE_DAYS = 20, 14
    future = dt.datetime(2150, 1, 1, tzinfo=dt.UTC).timestamp()
    import_files(alice, as_json([chatgpt_line("c", "x", create_time=future, update_time=future)]))
    assert Conversation.objects.get().last_active_at <= timezone.now()
    grown = chatgpt_line("c", "x", "y")
    grown["mapping"]["n1"]["message"]["create_time"] = future
    import_files(alice, as_json([grown]))
    assert Message.objects.count() == 2
    assert Conversation.objects.get().last_active_at <= timezone.now()


def test_text_that_can_not_be_stored_is_cleaned_and_ids_that_can_not_are_digests(alice):
    content = json.dumps([chatgpt_line("c", "a\x00b\ud800c")]).replace('"n0"', '"' + "k" * 300 + '"').encode()
    import_files(alice, content)
    import_files(alice, content)
    assert Message.objects.get().content == "abc"


@pytest.mark.django_db(transaction=True)
def test_a_conversation_whose_rows_take_long_to_make_is_imported(monkeypatch):
    """The server ends transactions that are idle for seconds; the import would begin again, and then fail."""
    make = store_conversations.make_message_rows
    with ending_idle_transactions() as be_idle:

        def make_slowly(*arguments, **named):
            be_idle()
            return make(*arguments, **named)

        monkeypatch.setattr(store_conversations, "make_message_rows", make_slowly)
        found = import_files(make_user("alice"), as_json([chatgpt_line("c", "Where is the sea?", "There.")]))
    assert (found.state, Message.objects.count()) == ("ended", 2)


# Again


def test_a_second_import_adds_nothing(alice):
    content = as_zip(chatgpt_files(odd_chatgpt(), chatgpt_line("c", "a", "b"), picture=NAVY))
    import_files(alice, content)
    before = Message.objects.count(), Picture.objects.count()
    found = import_files(alice, content)
    assert (Message.objects.count(), Picture.objects.count(), Conversation.objects.count()) == (*before, 2)
    report = report_of(found)
    assert (report.total("known"), report.total("messages_added"), report.pictures) == (2, 0, 0)
    assert adds_up(found)


def test_a_conversation_twice_in_one_export_is_one(alice):
    found = import_files(alice, as_json([chatgpt_line("c", "a", "b"), chatgpt_line("c", "a", "b")]))
    assert Conversation.objects.count() == 1
    assert report_of(found).formats["chatgpt"]["known"] == 1


def test_what_went_on_there_goes_on_here(alice):
    import_files(alice, as_json([chatgpt_line("c", "a", "b")]))
    found = import_files(alice, as_json([chatgpt_line("c", "a", "b", "c", "d")]))
    conversation = Conversation.objects.get()
    assert [content for _, _, content in path_of(conversation)] == ["a", "b", "c", "d"]
    assert conversation.head.content == "d"
    assert report_of(found).formats["chatgpt"]["grown"] == 1


def test_what_went_on_here_and_there_has_both(alice):
    import_files(alice, as_json([chatgpt_line("c", "a", "b")]))
    conversation = Conversation.objects.get()
    end_reply(post(conversation, "mine").reply.pk, COMPLETE, content="yours")
    import_files(alice, as_json([chatgpt_line("c", "a", "b", "c", "d")]))
    assert [content for _, _, content in path_of(conversation)] == ["a", "b", "mine", "yours"]
    version = Message.objects.get(content="c")
    assert (version.active, version.parent.content, version.position) == (False, "b", 2)
    switch_version(conversation=conversation, message_id=version.pk)
    assert [content for _, _, content in path_of(conversation)] == ["a", "b", "c", "d"]


def test_a_reply_that_is_being_written_is_not_disturbed(alice):
    import_files(alice, as_json([chatgpt_line("c", "a", "b")]))
    conversation = Conversation.objects.get()
    post(conversation, "mine")
    import_files(alice, as_json([chatgpt_line("c", "a", "b", "c")]))
    assert [content for _, _, content in path_of(conversation)] == ["a", "b", "mine", ""]


def test_a_reply_that_has_grown_there_gets_the_rest_behind_it(alice):
    first = chatgpt("c", [node("q", None, "user", "go"), node("a1", "q", "assistant", "one")], "a1")
    more = chatgpt("c", [*list(first["mapping"].values())[1:], node("a2", "a1", "assistant", "two")], "a2")
    import_files(alice, as_json([first]))
    import_files(alice, as_json([more]))
    import_files(alice, as_json([more]))
    assert [content for _, _, content in path_of(Conversation.objects.get())] == ["go", "one", "two"]


@pytest.mark.parametrize("swept", [False, True])
def test_a_deleted_conversation_is_not_brought_back_and_that_is_said(alice, swept):
    content = as_json([chatgpt_line("c", "a", "b", title="Gone")])
    import_files(alice, content)
    delete_conversation(Conversation.objects.get())
    if swept:
        Conversation.objects.update(deleted_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
        sweep_deleted_conversations()
    found = import_files(alice, content)
    assert not Conversation.objects.filter(deleted_at=None).exists()
    report = report_of(found)
    assert (report.deleted, report.left_out) == (["Gone"], {"deleted_here": 2})
    assert adds_up(found)


def test_the_same_export_of_two_people_is_each_ones_own(alice):
    content = as_json([chatgpt_line("c", "a")])
    import_files(alice, content)
    import_files(make_user("bob"), content)
    assert sorted(Conversation.objects.values_list("owner__name", flat=True)) == ["Alice", "Bob"]


# Interrupted


@example_settings(max_examples=count_cases(35))
@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(0, 9))
def test_an_import_that_is_interrupted_anywhere_ends_as_one_that_was_not(batches, seed):
    """A worker ends behind any batch, another goes on: the same conversations, and the same counts."""
    user = make_user(f"u{uuid.uuid4().hex[:8]}")
    asked = [chatgpt_line(f"c{number}", *("x" * (seed + part + 1) for part in range(count))) for number, count in
             enumerate(batches) if count]  # fmt: skip
    send_files(user, as_json([*asked, {"id": "broken", "title": "b"}]) if asked else as_json([chatgpt_line("c", "x")]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_import, "ITEMS_AT_ONCE", 1)
        for _ in range(30):
            claimed = claim_import(f"w{uuid.uuid4().hex}")
            if claimed is None:
                break
            next(import_batches(claimed), None)
            ConversationImport.objects.filter(pk=claimed.id, state="running").update(
                lease_until=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
            )
    found = ConversationImport.objects.get(owner=user)
    report = report_of(found)
    assert found.state == "ended"
    assert report.total("new") == max(len(asked), 1) == Conversation.objects.filter(owner=user).count()
    assert report.total("messages_taken") == Message.objects.filter(conversation__owner=user).count()
    assert report.total("broken") == (1 if asked else 0)


def test_imported_text_has_a_limit_and_what_is_missing_comes_once_there_is_room(alice, settings):
    settings.IMPORTED_TEXT_MEGABYTES = 1
    text = "ä" * 150_000  # 300 kB
    content = as_json([chatgpt_line(f"c{number}", text, "yes") for number in range(5)])
    found = import_files(alice, content)
    assert (found.state, found.error_code) == ("failed", "imported_text_full")
    assert (Conversation.objects.count(), report_of(found).total("new")) == (3, 3)
    assert adds_up(found)
    origin = ConversationOrigin.objects.first()
    assert origin.text_bytes == 300_003 + 2 * ROW_BYTES
    assert import_files(alice, content).state == "failed"
    assert Conversation.objects.count() == 3
    assert import_files(make_user("bob"), content).error_code == "imported_text_full"  # of each user
    delete_conversation(Conversation.objects.filter(owner=alice).first())
    Conversation.objects.filter(deleted_at__isnull=False).update(deleted_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    sweep_deleted_conversations()
    settings.IMPORTED_TEXT_MEGABYTES = 2
    found = import_files(alice, content)
    assert (found.state, report_of(found).total("new"), report_of(found).total("known")) == ("ended", 2, 2)


def test_messages_that_say_next_to_nothing_take_room_too(alice, settings):
    settings.IMPORTED_TEXT_MEGABYTES = 1
    found = import_files(alice, as_json([chatgpt_line(f"c{number}", *["x"] * 500) for number in range(5)]))
    assert (found.error_code, Message.objects.count()) == ("imported_text_full", 1_500)


def test_what_grows_counts_for_the_limit_too(alice, settings):
    settings.IMPORTED_TEXT_MEGABYTES = 1
    import_files(alice, as_json([chatgpt_line("c", "x" * 600_000)]))
    found = import_files(alice, as_json([chatgpt_line("c", "x" * 600_000, "y" * 300_000)]))
    assert (found.state, ConversationOrigin.objects.get().text_bytes) == ("ended", 900_000 + 2 * ROW_BYTES)
    found = import_files(alice, as_json([chatgpt_line("c", "x" * 600_000, "y" * 300_000, "z" * 200_000)]))
    assert (found.state, ConversationOrigin.objects.get().text_bytes) == ("failed", 900_000 + 2 * ROW_BYTES)


def test_a_worker_that_was_replaced_stores_nothing_more(alice, monkeypatch):
    monkeypatch.setattr(run_import, "ITEMS_AT_ONCE", 1)
    send_files(alice, as_json([chatgpt_line(f"c{number}", "x") for number in range(3)]))
    batches = import_batches(claim_import("first"))
    next(batches)
    ConversationImport.objects.update(lease_until=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    second = claim_import("second")
    with pytest.raises(ImportLost):
        next(batches)
    run_claimed(second)
    assert Conversation.objects.count() == 3


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_lease_does_not_depend_on_the_clock_of_a_process(alice, monkeypatch, hours):
    """Behind, a worker would renew its lease to a moment that is over; ahead, it would end what others are at."""
    is_now = timezone.now
    monkeypatch.setattr(run_import, "ITEMS_AT_ONCE", 1)
    send_files(alice, as_json([chatgpt_line(f"c{number}", "x") for number in range(3)]))
    batches = import_batches(claim_import("first"))
    begin_command_import(make_user("bob"), [], "of a command")
    monkeypatch.setattr(timezone, "now", lambda: is_now() + dt.timedelta(hours=hours))
    next(batches)
    assert claim_import("second") is None
    assert set(ConversationImport.objects.values_list("state", flat=True)) == {"running"}


def test_one_import_of_a_user_runs_at_a_time(alice):
    first = send_files(alice, as_json([chatgpt_line("a", "x")]))
    send_files(alice, as_json([chatgpt_line("bb", "x")]))
    other = send_files(make_user("bob"), as_json([chatgpt_line("c", "x")]))
    assert [claim_import(name).id for name in ("one", "two")] == [first.pk, other.pk]
    assert claim_import("three") is None


def test_one_that_ends_its_worker_again_and_again_fails(alice):
    send_files(alice, as_json([chatgpt_line("a", "x")]))
    for number in range(MOST_ATTEMPTS + 1):
        claim_import(f"w{number}")
        ConversationImport.objects.update(lease_until=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    found = ConversationImport.objects.get()
    assert (found.state, found.error_code, ImportFile.objects.count()) == ("failed", "import_interrupted", 0)


def test_what_can_not_be_stored_is_named_and_the_rest_is(alice, monkeypatch):
    stored = run_import.store_conversations

    def refuse(target, items):
        if any(item.conversation.source_id == "bad" for item in items):
            raise ValueError
        return stored(target, items)

    monkeypatch.setattr(run_import, "store_conversations", refuse)
    found = import_files(alice, as_json([chatgpt_line("a", "x"), chatgpt_line("bad", "x"), chatgpt_line("c", "x")]))
    assert Conversation.objects.count() == 2
    assert report_of(found).problems == [["bad", "unreadable"]]


def test_a_cancelled_import_stops_and_keeps_what_it_has(alice, monkeypatch):
    monkeypatch.setattr(run_import, "ITEMS_AT_ONCE", 1)
    begun = send_files(alice, as_json([chatgpt_line(f"c{number}", "x") for number in range(3)]))
    batches = import_batches(claim_import("first"))
    next(batches)
    cancel_import(begun)
    assert list(batches) == []
    begun.refresh_from_db()
    assert (begun.state, Conversation.objects.count(), ImportPiece.objects.count()) == ("cancelled", 1, 0)


def test_a_paused_import_rests_and_goes_on_behind_what_it_has_brought(alice, monkeypatch):
    monkeypatch.setattr(run_import, "ITEMS_AT_ONCE", 1)
    begun = send_files(alice, as_json([chatgpt_line(f"c{number}", "x") for number in range(3)]))
    batches = import_batches(claim_import("first"))
    next(batches)
    pause_import(begun)
    assert list(batches) == []
    begun.refresh_from_db()
    assert (begun.state, begun.is_pausing, Conversation.objects.count()) == ("paused", False, 1)
    assert claim_import("second") is None
    for number in range(2):
        begin_import(alice, [SentFile("a", number + 1)])
    with pytest.raises(TooManyImports):  # it is one that has not ended
        begin_import(alice, [SentFile("a", 3)])
    resume_import(begun)
    run_waiting("second")
    begun.refresh_from_db()
    assert (begun.state, Conversation.objects.count(), report_of(begun).total("new")) == ("ended", 3, 3)


def test_one_that_waits_is_paused_at_once_and_what_has_ended_stays_so(alice):
    begun = send_files(alice, as_json([chatgpt_line("a", "x")]))
    pause_import(begun)
    assert claim_import("w") is None
    resume_import(begun)
    run_waiting("w")
    for change in (pause_import, resume_import):
        change(begun)
        begun.refresh_from_db()
        assert begun.state == "ended"


def test_what_was_paused_a_week_ago_is_cancelled(alice):
    begun = send_files(alice, as_json([chatgpt_line("a", "x")]))
    pause_import(begun)
    sweep_imports()
    begun.refresh_from_db()
    assert begun.state == "paused"
    ConversationImport.objects.update(changed_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    sweep_imports()
    begun.refresh_from_db()
    assert (begun.state, ImportPiece.objects.count()) == ("cancelled", 0)


def test_an_import_of_files_on_a_disk_can_not_rest_and_no_other_runs_beside_it(alice):
    claimed = begin_command_import(alice, export_of(as_json([chatgpt_line("a", "x")])).files, "one")
    pause_import(ConversationImport.objects.get(pk=claimed.id))
    assert not ConversationImport.objects.get(pk=claimed.id).is_pausing
    with pytest.raises(TooManyImports):
        begin_command_import(alice, [], "two")


def test_a_worker_that_stops_hands_it_on(alice):
    send_files(alice, as_json([chatgpt_line("a", "x")]))
    release_import(claim_import("first"))
    assert claim_import("second")


def test_a_user_who_is_shut_out_imports_nothing_more(alice):
    send_files(alice, as_json([chatgpt_line("a", "x")]))
    claimed = claim_import("first")
    alice.is_active = False
    alice.save()
    run_claimed(claimed)
    assert not Conversation.objects.exists()
    assert ConversationImport.objects.get().state == "failed"


# Files


def test_pieces_are_sent_again_without_harm_and_read_back(alice):
    content = bytes(range(256)) * 4
    begun = begin_import(alice, [SentFile("../a.zip", len(content))])
    assert add_piece(begun, 0, start=0, content=content[:300]) == 300
    assert add_piece(begun, 0, start=0, content=content[:300]) == 300
    with pytest.raises(ImportPieceMisplaced):
        add_piece(begun, 0, start=400, content=b"x")
    with pytest.raises(ImportPieceMisplaced):
        start_import(begun)
    assert begin_import(alice, [SentFile("../a.zip", len(content))]) == begun
    assert add_piece(begun, 0, start=300, content=content[300:]) == len(content)
    with pytest.raises(ImportPieceMisplaced):
        add_piece(begun, 0, start=len(content), content=b"x")
    file = StoredFile(begun.files.get())
    assert file.read() == content
    file.seek(-10, io.SEEK_END)
    assert file.read(5) == content[-10:-5]
    file.seek(295)
    assert file.read(10) == content[295:305]
    assert begun.files.get().name == "a.zip"
    start_import(begun)
    start_import(begun)
    with pytest.raises(ImportNotFound):
        add_piece(begun, 0, start=0, content=b"x")


def test_files_are_gone_once_they_are_read(alice):
    send_files(alice, as_json([chatgpt_line("a", "x")]))
    run_waiting("w")
    assert not ImportPiece.objects.exists()


def test_limits_hold(alice, settings):
    one = [SentFile("a", 2_000_000)]
    with pytest.raises(FileMissing):
        begin_import(alice, [])
    with pytest.raises(FileMissing):
        begin_import(alice, [SentFile("a", 0)])
    with pytest.raises(ScenarioNotFound):
        begin_import(alice, one, scenario_id=Scenario.objects.create(name="x", owner=make_user("bob")).pk)
    with pytest.raises(ImportTooLarge, match="larger than 2,000 MB"):
        begin_import(alice, [SentFile("a", 2_000_000_000), SentFile("b", 1)])
    begin_import(alice, [SentFile("a", 2_000_000_000)]).delete()
    settings.IMPORT_MEGABYTES = 1
    with pytest.raises(ImportTooLarge):
        begin_import(alice, one)
    settings.IMPORT_MEGABYTES = 0
    with pytest.raises(ImportsForbidden):
        begin_import(alice, one)
    settings.IMPORT_MEGABYTES = 10
    for number in range(3):
        begin_import(alice, [SentFile("a", number + 1)])
    with pytest.raises(TooManyImports):
        begin_import(alice, [SentFile("a", 9)])
    Limits.objects.create(user=alice, messages_per_minute=0)
    with pytest.raises(MessagesForbidden):
        begin_import(alice, one)


def test_an_import_of_someone_else_is_not_found(alice):
    begun = begin_import(alice, [SentFile("a", 1)])
    assert find_import(alice, begun.public_id) == begun
    with pytest.raises(ImportNotFound):
        find_import(make_user("bob"), begun.public_id)


def test_what_was_begun_and_never_sent_is_swept(alice):
    begin_import(alice, [SentFile("a", 1)])
    sweep_imports()
    assert ConversationImport.objects.exists()
    ConversationImport.objects.update(changed_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    sweep_imports()
    assert not ConversationImport.objects.exists()


def test_with_the_account_all_of_it_is_deleted(alice):
    import_files(alice, as_json([chatgpt_line("c", "a", "b")]))
    send_files(alice, as_json([chatgpt_line("d", "a")]))
    delete_account(alice)
    assert not ConversationImport.objects.exists()
    assert not ConversationOrigin.objects.exists()
    assert not ImportPiece.objects.exists()

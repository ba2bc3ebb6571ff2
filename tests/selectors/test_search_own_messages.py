"""Messages are found by their words in every script, by parts and beginnings of words, also with a typo."""

from __future__ import annotations

import datetime as dt
import tracemalloc
import uuid
from itertools import count
from types import SimpleNamespace

import pytest
from django.utils import timezone

from conversations.core.errors import LookUpTooCostly
from conversations.core.text.search_query import parse_query
from conversations.core.text.shown_hits import ShownHits, read_shown, write_shown
from conversations.grounding import bounded_query
from conversations.models import Conversation, Document, Message, MessagePostings
from conversations.selectors.search import search_own_messages as search_own_messages_module
from conversations.selectors.search.search_own_messages import search_own_messages
from conversations.selectors.search.search_titles import search_titles
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.message_index.index_messages import index_conversation, rebuild_index
from conversations.services.messages.edit_message import edit_message
from conversations.services.portability.delete_account import delete_account
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


def say(conversation, question, answer="Yes.", *, index=True):
    conversation.refresh_from_db()
    posted = post(conversation, question)
    end_reply(posted.reply.pk, COMPLETE, content=answer)
    if index:
        index_conversation(conversation.pk)
    return posted


def found(user, typed, **options):
    """Return what was found, as it stands in the messages."""
    hits = search_own_messages(user.pk, parse_query(typed), zone=dt.UTC, **options).hits
    return [Message.objects.get(pk=hit.message).content for hit in hits]


def marked(user, typed):
    hits = search_own_messages(user.pk, parse_query(typed), zone=dt.UTC).hits
    return [[piece.text for piece in hit.excerpt if piece.is_found] for hit in hits]


TEXTS = [
    "The ferries leave Bodø at a quarter past five",
    "We are running out of coffee",
    "Das Dampfschiff und die Dampfschifffahrt nach Tromsø",
    "明日の東京行きの電車は何時ですか",
    "我们明天坐火车去北京旅行",
    "私の本はどこですか",
    "To be, or not to be, that is the question",
    "A night on the train, and a train by night",
    "Café Zürich opens at 9",
    "Поезд отправляется из Москвы",
]


TYPO = "zurich"
CASES = [
    ("ferry", [0]),
    ("FERRIES ", [0]),
    ("fer", [0]),
    ("runni", [1]),
    ("schiff", [2]),
    ("schifffahrt", [2]),
    ("東京", [3]),
    ("電車", [3]),
    ("東", [3]),
    ("京", [3, 4]),
    ("京東", []),
    ("火车", [4]),
    ("明天坐火车", [4]),
    ("私の本", [5]),
    ("本の私", []),
    ("のは", []),
    ('"not to be"', [6]),
    ('"be to not"', []),
    ('"train by night"', [7]),
    ('"night train"', []),
    ("night train", [7]),
    (TYPO, [8]),
    ("ｃａｆé", [8]),
    ("поезд москв", [9]),
    ("nothing-of-this", []),
]


@pytest.mark.parametrize("is_indexed", [True, False], ids=["indexed", "not indexed yet"])
def test_words_of_every_script(alice, is_indexed):
    conversation = begin(alice)
    for text in TEXTS:
        say(conversation, text, "…", index=is_indexed)
    cases = [case for case in CASES if is_indexed or case[0] != TYPO]  # typos are known among indexed words alone
    results = {typed: sorted(TEXTS.index(text) for text in found(alice, typed)) for typed, _ in cases}
    assert results == dict(cases)


def test_one_wrong_letter(alice):
    ferry, coffee = "The ferry leaves", "We are out of coffee"
    say(begin(alice), ferry)
    say(begin(alice), coffee)
    for typed in ("fery", "ferrry", "feery", "ferty", "efrry"):
        assert found(alice, typed) == [ferry]
    for typed in ("coffe", "cofffee"):
        assert found(alice, typed) == [coffee]
    assert found(alice, "kaffee ") == []


def test_what_is_found_is_marked_in_its_context(alice):
    say(begin(alice), f"{'A long beginning. ' * 20}Ferries and the ferry to Moskenes.{' And so on.' * 40}")
    [hit] = search_own_messages(alice.pk, parse_query("ferry"), zone=dt.UTC).hits
    assert [piece.text for piece in hit.excerpt if piece.is_found] == ["Ferries", "ferry"]
    assert (hit.excerpt[0].text, hit.excerpt[-1].text) == ("… ", " …")
    assert hit.words == {"Ferries", "ferry"}
    assert marked(alice, '"to moskenes"') == [["to Moskenes"]]


def test_common_words_alone_are_looked_for_in_the_newest_messages(alice):
    say(begin(alice), "to be or not to be", "it is")
    assert found(alice, "to be ") == ["to be or not to be"]
    assert found(alice, "is ") == ["it is"]


def test_all_words_may_be_anywhere_in_a_long_message(alice):
    conversation = begin(alice)
    say(conversation, "The harbour is old. " + "Nothing happens here today. " * 300 + "The lighthouse is older.")
    say(conversation, "The harbour alone")
    assert [text[:20] for text in found(alice, "harbour lighthouse")] == ["The harbour is old. "]


def test_nothing_of_others_and_nothing_that_is_deleted_or_temporary(alice):
    bob, deleted, temporary, kept = make_user("bob"), begin(alice), begin(alice), begin(alice)
    for conversation in (begin(bob), deleted, temporary, kept):
        say(conversation, "Where is the lighthouse?", f"The lighthouse of {conversation.pk}")
    Conversation.objects.filter(pk=temporary.pk).update(temporary_until=timezone.now() + dt.timedelta(hours=1))
    delete_conversation(deleted)
    hits = search_own_messages(alice.pk, parse_query("lighthouse"), zone=dt.UTC).hits
    assert {hit.conversation.id for hit in hits} == {kept.pk}
    assert not search_own_messages(alice.pk, parse_query("lighthouse"), zone=dt.UTC, conversation=deleted.pk).hits
    assert not search_own_messages(bob.pk, parse_query("lighthouse"), zone=dt.UTC, conversation=kept.pk).hits


def test_what_is_excluded_never_recalled_or_forgotten_is_found(alice):
    conversation = begin(alice)
    posted = say(conversation, "The lighthouse is red")
    Message.objects.filter(pk=posted.message.pk).update(excluded=True, never_recalled=True)
    Conversation.objects.filter(pk=conversation.pk).update(forgotten_before=99)
    assert found(alice, "lighthouse") == ["The lighthouse is red"]


def test_another_version_takes_the_place_of_what_was_found(alice):
    conversation = begin(alice)
    posted = say(conversation, "The lighthouse is red")
    edited = edit_message(
        user=alice,
        conversation=conversation,
        message_id=posted.message.pk,
        content="The harbour",
        client_id=uuid.uuid4(),
    )
    assert found(alice, "lighthouse") == []
    assert found(alice, "harbour") == ["The harbour"]
    end_reply(edited.reply.pk, COMPLETE, content="Yes.")
    index_conversation(conversation.pk)
    assert found(alice, "lighthouse") == []


def test_archived_conversations_come_last(alice):
    archived, other = begin(alice), begin(alice)
    for conversation in (other, archived):
        say(conversation, f"The lighthouse of {conversation.pk}")
    Conversation.objects.filter(pk=archived.pk).update(archived=True)
    assert found(alice, "lighthouse") == [f"The lighthouse of {each.pk}" for each in (other, archived)]
    assert found(alice, "lighthouse is:archived") == [f"The lighthouse of {archived.pk}"]


def test_filters(alice):
    first, second = begin(alice), begin(alice)
    say(first, "The old ferry", "A ferry of old")
    say(second, "The new ferry", "A ferry that is new")
    Message.objects.filter(conversation=first).update(created_at=dt.datetime(2026, 1, 30, 12, tzinfo=dt.UTC))
    for each in (first, second):
        rebuild_index(each.pk)
    Conversation.objects.filter(pk=first.pk).update(title="Lofoten")
    Conversation.objects.filter(pk=second.pk).update(starred=True)
    assert found(alice, "ferry from:me") == ["The new ferry", "The old ferry"]
    assert found(alice, "ferry from:model in:LOFO") == ["A ferry of old"]
    assert found(alice, "ferry from:me before:2026-01-31") == ["The old ferry"]
    assert found(alice, "ferry from:me before:2026-01-30") == []
    assert found(alice, "ferry from:me after:2026-01-31") == ["The new ferry"]
    assert found(alice, "ferry from:me is:starred") == ["The new ferry"]
    assert found(alice, "ferry has:document") == []
    assert found(alice, "ferry has:picture") == []
    assert found(alice, "from:me before:2026-01-31") == ["The old ferry"]
    Document.objects.create(conversation=first, name="a.txt", size_bytes=1, digest="d")
    assert found(alice, "ferry from:me has:document") == ["The old ferry"]
    Message.objects.filter(content="The new ferry").update(picture_ids=[1])
    assert found(alice, "ferry has:picture") == ["The new ferry"]


def pages(user, typed, *, between=lambda: None):
    """Return the ids of the messages on each page of three hits."""
    shown, read = ShownHits(), []
    while True:
        found = search_own_messages(user.pk, parse_query(typed), zone=dt.UTC, most=3, shown=shown)
        ids = [hit.message for hit in found.hits]
        read.append(ids)
        shown = read_shown(write_shown(ShownHits(shown.messages.union(ids), found.have_typos)))
        if not found.has_more:
            return read
        between()


def test_pages_of_hits_have_each_message_once_whatever_is_written_meanwhile(alice, settings):
    settings.MESSAGES_PER_MINUTE = 0
    conversations = [begin(alice) for _ in range(4)]
    for number in range(3):
        for conversation in conversations:
            say(conversation, f"The harbour {number}", f"Harbours are old, and harbourside too {number}")
    for conversation in conversations[:2]:
        say(conversation, "The harbourmaster")  # a compound, which comes after all of these
    there_before = set(Message.objects.filter(content__icontains="harbour").values_list("pk", flat=True))
    whole = search_own_messages(alice.pk, parse_query("harbour "), zone=dt.UTC).hits
    quiet = pages(alice, "harbour ")
    assert [len(page) for page in quiet] == [3] * 8 + [2]
    assert [message for page in quiet for message in page] == [hit.message for hit in whole]

    def write():  # the last one becomes the first, and nothing is indexed yet or only half of it
        say(conversations[0], "A harbour that was not there", index=len(conversations) % 2 == 0)
        Conversation.objects.filter(pk=conversations[1].pk).update(archived=True)
        conversations.append(conversations.pop(0))

    read = [message for page in pages(alice, "harbour ", between=write) for message in page]
    assert len(read) == len(set(read))
    assert there_before <= set(read)
    assert pages(alice, "lighthouse ") == [[]]


def test_pages_of_words_with_a_typo(alice):
    conversation = begin(alice)
    for number in range(4):
        say(conversation, f"The harbour {number}")
    assert [len(page) for page in pages(alice, "harbuor ")] == [3, 1]
    assert [len(page) for page in pages(alice, "harbour ")] == [3, 1]


def test_a_few_hits_of_each_conversation_are_taken_and_it_is_told_which_have_more(alice, settings):
    settings.MESSAGES_PER_MINUTE = 0
    full, other, phrase = begin(alice), begin(alice), begin(alice)
    for number in range(9):  # the last of them are not indexed yet
        say(full, f"The harbour {number}", index=number < 6)
    for text in ("The harbour", "Harbourside"):  # the second one is a compound
        say(other, text)
    for number in range(8):
        say(phrase, "An old harbour" if number == 1 else f"A harbour that is old {number}")

    def few(typed, **options):
        return search_own_messages(alice.pk, parse_query(typed), zone=dt.UTC, most_of_one=3, **options)

    found = few("harbour ")
    assert [hit.conversation.id for hit in found.hits] == [full.pk] * 3 + [phrase.pk] * 3 + [other.pk] * 2
    assert found.more_in == {full.pk, phrase.pk}
    assert not found.has_more
    assert few("harbour from:me").more_in == {full.pk, phrase.pk}  # also where there are filters
    old = few('"old harbour"')  # of which the newest candidates have both words, and not together
    assert [hit.conversation.id for hit in old.hits] == [phrase.pk]
    assert (old.more_in, old.has_more) == (set(), False)
    assert few("from:me").more_in == {full.pk, phrase.pk}  # without a word


def test_pages_of_a_few_hits_of_each_conversation_have_each_conversation_whole(alice, settings):
    settings.MESSAGES_PER_MINUTE = 0
    sizes = (1, 2, 3, 4, 5, 1, 2)
    conversations = [begin(alice) for _ in sizes]
    for conversation, size in zip(conversations, sizes, strict=True):
        for number in range(size):
            say(conversation, f"The harbour {number}")
    shown, pages_of_hits, more_in = ShownHits(), [], set()
    while True:
        found = search_own_messages(alice.pk, parse_query("harbour "), zone=dt.UTC, most=4, most_of_one=3, shown=shown)
        pages_of_hits.append([hit.conversation.id for hit in found.hits])
        more_in |= found.more_in
        shown = ShownHits(shown.messages.union(hit.message for hit in found.hits))
        if not found.has_more:
            break
        say(conversations[-1], "Another harbour")  # of which two were shown: one more of it
    a, b, c, d, e, f, g = (conversation.pk for conversation in conversations)
    assert pages_of_hits == [[g, g, f], [g, e, e, e], [d, d, d], [c, c, c], [b, b, a]]
    assert more_in == {d, e}
    assert len(shown.messages) == sum(map(len, pages_of_hits))


def test_titles(alice):
    conversation = begin(alice)
    say(conversation, "Hello")
    Conversation.objects.filter(pk=conversation.pk).update(title="Lofoten in March")
    [title] = search_titles(alice.pk, parse_query("march LOFO"), zone=dt.UTC, most=5)
    assert [piece.text for piece in title.title if piece.is_found] == ["Lofo", "March"]
    assert not search_titles(alice.pk, parse_query("april"), zone=dt.UTC, most=5)
    assert not search_titles(make_user("bob").pk, parse_query("lofoten"), zone=dt.UTC, most=5)


def test_words_of_deleted_conversations_are_gone_and_those_of_others_are_listed_once_more(alice):
    first, second = begin(alice), begin(alice)
    say(first, "The lighthouse and the steamship", "Aye")
    say(second, "Another lighthouse", "Aye")
    first.delete()
    listed = MessagePostings.objects.filter(owner=alice, is_listed=True).values_list("lexeme", flat=True)
    assert {"lighthous", "steamship"} & set(listed) == {"lighthous"}
    assert found(alice, "house") == ["Another lighthouse"]
    delete_account(alice)
    assert not MessagePostings.objects.exists()


def test_words_are_listed_once_also_where_the_path_changes(alice):
    conversation, other = begin(alice), begin(alice)
    posted = say(conversation, "The lighthouse", "Aye")
    say(other, "Another lighthouse", "Aye")
    edited = edit_message(
        user=alice, conversation=conversation, message_id=posted.message.pk, content="A harbour", client_id=uuid.uuid4()
    )
    end_reply(edited.reply.pk, COMPLETE, content="Aye")
    index_conversation(conversation.pk)
    every = set(MessagePostings.objects.values_list("lexeme", flat=True))
    listed = list(MessagePostings.objects.filter(is_listed=True).values_list("lexeme", flat=True))
    assert sorted(listed) == sorted(every)
    assert found(alice, "house") == ["Another lighthouse"]


def test_bad_input_is_answered(alice):
    say(begin(alice), "The ferry", "Aye")
    for typed in ("'\"`\\", "& | ! ( ) :*", "%_%", "x" * 10_000, "a" * 100, "fer\x00ry", '"', "a b " * 9):
        assert found(alice, typed) == []
        titles = search_titles(alice.pk, parse_query(typed), zone=dt.UTC, most=5)
        assert len(titles) == ("\x00" in typed)  # which parts two words, and both are in “The ferry”
    assert found(alice, "from:me") == ["The ferry"]


def test_a_search_that_takes_too_long_ends(alice, monkeypatch):
    say(begin(alice), "The ferry", "Aye")
    monkeypatch.setattr(bounded_query, "MOST_SECONDS", 0.05)
    monkeypatch.setattr("conversations.selectors.search.candidates.IN_ONE", "SELECT 1 FROM pg_sleep(600)")
    conversation = Conversation.objects.get(owner=alice)
    with pytest.raises(LookUpTooCostly):
        search_own_messages(alice.pk, parse_query("ferry"), zone=dt.UTC, conversation=conversation.pk)


def lengthen(words):
    """Let all messages hold so many different words that are like the one that is searched for."""
    content = "needle " + " ".join(f"ne{number:05}" for number in range(words))
    Message.objects.filter(content="needle").update(content=content)
    return content


@pytest.mark.parametrize("typed", ["needle", "the", "from:me"])
def test_long_messages_are_not_all_in_memory_at_once(alice, typed, monkeypatch):
    """An import may bring a thousand of a million characters each; their words take ten times as much."""
    monkeypatch.setattr(search_own_messages_module, "MOST_SECONDS", 600)
    conversation = begin(alice)
    for number in range(10):
        say(conversation, "needle", "needle", index=number == 9)
    content = lengthen(10_000)
    tracemalloc.start()
    try:
        hits = search_own_messages(alice.pk, parse_query(typed), zone=dt.UTC).hits
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(hits) == {"needle": 20, "the": 0, "from:me": 10}[typed]
    assert peak_bytes < (60 if typed == "needle" else 12) * len(content)


def test_a_search_that_takes_too_long_keeps_what_it_has_found(alice, monkeypatch):
    conversation = begin(alice)
    for number in range(3):
        say(conversation, "needle", "needle", index=number == 2)
    lengthen(5_000)
    seconds = count()
    monkeypatch.setattr(search_own_messages_module, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr(search_own_messages_module, "MOST_SECONDS", 1)
    found = search_own_messages(alice.pk, parse_query("needle"), zone=dt.UTC, conversation=conversation.pk)
    assert (len(found.hits), found.is_partial) == (1, True)
    monkeypatch.setattr(search_own_messages_module, "MOST_SECONDS", 0)
    with pytest.raises(LookUpTooCostly):
        search_own_messages(alice.pk, parse_query("needle"), zone=dt.UTC, conversation=conversation.pk)

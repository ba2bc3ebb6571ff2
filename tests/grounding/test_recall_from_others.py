"""Recall from a user's other conversations: what is found there, and what never is."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from conversations.core.recall.weights import MOST_TERMS
from conversations.grounding.recall import other_conversations, stored_postings
from conversations.grounding.recall.other_conversations import MOST_CONVERSATIONS, _compare, choose_other_conversations
from conversations.models import Conversation, MessagePassage
from conversations.services.messages.forget_messages import forget_above
from conversations.services.messages.mark_message import exclude_message
from tests.support.people import begin, make_user
from tests.support.recalled_talk import FILLER, SECRET, find_in_others, find_recalled, talk_of

pytestmark = pytest.mark.django_db


def filler(count, first=0):
    return [FILLER.format(*[f"{word}{number}" for word in ("green", "red", "blue")]) for number in range(first, count)]


def texts(found):
    titles = dict(Conversation.objects.values_list("pk", "title"))
    return [(passage.text, titles.get(passage.conversation)) for passage in found]


@pytest.fixture
def alice():
    return make_user("alice")


def test_what_was_said_in_another_conversation_is_found_with_its_conversation(alice):
    other = talk_of(alice, *filler(20), SECRET, "How nice.")
    here = talk_of(alice, *filler(60, 20), title="Gardens")
    best = find_in_others(here)[0]
    assert (best.text, best.conversation) == (SECRET, other.pk)
    assert best.role == "user"
    assert other.messages.get(pk=best.message).position == best.position == 20
    assert SECRET not in [text for text, _ in texts(find_recalled(here))]


def test_it_is_found_from_the_first_message_of_a_conversation_on(alice):
    talk_of(alice, *filler(20), SECRET, "How nice.")
    assert texts(find_in_others(begin(alice), before_position=0))[0] == (SECRET, "Lighthouses")
    assert texts(find_in_others(Conversation(owner=alice), before_position=0))[0] == (SECRET, "Lighthouses")


def test_a_few_words_are_enough_to_look_in():
    bob = make_user("bob")
    talk_of(bob, SECRET, "How nice.")
    assert (SECRET, "Lighthouses") in texts(find_in_others(begin(bob), before_position=0))


def test_the_conversation_that_is_asked_in_is_searched_besides(alice):
    talk_of(alice, *filler(20), "The lighthouse of my brother Ben is in Porto.", "How nice.")
    here = talk_of(alice, SECRET, "How nice.", *filler(40), title="Here")
    found = texts(find_in_others(here))
    assert found[0] == (SECRET, None)
    assert ("The lighthouse of my brother Ben is in Porto.", "Lighthouses") in found


def test_only_what_lies_before_the_window_of_its_own_conversation(alice):
    talk_of(alice, *filler(20), SECRET, "How nice.")
    here = talk_of(alice, *filler(4), SECRET, "How nice.", *filler(20), title="Here")
    assert {title for text, title in texts(find_in_others(here, before_position=2)) if text == SECRET} == {
        "Lighthouses"
    }


@pytest.mark.parametrize("change", [{"kept_out_of_recall": True}, {"deleted_at": timezone.now()}])
def test_nothing_of_a_conversation_that_is_kept_out_or_deleted(alice, change):
    other = talk_of(alice, *filler(20), SECRET, "How nice.")
    here = talk_of(alice, *filler(20), title="Here")
    Conversation.objects.filter(pk=other.pk).update(**change)
    assert SECRET not in [text for text, _ in texts(find_in_others(here))]


def test_nothing_of_another_user(alice):
    talk_of(make_user("bob"), *filler(20), SECRET, "How nice.")
    here = talk_of(alice, *filler(20), title="Here")
    assert SECRET not in [text for text, _ in texts(find_in_others(here))]
    assert all(passage.conversation is None for passage in find_in_others(here))


def test_nothing_that_is_excluded_or_never_to_be_recalled_there(alice):
    other = talk_of(alice, *filler(20), SECRET, "How nice.", "A lighthouse of Ada, my sister, keeps Bergen.", "Oh.")
    here = talk_of(alice, *filler(20), title="Here")
    exclude_message(conversation=other, message_id=other.messages.get(position=20).pk, excluded=True)
    other.messages.filter(position=22).update(never_recalled=True)
    assert not [text for text, _ in texts(find_in_others(here)) if "lighthouse" in text]


def test_nothing_that_is_forgotten_there(alice):
    other = talk_of(alice, *filler(20), SECRET, "How nice.", *filler(4))
    here = talk_of(alice, *filler(20), title="Here")
    assert SECRET in [text for text, _ in texts(find_in_others(here))]
    forget_above(conversation=other, message_id=other.messages.get(position=22).pk)
    assert SECRET not in [text for text, _ in texts(find_in_others(here))]


def test_small_talk_finds_nothing_there_either(alice):
    talk_of(alice, *filler(20), SECRET, "Thanks, that helps a lot, great!")
    here = talk_of(alice, *filler(20), title="Here")
    assert find_in_others(here, question="Thanks, that helps a lot!") == []


def test_a_day_that_the_question_names_is_looked_up_there_too(alice):
    other = talk_of(alice, *filler(20), title="Spring")
    day = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
    other.messages.filter(position__in=(6, 7)).update(created_at=day)
    MessagePassage.objects.filter(conversation=other, position__in=(6, 7)).update(at=day)
    here = talk_of(alice, *filler(30, 20), title="Here")
    found = find_in_others(
        here, question="What did we talk about on March 5?", now=dt.datetime(2026, 11, 2, tzinfo=dt.UTC)
    )
    assert {(passage.conversation, passage.position) for passage in found[:2]} == {(other.pk, 6), (other.pk, 7)}


def test_those_with_most_of_the_words_are_chosen_and_the_last_active_comes_last(alice):
    for number in range(MOST_CONVERSATIONS + 3):
        words = " ".join(["lighthouse", "ada", "bergen"][: 1 + number % 3])
        talk_of(alice, f"{words} and more.", *filler(6), title=f"{number}: {words}", days_ago=number)
    lexemes = ["lighthous", "ada", "bergen"]
    chosen = choose_other_conversations(alice.pk, lexemes, besides=begin(alice).pk, search_language="english")
    titles = [Conversation.objects.get(pk=each.conversation).title for each in chosen]
    assert len(titles) == MOST_CONVERSATIONS
    assert {title for title in titles if "bergen" in title} == {"2: lighthouse ada bergen", "5: lighthouse ada bergen"}
    assert [int(title[0]) for title in titles] == sorted((int(title[0]) for title in titles), reverse=True)


def test_a_long_question_chooses_by_its_rarest_words(alice):
    common = [f"alpha{number}" for number in range(40)]
    for number in range(MOST_CONVERSATIONS + 3):
        talk_of(alice, " ".join(common), *filler(3), title=f"Common {number}")
    meant = talk_of(alice, "zanzibar zebra zenith", *filler(3), title="Meant", days_ago=9)
    lexemes = [*common, "zanzibar", "zebra", "zenith"]
    chosen = choose_other_conversations(alice.pk, lexemes, besides=None, search_language="english")
    assert meant.pk in {each.conversation for each in chosen}


def test_words_that_were_never_said_take_no_places_of_a_long_question(alice):
    half = range(MOST_TERMS // 2)
    rare, rarer = [f"rare{number}" for number in half], [f"rarer{number}" for number in half]
    for number in range(2):
        talk_of(alice, " ".join(rarer), *filler(3), title=f"Other {number}")
    meant = talk_of(alice, *[" ".join(rare)] * 3, title="Meant", days_ago=9)
    lexemes = [*rare, *rarer, *(f"never-said-{number:0>20}" for number in half)]
    chosen = choose_other_conversations(alice.pk, lexemes, besides=None, search_language="english")
    assert meant.pk in {each.conversation for each in chosen}


def test_conversations_beyond_those_compared_are_not_counted(alice):
    for number in range(4):
        talk_of(alice, SECRET, title=f"Talk {number}", days_ago=number)
    asked = {"owner": alice.pk, "besides": None, "language": "english"}
    for most, stored in ((2, 3), (3, 4), (4, 4), (9, 4)):
        compared, found = _compare(["lighthous"], asked, most=most)
        newest = Conversation.objects.order_by("-last_active_at")[:most]
        assert ({each.conversation for each in compared}, found) == ({each.pk for each in newest}, stored)


def test_the_index_of_an_owner_says_the_same_as_each_conversation(alice, monkeypatch):
    """What is few is read by the index of the owner's words, what is more by those of each conversation."""
    talks = [talk_of(alice, *filler(3 * number, number), SECRET, title=f"Talk {number}") for number in range(5)]
    talk_of(make_user("bob"), SECRET)
    Conversation.objects.filter(pk=talks[1].pk).update(kept_out_of_recall=True)
    monkeypatch.setattr(stored_postings, "CHUNK_PASSAGES", 2)  # several rows of one lexeme
    talk_of(alice, SECRET, *filler(12), SECRET, title="Long")
    asked = {"owner": alice.pk, "besides": talks[2].pk, "language": "english"}
    compared = []
    for most_listed in range(-1, 20):  # from none to all of their entries
        monkeypatch.setattr(other_conversations, "MOST_LISTED", most_listed)
        found, counted = _compare(["lighthous", "green3", "nowhere"], asked, most=10)
        assert counted == 6  # the one that asks and the one kept out, too
        compared.append(sorted(found, key=lambda each: each.conversation))
    assert all(found == compared[0] for found in compared)
    assert [each.having.get("lighthous") for each in compared[0]] == [1, 1, 1, 2]

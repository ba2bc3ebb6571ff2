"""What recall finds, and what it never does."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from django.utils import timezone

from conversations.grounding.recall import find_passages
from conversations.grounding.recall.recall_passages import recall_passages
from conversations.models import Conversation, Message, MessagePassage
from conversations.services.message_index.index_messages import index_conversation
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.forget_messages import forget_above, remember_everything
from conversations.services.messages.mark_message import exclude_message
from conversations.services.portability.chat_history import ChatHistory
from conversations.services.replies.regenerate_reply import regenerate_reply
from tests.support.cpu_time import cpu_time_under
from tests.support.people import make_user
from tests.support.recalled_talk import FILLER, SECRET, find_recalled, talk

pytestmark = pytest.mark.django_db


def long_talk(*first, person="alice"):
    filler = [FILLER.format(*[f"{word}{number}" for word in ("green", "red", "blue")]) for number in range(60)]
    return talk(*first, *filler, person=person)


def test_the_message_that_was_asked_for_is_the_best():
    best = find_recalled(long_talk(SECRET, "How nice."))[0]
    assert (best.text, best.position, best.role, best.is_whole) == (SECRET, 0, "user", True)
    assert best.tokens == Message.objects.get(pk=best.message).content_tokens
    assert "words" in best.why
    assert (best.start, best.end) == (0, len(SECRET))


def test_small_talk_and_stop_words_find_nothing():
    conversation = long_talk(SECRET, "How nice.")
    for question in ("thanks, that helps a lot", "the of and", "?", "x", "", "👍", "Great, thank you so much!"):
        assert find_recalled(conversation, question) == []


def test_one_word_that_was_said_once_is_enough_in_a_short_conversation():
    assert find_recalled(long_talk(SECRET, "How nice."), "Where is the lighthouse?")[0].text == SECRET


def test_nothing_is_found_in_a_conversation_without_an_index():
    conversation = ChatHistory.from_openai(
        user=make_user("alice"), messages=[{"role": "user", "content": SECRET}]
    ).conversation
    assert find_recalled(conversation) == []


def test_what_is_not_before_the_position_is_not_found():
    conversation = long_talk("Good morning.", "Good morning.", SECRET, "How nice.")
    assert find_recalled(conversation)[0].position == 2
    assert 2 not in {each.position for each in find_recalled(conversation, before_position=2)}
    assert all(each.position < 2 for each in find_recalled(conversation, before_position=2))


def test_the_question_itself_is_not_what_others_are_compared_with():
    conversation = long_talk(SECRET, "How nice.")
    asked = ChatHistory(conversation).add("user", "Where does my sister Ada keep the lighthouse?")
    without = find_recalled(conversation)
    index_conversation(conversation.pk)
    found = find_recalled(conversation, before_position=asked.position, asked_position=asked.position)
    assert [(each.message, each.score) for each in found] == [(each.message, each.score) for each in without]


def test_an_excluded_message_is_not_found_until_it_is_included_again():
    conversation = long_talk(SECRET, "How nice.")
    first = find_recalled(conversation)[0].message
    exclude_message(conversation=conversation, message_id=first, excluded=True)
    assert first not in {each.message for each in find_recalled(conversation)}
    exclude_message(conversation=conversation, message_id=first, excluded=False)
    assert find_recalled(conversation)[0].message == first


def test_a_forgotten_message_is_not_found_until_it_is_remembered():
    conversation = long_talk(SECRET, "How nice.", "Hello", "Hello")
    [third] = conversation.messages.filter(position=2)
    forget_above(conversation=conversation, message_id=third.pk)
    assert SECRET not in [passage.text for passage in find_recalled(conversation)]
    [last] = conversation.messages.filter(position=63)
    forget_above(conversation=conversation, message_id=last.pk)  # of which nothing is indexed after it
    assert all(passage.position >= 62 for passage in find_recalled(conversation))
    remember_everything(conversation=conversation)
    assert find_recalled(conversation)[0].text == SECRET


def test_what_left_the_path_is_not_found_though_it_is_still_indexed():
    conversation = long_talk("Good morning.", "Good morning.", SECRET, "How nice.")
    conversation.refresh_from_db()
    gone = find_recalled(conversation)[0].message
    edit_message(
        user=conversation.owner, conversation=conversation, message_id=gone, content="Hello.", client_id=uuid.uuid4()
    )
    assert MessagePassage.objects.filter(message=gone).exists()
    assert gone not in {each.message for each in find_recalled(conversation)}


def test_other_conversations_are_not_looked_into():
    long_talk(SECRET, "How nice.", person="bob")
    assert all("lighthouse" not in each.text for each in find_recalled(long_talk("Good morning.", "Good morning.")))


def test_a_deleted_conversation_has_nothing():
    conversation = long_talk(SECRET, "How nice.")
    pk = conversation.pk
    conversation.delete()
    assert recall_passages(pk, SECRET, before_position=100, now=timezone.now()) == []


def test_of_a_long_message_an_excerpt_with_half_of_its_words_is_found():
    sentences = [f"The city number {n} has {n} towers, a river and an old wall." for n in range(30)]
    sentences[22] = "The lighthouse of my sister Ada stands there, over the sea and the rocks."
    best = next(
        each for each in find_recalled(long_talk("Tell me of cities.", " ".join(sentences))) if each.position == 1
    )
    content = Message.objects.get(pk=best.message).content
    assert "lighthouse" in best.text
    assert not best.is_whole
    assert content[best.start : best.end] == best.text
    assert 0.5 <= len(best.text.split()) / len(content.split()) < 0.6


def test_of_a_giant_message_the_best_passage_is_found():
    sentences = [f"The city number {n} has {n} towers, a river and an old wall." for n in range(2_000)]
    sentences[1_700] = SECRET
    best = next(
        each for each in find_recalled(long_talk("Tell me of cities.", " ".join(sentences))) if each.position == 1
    )
    assert SECRET in best.text
    assert len(best.text.split()) < 110


def test_a_named_day_is_found():
    conversation = long_talk(SECRET, "How nice.")
    day = dt.datetime(2024, 3, 5, 12, tzinfo=dt.UTC)
    wanted = conversation.messages.get(position=30)
    Message.objects.filter(pk=wanted.pk).update(created_at=day)
    MessagePassage.objects.filter(message=wanted).update(at=day)
    best = find_recalled(conversation, "Which gardens, roofs and rivers did I speak of on March 5th, 2024?")[0]
    assert best.message == wanted.pk
    assert "date" in best.why


def test_a_named_day_is_enough():
    conversation = long_talk(SECRET, "How nice.")
    day = dt.datetime(2024, 3, 5, 12, tzinfo=dt.UTC)
    MessagePassage.objects.filter(position=30).update(at=day)
    Message.objects.filter(position=30).update(created_at=day)
    assert find_recalled(conversation, "What happened on 2024-03-05?")[0].position == 30


def test_a_question_in_chinese_finds_what_was_said_in_chinese():
    assert (
        find_recalled(long_talk("我的妹妹住在卑尔根的灯塔里。", "好。"), "我妹妹的灯塔在哪里？卑尔根吗？")[0].position
        == 0
    )


@pytest.mark.parametrize("question", ["我的妹妹Ada住在哪里？Bergen吗？", "Wo wohnt meine Schwester Ada, in Bergen?"])
def test_a_question_in_another_language_finds_the_names_in_it(question):
    assert find_recalled(long_talk(SECRET, "How nice."), question)[0].position == 0


@pytest.mark.parametrize(
    "question", ["妹妹的灯塔在哪里？", "Wo steht der Leuchtturm deiner Schwester?", "的", "der die das"]
)
def test_a_question_in_another_language_without_a_shared_word_finds_nothing(question):
    assert find_recalled(long_talk(SECRET, "How nice."), question) == []


@pytest.mark.parametrize(
    "question", ["green1 " * 20_000, " ".join(f"word{n} roofs" for n in range(20_000)), "a" * 10**6]
)
def test_a_giant_question_takes_no_longer(question):
    find_recalled(long_talk(SECRET, "How nice."), question)


@pytest.mark.django_db(transaction=True)  # or the look-up's time limit would hold for the clean-up, too
def test_one_message_is_found_among_thousands_of_identical_ones():
    with cpu_time_under(20):
        conversation = talk(SECRET, *["The weather is fine in the hills."] * 4_000)
    with cpu_time_under(1):
        found = find_recalled(conversation)
    assert found[0].text == SECRET
    assert len({each.message for each in found}) == len(found) <= 240


@pytest.mark.parametrize("content", ["harbour " * 125_000, "harbour," * 125_000, "a" * 1_000_000])
def test_a_megabyte_of_one_word_holds_up_neither_the_index_nor_a_look_up(content):
    with cpu_time_under(10):
        conversation = long_talk(SECRET, content)
    for question in ("Where does my sister Ada keep the lighthouse?", "Is it in the harbour of Bergen?", content):
        with cpu_time_under(1):
            found = find_recalled(conversation, question)
        assert all(len(each.text) <= 1_000 for each in found)


@pytest.mark.parametrize("step", ["read_candidates", "read_excerpts"])
def test_a_conversation_that_is_deleted_in_the_middle_of_a_look_up_has_nothing(monkeypatch, step):
    conversation = long_talk(SECRET, "How nice.")
    read = getattr(find_passages, step)

    def delete_and_read(*arguments, **named):
        Conversation.objects.get(pk=conversation.pk).delete()
        return read(*arguments, **named)

    monkeypatch.setattr(find_passages, step, delete_and_read)
    assert find_recalled(conversation) == []


def test_what_left_the_path_in_the_middle_of_a_look_up_is_not_found(monkeypatch):
    conversation = long_talk("Good morning.", "Good morning.", SECRET, "How nice.")
    conversation.refresh_from_db()
    read = find_passages.read_candidates

    def edit_and_read(*arguments, **named):
        first = conversation.messages.get(position=0)
        edit_message(
            user=conversation.owner,
            conversation=conversation,
            message_id=first.pk,
            content="Hello.",
            client_id=uuid.uuid4(),
        )
        return read(*arguments, **named)

    monkeypatch.setattr(find_passages, "read_candidates", edit_and_read)
    assert find_recalled(conversation) == []


def test_a_reply_that_is_made_again_is_not_found_for_its_question():
    conversation = long_talk("Good morning.", "Good morning.")
    history = ChatHistory(conversation)
    question = history.add("user", "Where does my sister Ada keep the lighthouse?")
    old = history.add("assistant", SECRET)
    index_conversation(conversation.pk)
    conversation.refresh_from_db()
    regenerate_reply(user=conversation.owner, conversation=conversation, reply_id=old.pk)
    found = find_recalled(conversation, before_position=question.position, asked_position=question.position)
    assert old.pk not in {each.message for each in found}


def test_what_its_owner_never_wants_recalled_is_not_found():
    conversation = long_talk(SECRET, "How nice.")
    said = find_recalled(conversation)[0]
    Message.objects.filter(pk=said.message).update(never_recalled=True)
    assert said.message not in {each.message for each in find_recalled(conversation)}

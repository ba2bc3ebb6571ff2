"""Which version of a summary is sent: the prompt's beginning changes when the window moves on, and hardly else."""

from __future__ import annotations

import uuid
from random import Random

import pytest

from conversations.models import Conversation
from conversations.selectors.conversations.summary import previous_summary, sendable_summaries
from conversations.services.grounding.recall import Recalled
from conversations.services.language_models.model_context import model_context
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.services.messages.mark_message import exclude_message
from conversations.services.messages.switch_version import switch_version
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.summaries.change_summary import edit_summary, undo_summary
from conversations.services.summaries.claim_summary import claim_summary
from conversations.services.summaries.store_summary import add_version
from conversations.services.windows.build_window import begins_elsewhere, build_window, draft_message
from tests.support.people import post
from tests.support.summaries import OWN, begin_summarised, first_position, say, slide

pytestmark = pytest.mark.django_db
REQUESTS = 120


@pytest.fixture
def conversation(settings):
    settings.OPENAI_API_KEY = "x"
    settings.LANGUAGE_MODELS = OWN
    settings.MESSAGES_PER_MINUTE = settings.REPLIES_PER_USER = 0
    return begin_summarised()


def fresh(conversation):
    return Conversation.objects.select_related("scenario", "owner", "head").get(pk=conversation.pk)


def write(conversation, words=20, *, until=None):
    """Store what a worker would have written by now, of the messages up to the position *until*."""
    position = first_position(conversation) - 1 if until is None else until
    last = conversation.messages.get(position=position, active=True)
    place = {"covers_before": last.position + 1, "last_message_id": last.pk, "messages": last.position + 1}
    return add_version(conversation, "They spoke of trains. " * words, **place, language_model="letters").number


def edit_question(conversation, position):
    """Take another path from *position* on, and have the question there answered."""
    message = conversation.messages.get(position=position, active=True)
    wanted = {"conversation": fresh(conversation), "message_id": message.pk, "client_id": uuid.uuid4()}
    reply = edit_message(user=conversation.owner, content="Something else?", **wanted).reply
    end_reply(reply.pk, COMPLETE, content="Yes.")


def sent_version(window):
    return window.record.summary.version if window.record.summary else None


def versions(conversation):
    sendable = sendable_summaries(fresh(conversation))
    return sendable and (sendable.in_use.number, sendable.current.number)


class Talk:
    """A conversation in which anything happens between two requests, and when its prompts had another beginning."""

    def __init__(self, conversation, randomly):
        self.conversation, self.randomly = conversation, randomly
        self.window, self.number = None, 0
        self.changes = self.steps = self.exceptions = 0
        self.is_exception = False

    def ask(self):
        """Ask, and compare the beginning of the prompt with that of the last one."""
        before = versions(self.conversation)
        content = "When does train {number} leave? " * self.randomly.choice((1, 1, 10))
        has_to_move = self.window and self.has_to_move(content.format(number=self.number))
        window = say(self.conversation, self.number, question=content).window
        last = self.window.prompt[:-1] if self.window else ()
        has_changed = window.prompt[: len(last)] != last
        assert not has_changed or has_to_move or self.is_exception
        assert sent_version(window) == (before and before[1 if has_to_move else 0])
        self.changes += has_changed
        self.steps += bool(has_to_move)
        self.exceptions += self.is_exception
        self.window, self.number, self.is_exception = window, self.number + 1, False

    def has_to_move(self, content):
        """Tell whether the window with what was sent last would begin elsewhere; a shorter summary may spare that."""
        conversation = fresh(self.conversation)
        context = model_context(conversation.scenario)
        newest = draft_message(content, position=conversation.head.position + 1, context=context)
        return begins_elsewhere(build_window(conversation, newest, same_as=self.window), conversation)

    def change(self):
        """Let a worker write, an owner edit, undo or exclude, or nothing happen."""
        rare = self.edit, self.undo, self.exclude
        self.randomly.choice((*rare, *[self.write] * 5, *[lambda: None] * 12))()

    def write(self):
        if first_position(self.conversation):
            self.is_exception |= not versions(self.conversation)
            write(self.conversation, self.randomly.randint(1, 20))

    def edit(self):
        if seen := versions(self.conversation):
            edited = edit_summary(fresh(self.conversation), version=seen[1], text=f"Ada edits {self.number}.")
            assert versions(self.conversation) == (edited.number, edited.number)
            self.is_exception = True

    def undo(self):
        sendable = sendable_summaries(fresh(self.conversation))
        if sendable and previous_summary(sendable.current):
            back = undo_summary(fresh(self.conversation), version=sendable.current.number)
            assert versions(self.conversation) == (back.number, back.number)
            self.is_exception = True

    def exclude(self):
        position = self.randomly.randrange(first_position(self.conversation) or 1)
        message = self.conversation.messages.filter(position=position, active=True, excluded=False).first()
        if message and self.randomly.random() < 0.3:
            exclude_message(conversation=fresh(self.conversation), message_id=message.pk, excluded=True)
            self.is_exception = True


@pytest.mark.parametrize("seed", range(2))
def test_the_beginning_of_the_prompt_changes_once_per_slide(conversation, seed):
    talk = Talk(conversation, Random(seed))
    for _ in range(REQUESTS):
        talk.ask()
        talk.change()
    assert talk.changes <= talk.steps + talk.exceptions
    assert min(talk.steps, talk.exceptions) > 5


def test_a_newer_version_waits_until_the_window_moves_on(conversation):
    number = slide(conversation)
    write(conversation)
    assert sent_version(say(conversation, number).window) == 1  # there was none before: at once
    number = slide(conversation, number)
    write(conversation)
    assert sent_version(say(conversation, number).window) == 1
    draft = estimate_draft(user=conversation.owner, conversation=fresh(conversation), content="And now?")
    assert sent_version(draft.window) == 1
    while versions(conversation) == (1, 2):
        last = say(conversation, number)
    assert sent_version(last.window) == 2
    assert last.window.record.first_position > last.window.record.anchor


def test_what_is_chosen_again_after_the_look_up_has_the_same_version(conversation):
    slide(conversation)
    write(conversation)
    say(conversation, 0)
    slide(conversation)
    write(conversation)
    version = 1
    while version == 1:
        reply = post(conversation, "And now?" * 30).reply
        first = prepare_reply(reply.pk)
        write(conversation)  # meanwhile
        second = prepare_reply(reply.pk, recalled=Recalled(()), without_recall=first)
        version = sent_version(first.window)
        end_reply(reply.pk, COMPLETE, content="Then. " * 40)
        assert sent_version(second.window) == version
        assert second.window.record.first_position == first.window.record.first_position


def test_an_edit_while_a_window_is_chosen_is_sent_with_the_next_one(conversation, monkeypatch):
    number = slide(conversation)
    write(conversation)

    def edited_meanwhile(*args, **named):
        window = build_window(*args, **named)
        edit_summary(fresh(conversation), version=1, text="Ada goes to Bergen.")
        return window

    with monkeypatch.context() as patch:
        patch.setattr("conversations.services.replies.prepare_reply.build_window", edited_meanwhile)
        assert sent_version(say(conversation, number).window) == 1
    assert sent_version(say(conversation, number).window) == 2


def test_after_an_edit_the_version_that_still_holds_is_sent_until_there_is_a_new_one(conversation):
    number = slide(conversation)
    number = slide(conversation, number)
    write(conversation, until=1)
    write(conversation, until=2)
    edit_question(conversation, 2)
    assert versions(conversation) == (1, 1)
    assert claim_summary("test") == (True, None)  # too little has left the window since
    assert versions(conversation) == (1, 1)
    while not (summary := say(conversation, number).window.record.summary).tokens:
        number += 1  # all is in view at first
    assert summary.version == 1


def test_a_version_that_was_undone_never_comes_back(conversation):
    number = slide(conversation)
    write(conversation, until=1)
    write(conversation, until=1)
    assert undo_summary(fresh(conversation), version=2).number == 1
    edited = edit_summary(fresh(conversation), version=1, text="Ada goes to Bergen.")
    assert undo_summary(fresh(conversation), version=edited.number).number == 1
    write(conversation, until=2)
    assert previous_summary(sendable_summaries(fresh(conversation)).current).number == 1
    edit_question(conversation, 2)
    assert versions(conversation) == (1, 1)
    number = slide(conversation, number)  # back to the beginning first
    slide(conversation, number)
    _, held = claim_summary("test")
    assert held.base.number == 1


def test_on_the_path_of_before_its_own_version_holds_again(conversation):
    slide(conversation)
    write(conversation, until=1)
    write(conversation, until=2)
    left = conversation.messages.get(position=2, active=True)
    edit_question(conversation, 2)
    assert versions(conversation) == (1, 1)
    switch_version(conversation=fresh(conversation), message_id=left.pk)
    assert versions(conversation)[1] == 2

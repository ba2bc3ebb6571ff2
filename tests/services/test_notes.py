"""Notes: sent with each question and counted, shown later as they were sent, forgotten with their user."""

from __future__ import annotations

import pytest

from chatsite.accounts.models import User
from conversations.core.errors import (
    AboutMeTooLong,
    NotesHaveTooManyCharacters,
    NotesHaveTooManyTokens,
    NotesTooLong,
    SystemPromptTooLong,
)
from conversations.core.prompt.system_text import SystemTexts
from conversations.models import Completion, Conversation, KeptText, Message, Scenario
from conversations.selectors.conversations.sent_request import sent_request
from conversations.selectors.conversations.window import sent_window
from conversations.services.conversations.notes import MOST_CHARACTERS, save_about_me, save_notes
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.services.portability.delete_account import delete_account
from conversations.services.replies.complete_step import StepRequest, open_step
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
ABOUT, NOTES = "I am Ada, and I row.", "Use metres.\nNever feet."


@pytest.fixture
def conversation(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return begin(make_user("alice"))


def write(conversation, *, system_prompt="", about_me=ABOUT, notes=NOTES):
    Scenario.objects.filter(pk=conversation.scenario_id).update(system_prompt=system_prompt)
    save_about_me(conversation.owner, about_me)
    save_notes(conversation, notes)
    conversation.scenario.refresh_from_db()


def ask(conversation, content="How long is the boat?"):
    """Return the row of the ledger of a request that answers *content*."""
    reply = post(conversation, content).reply
    completion = open_step(StepRequest(prepare_reply(reply.pk)), 1)
    completion.refresh_from_db()
    end_reply(reply.pk, COMPLETE, content="Eight metres.")
    return completion


def estimated(conversation):
    return estimate_draft(user=conversation.owner, conversation=conversation, content="And how wide?")


@pytest.mark.parametrize("system_prompt", ["", "Be kind."])
def test_they_are_sent_in_the_one_system_message_and_shown_so_after_they_were_changed(conversation, system_prompt):
    write(conversation, system_prompt=system_prompt)
    completion = ask(conversation)
    write(conversation, system_prompt="Be cruel.", about_me="I am Bob.", notes="")
    sent = sent_request(completion)
    assert sent.is_exact
    roles = [message["role"] for message in sent.body["messages"]]
    assert roles == ["system", "user"]
    assert sent.body["messages"][0]["content"] == SystemTexts(system_prompt, ABOUT, NOTES).render()
    rows = {row.entry.kind: row.excerpt for row in sent_window(Message.objects.get(pk=completion.reply_id)).view.rows}
    assert rows.pop("newest")
    assert rows == {
        **({"system": "Be kind."} if system_prompt else {}),
        "about_me": ABOUT,
        "notes": NOTES.replace("\n", " "),
    }


def test_the_estimate_counts_them_as_soon_as_they_are_saved(conversation):
    before = estimated(conversation)
    write(conversation)
    after = estimated(conversation)
    parts = after.window.record.parts
    assert before.window.record.parts["notes"] == 0
    assert parts["notes"] == after.prompt_tokens - before.prompt_tokens > 40
    assert sum(parts.values()) == after.window.record.budget_tokens


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        ({"system_prompt": "word " * 300}, SystemPromptTooLong),
        ({"about_me": "word " * 300}, AboutMeTooLong),
        ({"notes": "word " * 300}, NotesTooLong),
    ],
)
def test_what_does_not_fit_is_the_fault_of_its_writer(conversation, texts, error):
    Scenario.objects.update(cap_tokens=250)
    write(conversation, **texts)
    with pytest.raises(error) as refusal:
        post(conversation, "Hello")
    assert refusal.value.tokens_over > 50
    assert not Message.objects.exists()


@pytest.mark.parametrize("save", [save_about_me, save_notes])
@pytest.mark.parametrize(
    ("text", "error"),
    [("x" * (MOST_CHARACTERS + 1), NotesHaveTooManyCharacters), ("é ü " * 900, NotesHaveTooManyTokens)],
)
def test_what_is_too_long_is_refused_and_the_old_notes_stay(conversation, save, text, error):
    write(conversation)
    target = conversation.owner if save is save_about_me else conversation
    with pytest.raises(error):
        save(target, text)
    target.refresh_from_db()
    assert (conversation.owner.about_me, conversation.notes) == (ABOUT, NOTES)


def test_a_choice_about_recall_that_another_page_has_stored_meanwhile_stays(conversation):
    Conversation.objects.update(kept_out_of_recall=True)
    User.objects.update(recalls_other_conversations=True)
    write(conversation)  # as it was read before
    conversation.refresh_from_db()
    assert conversation.kept_out_of_recall
    assert User.objects.get(pk=conversation.owner_id).recalls_other_conversations


def test_what_can_not_be_stored_is_taken_out(conversation):
    save_notes(conversation, " \r\nRow\x00 \ud800on.\r\nNow. \n")
    conversation.refresh_from_db()
    assert conversation.notes == "Row on.\nNow."


def test_no_word_of_them_outlives_the_account(conversation):
    write(conversation)
    ask(conversation)
    assert KeptText.objects.filter(text__contains="Never feet").exists()
    delete_account(conversation.owner)
    assert not KeptText.objects.exists()
    assert Completion.objects.count() == 1

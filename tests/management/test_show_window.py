"""`manage.py show_window`: what would be sent, without sending it."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from conversations.core.prompt.system_text import SystemTexts
from conversations.core.window.policies import WindowPolicy
from conversations.management.window_table import window_lines
from conversations.models import Completion, Message, Scenario
from conversations.selectors.conversations.window import view_window
from conversations.services.messages.estimate_draft import estimate_draft
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


class Nothing(WindowPolicy):
    """Sends no older messages at all."""

    def choose(self, older, room):
        return []


class Broken(WindowPolicy):
    def choose(self, older, room):
        raise RuntimeError("out of order")


@pytest.fixture
def conversation(settings):
    settings.MESSAGES_PER_MINUTE = 0
    conversation = begin(make_user("alice"))
    for content in ("The first question", "The second question"):
        end_reply(post(conversation, content).reply.pk, COMPLETE, content=f"Reply to {content}")
    conversation.refresh_from_db()
    return conversation


@pytest.fixture
def show(conversation, capsys):
    def run(message="And now?", *options, conversation=str(conversation.public_id)):
        call_command("show_window", conversation, message, *options)
        return capsys.readouterr().out

    return run


def test_it_lists_each_message_with_its_tokens_and_the_beginning_of_its_words(show):
    lines = [line.split() for line in show().splitlines()]
    assert lines[0][-1] == "windowseat-demo"
    assert ["older", "user", "1", "7", "The", "first", "question"] in lines
    assert ["newest", "user", "5", "7", "And", "now?"] in lines


def test_its_parts_add_up_to_the_budget(show, conversation):
    record = estimate_draft(user=conversation.owner, conversation=conversation, content="And now?").window.record
    shown = show()
    assert f"{record.prompt_tokens:,}" in shown.partition("Prompt")[2].splitlines()[0]
    assert f"{record.budget_tokens:,}" in shown.partition("Budget")[2].splitlines()[0]


def test_it_says_what_is_left_out_and_why(show):
    Message.objects.filter(content="The first question").update(excluded=True)
    assert "Left out: position 1, 7 tokens, excluded: The first question" in show()


@pytest.mark.parametrize("length", [36, 8, 1])
def test_the_beginning_of_the_public_id_is_enough(show, conversation, length):
    assert str(conversation.public_id) in show(conversation=str(conversation.public_id)[:length])


def test_its_number_is_enough(show, conversation):
    assert str(conversation.public_id) in show(conversation=str(conversation.pk))


def test_as_json_it_is_the_record_and_the_very_messages_that_are_sent_then(show, conversation):
    shown = json.loads(show("And now?", "--json"))
    window = prepare_reply(post(conversation, "And now?").reply.pk).window
    assert shown["messages"] == [message.to_json() for message in window.prompt]
    assert shown["record"]["prompt_tokens"] == window.record.prompt_tokens
    assert [entry["tokens"] for entry in shown["record"]["entries"]] == [e.tokens for e in window.record.entries]


def test_nothing_is_stored_or_sent(show, conversation):
    before = list(Message.objects.values()), list(Scenario.objects.values())
    show("And now?", "--budget", "100", "--policy", "last-n-messages")
    assert (list(Message.objects.values()), list(Scenario.objects.values())) == before
    assert not Completion.objects.exists()


def test_a_budget_caps_the_prompt(show):
    record = json.loads(show("And now?", "--budget", "20", "--json"))["record"]
    assert record["prompt_tokens"] <= record["budget_tokens"] == 20


def test_a_policy_stands_for_the_scenarios_own(show):
    shown = json.loads(show("And now?", "--policy", f"{__name__}.Nothing", "--json"))
    assert [message["content"] for message in shown["messages"]] == ["And now?"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--budget", "0"], "must be from 1 to 4,096"),
        (["--budget", "-1"], "must be from 1 to 4,096"),
        (["--budget", "9" * 40], "must be from 1 to 4,096"),
        (["--budget", "8"], "Your message is 2 tokens too long"),
        (["--policy", "no-such-policy"], "No such window policy"),
        (["--policy", "os.path.join"], "not a subclass of WindowPolicy"),
        (["--policy", f"{__name__}.Broken"], "out of order"),
        (["--policy", "full", "--budget", "20"], "tokens too long, and its scenario or the request does not allow"),
    ],
)
def test_what_cannot_be_is_refused_in_words(show, options, words):
    with pytest.raises(CommandError, match=words):
        show("And now?", *options)


@pytest.mark.parametrize("wanted", ["", "-", "nothing like it", "99999999999999999999", "%", "ffffffff-ffff"])
def test_a_conversation_that_is_not_there_is_refused(show, wanted):
    with pytest.raises(CommandError, match="No conversation has an id that begins with"):
        show(conversation=wanted)


def test_a_beginning_that_several_share_is_refused(show, conversation):
    other = begin(conversation.owner)
    other.public_id = f"{str(conversation.public_id)[:8]}-0000-4000-8000-000000000000"
    other.save()
    with pytest.raises(CommandError, match="several conversations"):
        show(conversation=str(conversation.public_id)[:8])


def test_words_are_cut_to_the_width_of_the_terminal(conversation):
    estimate = estimate_draft(user=conversation.owner, conversation=conversation, content="word " * 100)
    lines = window_lines(view_window(estimate.window.record, system=SystemTexts(), question="word " * 100), columns=70)
    assert max(len(line) for line in lines if line.startswith(("older", "newest"))) == 70

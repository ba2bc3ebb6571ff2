"""The language model of a conversation: chosen, passed over, changed in mid conversation, and for one reply alone."""

from __future__ import annotations

import uuid

import pytest

from chatsite.accounts.models import Role
from conversations.core.errors import EffortNotAccepted, LanguageModelNotOffered, ReplyInProgress
from conversations.models import Conversation, Message, Run, Scenario
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.language_model import choose_language_model
from conversations.services.language_models.effective_policy import conversation_policy
from conversations.services.language_models.model_choice import choose_model, conversation_toolbox, offered_models
from conversations.services.language_models.model_context import conversation_context
from conversations.services.replies.complete_step import StepRequest
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.windows.recount_messages import recount_messages
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
MODELS = (
    "plain context_window=8192 encoding=o200k_base, old context_window=4096 encoding=cl100k_base tools=no,"
    "deep context_window=16384 encoding=o200k_base efforts=low|high, secret context_window=8192 for=admin|uni.example"
)


@pytest.fixture(autouse=True)
def _models(settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", MODELS


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def conversation(alice):
    return begin(alice)


def choose(conversation, language_model, effort=""):
    choose_language_model(conversation, user=conversation.owner, language_model=language_model, effort=effort)


def ended(conversation, content):
    posted = post(conversation, content)
    end_reply(posted.reply.pk, COMPLETE, content=f"Reply to {content}")
    return posted


def named(conversation):
    return choose_model(Conversation.objects.get(pk=conversation.pk)).configured.name


def test_a_conversation_has_the_sites_default_then_its_scenarios_then_its_own(conversation):
    assert named(conversation) == "plain"
    Scenario.objects.filter(pk=conversation.scenario_id).update(language_model="old")
    assert named(conversation) == "old"
    choose(conversation, "deep")
    assert named(conversation) == "deep"
    choose(conversation, "")
    assert named(conversation) == "old"


def test_the_window_and_the_policy_are_those_of_the_chosen_model(conversation):
    Scenario.objects.filter(pk=conversation.scenario_id).update(reply_reserve_tokens=6_000)
    choose(conversation, "old")
    found = Conversation.objects.get(pk=conversation.pk)
    context = conversation_context(found)
    assert context.language_model.context_window_tokens == 4_096
    assert conversation_policy(found).reply_reserve_tokens == 1_024


@pytest.mark.parametrize("name", ["secret", "unknown", "\x00", "PLAIN"])
def test_what_is_not_on_offer_is_refused_wherever_it_is_chosen(conversation, alice, name):
    with pytest.raises(LanguageModelNotOffered):
        choose(conversation, name)
    with pytest.raises(LanguageModelNotOffered):
        start_conversation(user=alice, public_id=uuid.uuid4(), language_model=name)
    reply = ended(conversation, "Hello").reply
    with pytest.raises(LanguageModelNotOffered):
        regenerate_reply(user=alice, conversation=conversation, reply_id=reply.pk, language_model=name)
    assert Conversation.objects.filter(owner=alice).count() == 1
    assert named(conversation) == "plain"


@pytest.mark.parametrize(
    ("email", "role", "is_offered"),
    [
        ("a@uni.example", Role.USER, True),
        ("a@UNI.example", Role.USER, True),
        ("a@not-uni.example", Role.USER, False),
        ("a@sub.uni.example", Role.USER, False),
        ("a@b.example", Role.ADMIN, True),
        ("a@b.example", Role.REVIEWER, False),
    ],
)
def test_a_model_is_offered_by_role_or_domain(email, role, is_offered):
    user = make_user("x")
    user.email, user.role = email, role
    assert ("secret" in [model.name for model in offered_models(user)]) is is_offered


def test_a_model_that_is_gone_is_passed_over(conversation, settings):
    Scenario.objects.filter(pk=conversation.scenario_id).update(language_model="old")
    choose(conversation, "deep", "high")
    settings.LANGUAGE_MODELS = MODELS.replace("deep", "deeper")
    choice = choose_model(Conversation.objects.get(pk=conversation.pk))
    assert (choice.configured.name, choice.passed_over, choice.effort) == ("old", "deep", "")
    settings.LANGUAGE_MODELS = "another context_window=8192"
    choice = choose_model(Conversation.objects.get(pk=conversation.pk))
    assert (choice.configured.name, choice.passed_over) == ("another", "deep")
    assert post(conversation, "Hello").reply.encoding == "o200k_base"


def test_a_model_that_is_no_longer_on_offer_to_its_owner_is_passed_over(conversation, alice):
    alice.role = Role.ADMIN
    alice.save()
    choose(conversation, "secret")
    assert named(conversation) == "secret"
    alice.role = Role.USER
    alice.save()
    assert named(conversation) == "plain"
    assert choose_model(Conversation.objects.get(pk=conversation.pk)).passed_over == "secret"


def test_a_scenario_of_the_site_with_a_model_for_others_uses_the_default(conversation):
    Scenario.objects.filter(pk=conversation.scenario_id).update(language_model="secret")
    choice = choose_model(Conversation.objects.get(pk=conversation.pk))
    assert (choice.configured.name, choice.passed_over) == ("plain", "secret")


def test_a_reply_that_is_being_made_ends_with_the_model_that_it_began_with(conversation):
    reply = post(conversation, "Hello").reply
    choose(conversation, "deep", "high")
    assert prepare_reply(reply.pk).window.record.language_model == "plain"
    end_reply(reply.pk, COMPLETE, content="Done")
    following = post(conversation, "Again").reply
    prepared = prepare_reply(following.pk)
    assert prepared.window.record.language_model == "deep"
    assert StepRequest(prepared).completion_request().effort == "high"


def test_a_running_reply_keeps_model_and_effort_when_scenario_and_offers_change(conversation, alice):
    alice.role = Role.ADMIN
    alice.save()
    choose(conversation, "secret")
    secret = post(conversation, "Hello").reply
    other = begin(alice)
    choose(other, "deep")
    unasked = post(other, "Hello").reply
    alice.role = Role.USER
    alice.save()
    Scenario.objects.update(effort="high")
    assert prepare_reply(secret.pk).window.record.language_model == "secret"
    assert StepRequest(prepare_reply(unasked.pk)).completion_request().effort == ""


def test_a_running_reply_uses_another_model_where_its_own_was_taken_out_of_the_settings(conversation, settings):
    choose(conversation, "deep", "high")
    reply = post(conversation, "Hello").reply
    settings.LANGUAGE_MODELS = MODELS.replace("deep", "deeper")
    assert prepare_reply(reply.pk).window.record.language_model == "plain"


def test_one_reply_is_regenerated_with_another_model(conversation, alice):
    first = ended(conversation, "Hello").reply
    again = regenerate_reply(user=alice, conversation=conversation, reply_id=first.pk, language_model="deep")
    assert prepare_reply(again.pk).window.record.language_model == "deep"
    assert Run.objects.get(reply=again).language_model == "deep"
    with pytest.raises(ReplyInProgress):
        regenerate_reply(user=alice, conversation=conversation, reply_id=again.pk, language_model="old")
    end_reply(again.pk, COMPLETE, content="By another")
    assert named(conversation) == "plain"
    assert prepare_reply(post(conversation, "Next").reply.pk).window.record.language_model == "plain"


def test_an_effort_is_the_conversations_or_the_scenarios_where_the_model_accepts_it(conversation):
    Scenario.objects.filter(pk=conversation.scenario_id).update(language_model="deep", effort="low")

    def effort():
        return choose_model(Conversation.objects.get(pk=conversation.pk)).effort

    assert effort() == "low"
    conversation.refresh_from_db()
    choose(conversation, "", "high")
    assert effort() == "high"
    choose(conversation, "plain")
    assert effort() == ""


@pytest.mark.parametrize(("name", "effort"), [("plain", "low"), ("deep", "medium"), ("deep", "\x00"), ("", "high")])
def test_an_effort_that_the_model_does_not_accept_is_refused(conversation, name, effort):
    with pytest.raises(EffortNotAccepted):
        choose(conversation, name, effort)


def test_a_model_without_tools_is_sent_none(conversation):
    Scenario.objects.filter(pk=conversation.scenario_id).update(tools=["calculator"])
    conversation.refresh_from_db()
    assert conversation_toolbox(conversation).tools
    choose(conversation, "old")
    assert not conversation_toolbox(conversation).tools
    prepared = prepare_reply(post(conversation, "2 + 2?").reply.pk)
    assert prepared.toolbox.schemas == ()
    assert prepared.window.record.tool_schema_tokens == 0


def encodings(conversation):
    stored = Message.objects.filter(conversation=conversation).order_by("position")
    return list(stored.values_list("encoding", flat=True))


def test_messages_are_counted_again_for_another_encoding_alone(conversation, django_capture_on_commit_callbacks):
    for content in ("First", "Second", "Третий вопрос"):
        ended(conversation, content)
    with django_capture_on_commit_callbacks() as callbacks:
        choose(conversation, "deep")
    assert len(callbacks) == 1  # the frame
    recount_messages(conversation.pk)
    assert set(encodings(conversation)) == {"o200k_base"}
    with django_capture_on_commit_callbacks() as callbacks:
        choose(conversation, "old")
    assert len(callbacks) == 2
    recount_messages(conversation.pk)
    assert set(encodings(conversation)) == {"cl100k_base"}
    found = Conversation.objects.select_related("scenario").get(pk=conversation.pk)
    context = conversation_context(found)
    for message in Message.objects.filter(conversation=conversation, role="user"):
        assert message.content_tokens == context.count_text(message.content)


def test_nothing_is_counted_of_a_conversation_that_is_gone(conversation):
    recount_messages(conversation.pk)  # empty
    recount_messages(10**9)

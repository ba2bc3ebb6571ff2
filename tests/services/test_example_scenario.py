"""The ready example comes and goes as a whole, and once."""

from __future__ import annotations

import pytest

from conversations.example import NAME, SCHEDULE
from conversations.models import Document, DocumentFile, Scenario
from conversations.providers.catalog.language_models import default_language_model
from conversations.selectors.conversations.scenarios import list_scenarios
from conversations.services.conversations.conversations import choose_scenario
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.language_models.effective_policy import scenario_policy
from conversations.services.scenarios.example_scenario import ExampleIsDefault, load_example, remove_example
from conversations.services.scenarios.scenario_settings import check_scenario
from tests.support.concurrent_users import at_once
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def example():
    load_example()
    return Scenario.objects.get(name=NAME)


def test_everyone_may_choose_it_and_no_one_begins_with_it(example):
    assert example in list_scenarios(make_user("alice"))
    assert default_scenario() != example


def test_its_prompts_are_those_of_a_window_of_4096_tokens(example, settings):
    assert default_language_model().language_model.context_window_tokens == 4_096
    assert scenario_policy(example).budget_tokens(default_language_model().language_model) == 3_596
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "key", "large context_window=200000 reply_reserve=9000"
    assert scenario_policy(example).budget_tokens(default_language_model().language_model) == 3_596


def test_it_says_nothing_that_a_person_could_not_say(example):
    example.full_clean()
    check_scenario(example)


def test_it_brings_the_schedule_which_waits_to_be_read(example):
    document = example.documents.get()
    assert (document.state, document.uploader) == ("waiting", None)
    assert bytes(document.file.content) == SCHEDULE.read_bytes()


def test_loading_it_again_changes_nothing(example):
    example.system_prompt = "What an admin has written."
    example.save()
    assert load_example() == example.documents.get()
    assert Scenario.objects.get(name=NAME).system_prompt == "What an admin has written."


def test_a_schedule_that_was_deleted_comes_back(example):
    example.documents.get().delete()
    load_example()
    assert example.documents.count() == 1


def test_a_scenario_of_a_user_with_its_name_is_another(example):
    theirs = Scenario.objects.create(name=NAME, owner=make_user("bob"))
    remove_example()
    assert list(Scenario.objects.filter(name=NAME)) == [theirs]


def test_removing_it_leaves_its_conversations(example):
    conversation = begin(make_user("alice"))
    choose_scenario(conversation, user=conversation.owner, scenario_id=example.pk)
    assert remove_example()
    conversation.refresh_from_db()
    assert conversation.scenario == default_scenario()
    assert not Document.objects.exists()
    assert not DocumentFile.objects.exists()


def test_removing_what_is_not_there_is_no_error():
    assert not remove_example()


def test_it_stays_while_new_conversations_start_with_it(example):
    Scenario.objects.filter(is_default=True).update(is_default=False)
    Scenario.objects.filter(pk=example.pk).update(is_default=True)
    with pytest.raises(ExampleIsDefault):
        remove_example()
    assert Scenario.objects.filter(pk=example.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_loaded_many_times_at_once_it_is_there_once():
    assert len(set(at_once(lambda _: load_example(), range(6)))) == 1
    assert Scenario.objects.filter(name=NAME).count() == 1

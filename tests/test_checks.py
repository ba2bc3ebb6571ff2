from __future__ import annotations

import pytest

from conversations.checks import check_language_models, check_processes, check_window_policies


def ids(messages):
    return [message.id for message in messages]


def test_a_site_as_it_comes_has_nothing_to_say():
    assert check_language_models(None) == check_processes(None) == []


def test_a_language_model_of_unknown_size_stops_the_start(settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "my-own-model"
    (error,) = check_language_models(None)
    assert error.id == "conversations.E001"
    assert "my-own-model context_window=" in error.msg


def test_a_provider_without_language_models_stops_the_start(settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", ""
    assert ids(check_language_models(None)) == ["conversations.E001"]


def test_workers_elsewhere_without_redis_are_warned_of(settings):
    settings.RUN_WORKER = False
    assert ids(check_processes(None)) == ["conversations.W001"]
    settings.REDIS_URL = "redis://127.0.0.1"
    assert ids(check_processes(None)) == []


def test_window_policies_that_can_be_loaded_are_fine(settings):
    settings.WINDOW_POLICIES = ["tests.example_policy.LastFourMessages"]
    assert check_window_policies(None) == []


@pytest.mark.parametrize("path", ["nowhere.At.All", "os.system", "sliding.", "conversations.checks"])
def test_each_window_policy_that_can_not_be_loaded_is_named(settings, path):
    settings.WINDOW_POLICIES = ["tests.example_policy.LastFourMessages", path]
    (error,) = check_window_policies(None)
    assert error.id == "conversations.E002"
    assert path in error.msg
    assert "subclasses of conversations.core.policy.WindowPolicy" in error.hint

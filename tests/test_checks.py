from __future__ import annotations

import re

import pytest

from chatsite.configuration.env import Environment
from conversations.checks import (
    check_connections,
    check_embedding_model,
    check_language_models,
    check_processes,
    check_provider_address,
    check_search_language,
    check_setting_names,
    check_title_model,
    check_window_policies,
)
from tests.support.source import PROJECT
from tests.support.tiny_model import write_tiny_model


def ids(messages):
    return [message.id for message in messages]


def test_a_site_as_it_comes_has_nothing_to_say():
    assert check_language_models(None) == check_processes(None) == check_embedding_model(None) == []


def test_a_language_model_of_unknown_size_stops_the_start(settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "my-own-model"
    (error,) = check_language_models(None)
    assert error.id == "conversations.E001"
    assert "my-own-model context_window=" in error.msg


def test_a_provider_without_language_models_stops_the_start(settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", ""
    assert ids(check_language_models(None)) == ["conversations.E001"]


@pytest.mark.parametrize("user", ["ada:s3cret", "ada", ":s3cret", ":"])
def test_a_provider_s_address_with_a_user_or_password_stops_the_start_and_is_not_repeated(settings, user):
    settings.OPENAI_BASE_URL = f"https://{user}@models.example.net/v1"
    (error,) = check_provider_address(None)
    assert error.id == "conversations.E011"
    assert "OPENAI_API_KEY" in error.hint
    assert not any(word in f"{error.msg} {error.hint}" for word in ("ada", "s3cret", "models.example.net"))


@pytest.mark.parametrize(
    "address", ["", "https://models.example.net/v1?of=ada:b@c", "http://@localhost/v1", "http://["]
)
def test_a_provider_s_address_without_user_and_password_is_left_to_others(settings, address):
    settings.OPENAI_BASE_URL = address
    assert check_provider_address(None) == []


@pytest.mark.parametrize(("model", "expected"), [("", []), ("gpt-4o-mini", []), ("m", ["conversations.E007"])])
def test_a_model_for_titles_that_is_not_on_offer_stops_the_start(settings, model, expected):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS, settings.TITLE_MODEL = "x", "gpt-4o-mini", model
    assert ids(check_title_model(None)) == expected


EMBEDDINGS = {
    "words that nobody knows": ("m floor=high", "", "", "sk-chat", ["conversations.E003"]),
    "two models": ("a, b", "", "", "sk-chat", ["conversations.E003"]),
    "an address with a password": ("m", "http://me:word@example.org/v1", "", "", ["conversations.E004"]),
    "an address that hands out credentials": ("m", "http://169.254.169.254/v1", "", "", ["conversations.E004"]),
    "an address in octal": ("m", "http://0177.0.0.1/v1", "", "", ["conversations.E004"]),
    "nobody to ask": ("m", "", "", "", ["conversations.W002"]),
    "an endpoint without a model": ("", "http://localhost:1/v1", "", "", ["conversations.W003"]),
    "a key without a model": ("", "", "sk-vectors", "", ["conversations.W003"]),
    "a key of its own for the chat provider": ("m", "", "sk-vectors", "sk-chat", ["conversations.W004"]),
    "the chat provider for both": ("m", "", "", "sk-chat", []),
    "an endpoint on this machine": ("m dimensions=256", "http://localhost:11434/v1", "", "", []),
}


@pytest.mark.parametrize(("model", "base_url", "key", "chat_key", "expected"), EMBEDDINGS.values(), ids=EMBEDDINGS)
def test_an_embeddings_model_that_can_not_be_asked_is_named(settings, model, base_url, key, chat_key, expected):
    settings.OPENAI_EMBEDDING_MODEL, settings.OPENAI_EMBEDDING_BASE_URL = model, base_url
    settings.OPENAI_EMBEDDING_API_KEY, settings.OPENAI_API_KEY = key, chat_key
    assert ids(check_embedding_model(None)) == expected


def test_the_folder_of_a_local_model_is_looked_at(settings, tmp_path):
    settings.LOCAL_EMBEDDINGS = str(tmp_path / "tiny")
    (error,) = check_embedding_model(None)
    assert (error.id, error.msg) == ("conversations.E008", f"LOCAL_EMBEDDINGS: {tmp_path / 'tiny'} is not a folder.")
    write_tiny_model(tmp_path / "tiny")
    assert check_embedding_model(None) == []
    settings.OPENAI_EMBEDDING_MODEL = "m"
    assert ids(check_embedding_model(None)) == ["conversations.W006"]


def test_workers_elsewhere_without_redis_are_warned_of(settings):
    settings.RUN_WORKER = False
    assert ids(check_processes(None)) == ["conversations.W001"]
    settings.REDIS_URL = "redis://127.0.0.1"
    assert ids(check_processes(None)) == []


@pytest.mark.parametrize(
    ("processes", "pool_size", "expected"), [(8, 16, []), (2, 200, ["conversations.W007"]), (1, 1000, [])]
)
def test_more_connections_than_the_database_takes_are_warned_of(db, settings, processes, pool_size, expected):
    settings.PROCESSES, settings.DATABASE_POOL_SIZE = processes, pool_size
    assert ids(check_connections(databases=["default"])) == expected


def test_window_policies_that_can_be_loaded_are_fine(settings):
    settings.WINDOW_POLICIES = ["tests.support.example_policy.LastFourMessages"]
    assert check_window_policies(None) == []


@pytest.mark.parametrize("path", ["nowhere.At.All", "os.system", "sliding.", "conversations.checks"])
def test_each_window_policy_that_can_not_be_loaded_is_named(settings, path):
    settings.WINDOW_POLICIES = ["tests.support.example_policy.LastFourMessages", path]
    (error,) = check_window_policies(None)
    assert error.id == "conversations.E002"
    assert path in error.msg
    assert "subclasses of conversations.core.window.policies.WindowPolicy" in error.hint


@pytest.mark.django_db
@pytest.mark.parametrize(("language", "found"), [("german", []), ("simple", []), ("German", ["conversations.E005"])])
def test_a_search_language_that_the_database_does_not_know_is_refused(settings, language, found):
    settings.SEARCH_LANGUAGE = language
    problems = check_search_language(databases=["default"])
    assert ids(problems) == found
    assert all("german" in problem.hint for problem in problems)


def test_the_search_language_is_not_looked_up_unless_the_database_is_checked():
    assert check_search_language() == []


def test_each_check_has_ids_of_its_own():
    """Each check's function uses ids that no other one uses, so that an id silenced or searched for is one thing."""
    functions = re.split(r"\n@register", (PROJECT / "conversations/checks.py").read_text())
    ids = [each for function in functions for each in set(re.findall(r"conversations\.[EW]\d+", function))]
    assert len(ids) > 10
    assert len(ids) == len(set(ids))


def test_a_former_name_of_a_setting_is_warned_of(settings):
    settings.ENV = Environment({"ANSWERS": "5"})
    settings.ENV.integer("REPLIES", default=1, formerly="ANSWERS", help="Replies.")
    (warning,) = check_setting_names(None)
    assert warning.id == "conversations.W008"
    assert "ANSWERS is called REPLIES now" in warning.msg

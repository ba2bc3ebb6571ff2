"""What is known of language models by their names, what the settings correct, and to whom they are offered."""

from __future__ import annotations

import pytest

from chatsite.accounts.models import Role
from conversations.providers.catalog.known_abilities import KNOWN, Abilities, known_abilities
from conversations.providers.catalog.language_models import ROLES, parse_language_models

LOW_TO_HIGH = ("low", "medium", "high")


@pytest.mark.parametrize(
    ("name", "thinks", "efforts"),
    [
        ("gpt-4o-mini", False, ()),
        ("openai/gpt-5-mini", True, ("minimal", *LOW_TO_HIGH)),
        ("gpt-5.1", True, ("none", *LOW_TO_HIGH)),
        ("gpt-5.4-mini", True, ("none", *LOW_TO_HIGH, "xhigh")),
        ("gpt-6", True, ("none", *LOW_TO_HIGH, "xhigh")),
        ("gpt-5-chat-latest", False, ()),
        ("o3", True, LOW_TO_HIGH),
        ("gpt-oss:20b", True, LOW_TO_HIGH),
        ("gemini-3-pro-preview", True, ("low", "high")),
        ("models/gemini-2.5-flash", True, ("none", *LOW_TO_HIGH)),
        ("anthropic/claude-sonnet-4.5", True, LOW_TO_HIGH),
        ("claude-sonnet-4-5", True, ()),
        ("Qwen/Qwen3-8B", True, ()),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", False, ()),
        ("deepseek-reasoner", True, ()),
        ("my-own-model", None, ()),
        ("not-o3-at-all", None, ()),
    ],
)
def test_abilities_are_known_by_the_name(name, thinks, efforts):
    abilities = known_abilities(name)
    assert (abilities.thinks, abilities.efforts) == (thinks, efforts)


def test_every_row_has_a_source_and_a_day():
    assert all(known.source.startswith("https://") and known.checked >= "2026-11-01" for known in KNOWN)


@pytest.mark.parametrize(
    ("spec", "abilities"),
    [
        ("own context_window=9 tools=no", Abilities(tools=False)),
        ("own context_window=9 efforts=high|low", Abilities(thinks=True, efforts=("low", "high"))),
        ('own context_window=9 efforts="low,high"', Abilities(thinks=True, efforts=("low", "high"))),
        ("gpt-5 efforts=none", Abilities(tools=True, thinks=True)),
    ],
)
def test_the_settings_correct_what_is_known(spec, abilities):
    (model,) = parse_language_models(spec)
    assert model.abilities == abilities


def test_a_model_is_offered_to_roles_and_domains():
    _, model = parse_language_models(
        "gpt-4o, gpt-5 for=reviewer|Example.ORG|straße.de".replace("straße.de", "bücher.de")
    )
    assert model.offered_for == {"reviewer", "example.org", "xn--bcher-kva.de"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gpt-4o tools=perhaps", "neither yes nor no"),
        ("gpt-4o efforts=low|enormous", "in which enormous is none of none, minimal, "),
        ("gpt-4o efforts=low||high", "a value is missing"),
        ("gpt-4o, gpt-5 for=everyone", "neither a role"),
        ("gpt-4o for=admin", "it is for all"),
        ("gpt-4o, gpt-5 for=admin,reviewer", "write for=reviewer|admin"),
    ],
)
def test_what_is_wrong_says_what_to_write(spec, message):
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        parse_language_models(spec)


def test_the_roles_are_those_of_accounts():
    assert set(ROLES) == set(Role.values)

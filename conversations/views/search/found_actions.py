"""What search offers: commands, pages, conversations begun with a scenario or a model, and asking what was typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models import User
from conversations.core.text.similar_words import SimilarWords
from conversations.models import Conversation
from conversations.selectors.conversations.scenarios import list_scenarios
from conversations.selectors.search.found_text import MarkedPiece, mark_parts
from conversations.services.conversations.default_scenario import scenario_to_begin_with
from conversations.services.language_models.model_choice import choose_model, offered_models

from .commands import COMMANDS

MOST_ASKED = 3  # models
KEYS = {"find": ("Ctrl", "F"), "stop": ("Ctrl", "."), "keys": ("?",)}  # of commands, as the list of keys has them
# Commands that are addresses, with their fields.
WITH_PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "new": ("conversations:new", {}),
    "temporary": ("conversations:new", {"temporary": "true"}),
    "prompts": ("conversations:saved_prompts", {}),
}
# Pages of the site, by the names that they have there.
PAGES: dict[str, Promise] = {
    "conversations:folders": _("Folders"),
    "conversations:archived": _("Archive"),
    "conversations:deleted": _("Recently deleted"),
    "conversations:imports": _("Import"),
    "conversations:scenarios": _("Scenarios"),
    "conversations:shares": _("Your shares"),
    "conversations:api_keys": _("API keys"),
    "conversations:usage": _("Usage and cost"),
    "conversations:export_account": _("Export everything"),
    "account": _("Your account"),
}


@dataclass(frozen=True, slots=True)
class FoundAction:
    """Something that can be done: a command, a page, or a conversation begun with a scenario, model or question."""

    label: list[MarkedPiece]
    kind: str
    address: str = ""
    command: str = ""
    keys: tuple[str, ...] = ()
    begins: bool = False  # a conversation


def find_actions(user: User, typed: str, *, with_typos: bool = False) -> list[FoundAction]:
    """Return the commands, pages, scenarios and language models whose names have all words that are *typed*."""
    words = typed.lower().split()
    similar = SimilarWords(words)

    def begin(name: str, kind: str, **chosen: Any) -> FoundAction:
        return FoundAction(_begin_with(name, words), kind, _new(**chosen), begins=True)

    def fits(*names: str) -> bool:
        if with_typos:
            return bool(similar.find_all(" ".join(names)))
        return all(any(word in name.lower() for name in names) for word in words)

    actions = [
        FoundAction(mark_parts(str(label), words), gettext("Command"), _command_address(name), name, KEYS.get(name, ()))
        for name, label in COMMANDS.items()
        if fits(str(label), f"/{name}")
    ]
    if words:
        actions += [
            FoundAction(mark_parts(str(label), words), gettext("Page"), reverse(page))
            for page, label in PAGES.items()
            if fits(str(label))
        ]
        actions += [
            begin(str(each.shown_name), gettext("Scenario"), scenario=each.pk)
            for each in list_scenarios(user)
            if fits(str(each.shown_name))
        ]
        actions += [
            begin(each.label, gettext("Language model"), language_model=each.name)
            for each in offered_models(user)
            if fits(each.label, each.name)
        ]
    return actions


def ways_to_ask(user: User, typed: str) -> list[FoundAction]:
    """Return the ways to ask *typed* in a new conversation: of the model that one begins with, then of others.

    It comes into the composer and is not sent: what was typed to find something may be half a question, and a request
    costs money.
    """
    scenario = scenario_to_begin_with(user, None)
    first = choose_model(Conversation(owner=user, scenario=scenario)).configured
    models = [first, *(each for each in offered_models(user) if each.name != first.name)][:MOST_ASKED]
    return [
        FoundAction(
            [MarkedPiece(gettext("Ask %(model)s: %(question)s") % {"model": each.label, "question": typed})],
            gettext("New conversation"),
            _new(shared_text=typed, **({} if each is first else {"language_model": each.name})),
        )
        for each in models
    ]


def _begin_with(name: str, words: Sequence[str]) -> list[MarkedPiece]:
    before, after = gettext("Begin with “%(name)s”").split("%(name)s")
    return [MarkedPiece(before), *mark_parts(name, words), MarkedPiece(after)]


def _new(**chosen: Any) -> str:
    return f"{reverse('conversations:new')}?{urlencode(chosen)}"


def _command_address(name: str) -> str:
    if name not in WITH_PAGES:
        return ""
    page, fields = WITH_PAGES[name]
    return f"{reverse(page)}?{urlencode(fields)}" if fields else reverse(page)

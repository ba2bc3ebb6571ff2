"""The menu of language models in the header of a conversation: those on offer, what they take, cost and can do."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils import timezone
from django.utils.functional import Promise

from chatsite.accounts.models import User
from chatsite.addresses import address_of
from conversations.models import Conversation
from conversations.providers.catalog.language_models import ConfiguredModel
from conversations.selectors.conversations.page_contents import page_contents
from conversations.services.language_models.model_choice import ModelChoice, choose_model, offered_models
from conversations.services.language_models.prices import all_unit_prices
from conversations.wording.model_labels import EFFORT_LABELS
from conversations.wording.money_amounts import price_label

from .new_address import new_address


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A language model on offer. *chosen_name* is what the choice stores: blank for the *scenarios* own."""

    configured: ConfiguredModel
    price: str
    chosen_name: str
    url: str
    is_chosen: bool
    is_scenarios: bool

    @property
    def sees_pictures(self) -> bool:
        return self.configured.sees_pictures


@dataclass(frozen=True, slots=True)
class EffortRow:
    value: str
    label: Promise
    url: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ModelMenu:
    """What the header says: the model and the effort of the next reply, and what can be chosen in their place.

    *passed_over* is the name of a model that was to be used and is not on offer: a label would tell that
    there is one.
    """

    choice: ModelChoice
    effort_label: Promise | str
    passed_over: str
    rows: tuple[ModelRow, ...]
    efforts: tuple[EffortRow, ...]
    chosen_name: str
    chosen_effort: str
    key: str


def model_key(conversation: Conversation) -> str:
    """Return what changes with everything that the header says of the conversation's model and its scenario."""
    choice = choose_model(conversation)
    chosen = (choice.configured.name, choice.effort, choice.passed_over, conversation.effort)
    return "|".join((*chosen, str(conversation.scenario_id)))


def model_menu(conversation: Conversation, user: User) -> ModelMenu:
    """Return the menu of a conversation, also of one that is not stored yet."""
    choice = choose_model(conversation)
    rows = model_rows(conversation, user)
    chosen_name = next((row.chosen_name for row in rows if row.is_chosen), "")
    efforts = choice.configured.abilities.efforts
    return ModelMenu(
        choice,
        effort_label=EFFORT_LABELS[choice.effort] if choice.effort else "",
        passed_over=choice.passed_over,
        rows=rows,
        efforts=tuple(
            EffortRow(value, EFFORT_LABELS[value], _url(conversation, chosen_name, value), value == conversation.effort)
            for value in ("", *efforts)
        )
        if efforts
        else (),
        chosen_name=chosen_name,
        chosen_effort=choice.configured.abilities.first_accepted(conversation.effort),
        key=model_key(conversation),
    )


def model_rows(conversation: Conversation, user: User) -> tuple[ModelRow, ...]:
    """Return the models on offer to *user*, with today's prices. Their effort goes with them where they accept it."""
    has_set_prices = page_contents(conversation).has_prices
    prices = all_unit_prices(timezone.now(), has_set_prices=has_set_prices)
    chosen = choose_model(conversation).configured
    of_scenario = choose_model(Conversation(owner=user, scenario=conversation.scenario)).configured
    return tuple(
        ModelRow(
            configured,
            price=price_label(prices[configured.name]),
            chosen_name=(name := "" if configured is of_scenario else configured.name),
            url=_url(conversation, name, configured.abilities.first_accepted(conversation.effort)),
            is_chosen=configured is chosen,
            is_scenarios=configured is of_scenario,
        )
        for configured in offered_models(user)
    )


def _url(conversation: Conversation, language_model: str, effort: str) -> str:
    """Return the address that chooses both; of a conversation that is not stored, its page with them."""
    chosen = {"language_model": language_model, "effort": effort}
    if conversation.pk is None:
        return new_address(conversation, scenario=str(conversation.scenario.pk), **chosen)
    return f"{address_of('conversations:choose_model', conversation.public_id)}?{urlencode(chosen)}"

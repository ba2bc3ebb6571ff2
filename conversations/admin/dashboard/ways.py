"""Where a row of the first page leads: to the page about it alone, to its completions, to what it is about."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext

from conversations.models.completion import Purpose
from conversations.models.conversation import short_id
from conversations.models.scenario import scenario_name
from conversations.selectors.figures import figures

from .address import DEAREST_FIRST, Address


@dataclass(frozen=True, slots=True)
class Ways:
    """What a row is called, and the ways on from it; blank where there is no such way.

    *narrow* leads to this page with nothing but the row in it, *completions* to its part of the ledger, *opened* to
    what the row is about, which was *begun_on* that day.
    """

    name: str
    narrow: str = ""
    completions: str = ""
    opened: str = ""
    begun_on: dt.date | None = None


def of_user(row: figures.UserTotals, address: Address) -> Ways:
    if row.user_id is None:
        return Ways(gettext("accounts that are gone"), completions=address.completions(user__isnull=1))
    return Ways(
        row.email or "",
        address.narrowed(user_id=row.user_id),
        address.completions(user=row.user_id),
        reverse("admin:accounts_user_change", args=[row.user_id]),
    )


def of_conversation(row: figures.ConversationTotals, address: Address) -> Ways:
    if row.conversation_id is None or row.public_id is None:
        name = gettext("outside conversations, or gone")
        return Ways(name, completions=address.completions(conversation__isnull=1))
    return Ways(
        f"{short_id(row.public_id)} · {row.owner_email}",
        address.narrowed(conversation_id=row.conversation_id),
        address.completions(conversation=row.conversation_id, **DEAREST_FIRST),
        reverse("admin:conversations_conversation_change", args=[row.conversation_id]),
        row.begun_at.astimezone(address.chosen.period.zone).date() if row.begun_at else None,
    )


def of_language_model(row: figures.LanguageModelTotals, address: Address) -> Ways:
    name = row.language_model
    return Ways(name, address.narrowed(language_model=name), address.completions(language_model=name))


def of_scenario(row: figures.ScenarioTotals, address: Address) -> Ways:
    if row.scenario_id is None:
        name = gettext("none, or gone")
        return Ways(name, completions=address.completions(scenario__isnull=1))
    name = scenario_name(row.name) if row.name else gettext("Scenario %(id)s") % {"id": row.scenario_id}
    narrow = address.narrowed(scenario_id=row.scenario_id)
    return Ways(name, narrow, address.completions(scenario=row.scenario_id))


def of_purpose(row: figures.PurposeTotals, address: Address) -> Ways:
    name = str(Purpose(row.purpose).label)
    return Ways(name, address.narrowed(purpose=row.purpose), address.completions(purpose__exact=row.purpose))

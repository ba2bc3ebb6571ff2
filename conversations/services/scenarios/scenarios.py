"""Copy, store and delete a user's own scenarios. Deleting one leaves no conversation without a scenario."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models import User
from conversations.models import Conversation, Scenario
from conversations.models.scenario import POLICY_FIELDS
from conversations.selectors.conversations.scenarios import find_own_scenario, find_scenario
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.ledger.anonymize_ledger import wait_for_other_deletions
from conversations.tools.toolbox import offered_keys

SETTINGS = (
    *("name", "system_prompt", "language_model", "effort", "sampling", "tools", "web_search"),
    *("policy_name", *POLICY_FIELDS),
)
MOST_OF_ONE_PERSON = 200


def copy_scenario(user: User, scenario: Scenario) -> Scenario:
    """Return the user's own scenario with the settings of *scenario*, not stored yet.

    Tools that only scenarios of the site may have stay with it.
    """
    copy = Scenario(owner=user, **{name: getattr(scenario, name) for name in SETTINGS})
    offered = offered_keys(user) if scenario.tools else ()
    copy.tools = [name for name in scenario.tools if name in offered]
    return copy


def check_there_is_room(user: User) -> None:
    """Raise a `ValidationError` if the user has as many scenarios as one may have."""
    if user.scenarios.count() >= MOST_OF_ONE_PERSON:
        raise ValidationError(
            _("You have %(most)s scenarios, which is the limit. Delete one first."),
            params={"most": MOST_OF_ONE_PERSON},
        )


def delete_scenario(*, user: User, scenario_id: int, successor_id: int | None = None) -> None:
    """Delete the user's scenario. Its conversations go on with the successor, or with the site's default.

    Raises `ScenarioNotFound` for what is not their own, or a successor that they may not choose.
    """
    with transaction.atomic():
        wait_for_other_deletions()
        scenario = find_own_scenario(user, scenario_id, lock=True)
        successor = default_scenario() if successor_id in (None, scenario_id) else find_scenario(user, successor_id)
        conversations = Conversation.objects.filter(scenario=scenario)
        conversations.filter(owner=user).update(scenario=successor)
        conversations.update(scenario=default_scenario())  # of others, from when everyone might choose it
        scenario.delete()

"""Load the example scenario: offered to all users, with a document that it answers from."""

from __future__ import annotations

from django.db import transaction

from conversations.example import CAP_TOKENS, NAME, SCHEDULE, SCHEDULE_NAME, SYSTEM_PROMPT
from conversations.models import Conversation, Document, Scenario
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.documents.documents import add_document


class ExampleIsDefault(Exception):
    """New conversations start with the example: it can't go before another scenario is the default."""


@transaction.atomic
def load_example() -> Document:
    """Store what is missing of the example and return its schedule. What an admin has changed in it stays."""
    _one_at_a_time()
    example = _find() or Scenario.objects.create(
        name=NAME, system_prompt=SYSTEM_PROMPT, cap_tokens=CAP_TOKENS, offered=True
    )
    return add_document(user=None, place=example, name=SCHEDULE_NAME, content=SCHEDULE.read_bytes()).document


@transaction.atomic
def remove_example() -> bool:
    """Take the example away and return whether it was there. Its conversations go on with the site's default.

    Raises `ExampleIsDefault`.
    """
    _one_at_a_time()
    if (example := _find()) is None:
        return False
    if example.is_default:
        raise ExampleIsDefault
    Conversation.objects.filter(scenario=example).update(scenario=default_scenario())
    example.delete()
    return True


def _one_at_a_time() -> None:
    Scenario.objects.select_for_update().get(pk=default_scenario().pk)


def _find() -> Scenario | None:
    return Scenario.objects.filter(owner=None, name=NAME).first()

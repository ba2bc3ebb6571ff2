"""`manage.py show_window CONVERSATION "next message"`: what would be sent if that were sent now. Nothing is stored."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import replace
from typing import Any

from django.core.management.base import CommandError
from django.db.models import CharField, Q, Value
from django.db.models.functions import Cast, Replace

from conversations.core.errors import PolicyFailed
from conversations.core.window.budget import LanguageModel
from conversations.core.window.compute_window import Window
from conversations.core.window.policies import BUILT_IN, WindowPolicy
from conversations.management.database_command import DatabaseCommand
from conversations.management.window_table import window_lines
from conversations.models import Conversation
from conversations.selectors.conversations.system_texts import system_texts
from conversations.selectors.conversations.window import view_window
from conversations.services.language_models.effective_policy import scenario_policy
from conversations.services.language_models.model_context import model_context
from conversations.services.messages.estimate_draft import DraftEstimate, estimate_draft

LARGEST_ID = 2**63 - 1


class Command(DatabaseCommand):
    help = "Show the window that a message would be sent in, without sending it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("conversation", help="its public id, the beginning of it, or its number")
        parser.add_argument("message", help="what would be sent next")
        parser.add_argument("--budget", type=int, metavar="TOKENS", help="most tokens of the prompt")
        parser.add_argument("--policy", help=f"{', '.join(BUILT_IN)}, or the dotted path of a class")
        parser.add_argument("--json", action="store_true", help="print the window record and the messages as JSON")

    def handle(self, *, conversation: str, message: str, **options: Any) -> None:
        found = _find(conversation)
        estimate = estimate_draft(
            user=found.owner,
            conversation=found,
            content=message,
            policy=_policy(found, options["policy"], options["budget"]),
            with_recall=True,
        )
        window = _window(estimate)
        for line in [_json(window)] if options["json"] else _lines(estimate, window):
            self.stdout.write(line)


def _find(wanted: str) -> Conversation:
    """Return the conversation that *wanted* means. Raises `CommandError` unless it is exactly one."""
    compact = wanted.replace("-", "").lower()
    spelled = Replace(Cast("public_id", CharField()), Value("-"), Value(""))
    meant = Q(spelled__startswith=compact) if compact else Q(pk=None)
    if wanted.isascii() and wanted.isdigit() and int(wanted) <= LARGEST_ID:
        meant |= Q(pk=int(wanted))
    there = Conversation.objects.filter(deleted_at=None).select_related("scenario", "head", "owner")
    found = list(there.annotate(spelled=spelled).filter(meant)[:2])
    if not found:
        raise CommandError(f"No conversation has an id that begins with {wanted!r}.")
    if len(found) > 1:
        raise CommandError(f"The ids of several conversations begin with {wanted!r}: give more characters.")
    return found[0]


def _policy(conversation: Conversation, name: str | None, budget: int | None) -> WindowPolicy:
    """Return the scenario's policy, or the one that is named with the scenario's values, capped to the *budget*."""
    scenario = conversation.scenario
    _check_budget(budget, model_context(scenario).language_model)
    scenario.policy_name = name or scenario.policy_name
    try:
        policy = scenario_policy(scenario)
    except PolicyFailed as error:
        raise CommandError(f"No such window policy: {error.detail}. Built in are {', '.join(BUILT_IN)}.") from error
    except ValueError as error:
        raise CommandError(f"The scenario's values do not suit the window policy: {error}.") from error
    return policy if budget is None else replace(policy, cap_tokens=min(budget, policy.cap_tokens or budget))


def _check_budget(budget: int | None, language_model: LanguageModel) -> None:
    most_tokens = language_model.context_window_tokens
    if budget is not None and not 1 <= budget <= most_tokens:
        raise CommandError(
            f"--budget must be from 1 to {most_tokens:,} tokens, the context window of {language_model.name}; "
            f"got {budget:,}."
        )


def _window(estimate: DraftEstimate) -> Window:
    if estimate.window:
        return estimate.window
    detail = getattr(estimate.error, "detail", "")
    raise CommandError(f"{estimate.error} {detail}".strip())


def _json(window: Window) -> str:
    messages = [message.to_json() for message in window.prompt]
    return json.dumps({"record": window.record.to_json(), "messages": messages}, indent=2, ensure_ascii=False)


def _lines(estimate: DraftEstimate, window: Window) -> list[str]:
    conversation = estimate.conversation
    view = view_window(window.record, system=system_texts(conversation), question=estimate.draft.message.content)
    heading = f"{conversation} · {conversation.public_id} · {window.record.language_model}"
    return [heading, "", *window_lines(view)]

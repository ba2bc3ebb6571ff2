"""The rules of a window for pages: its policy, limits and calibration, each as a name and a value."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from django.utils.translation import gettext, ngettext

from conversations.core.window.policies import LastMessages, SlidingWindow, SlidingWithSummary
from conversations.core.window.window_record import WindowRecord
from conversations.window_policies import policy_choices

Rule = tuple[str, str]


def window_rules(record: WindowRecord) -> list[Rule]:
    """Return what held for this window, each as its name and its value; what changed nothing is not among them."""
    name = record.policy["name"]
    return [
        (gettext("Window policy"), policy_choices().get(name, name)),
        *_of_older_messages(record),
        *_limits(record),
        *_calibration(record),
    ]


def _of_older_messages(record: WindowRecord) -> Iterator[Rule]:
    policy = record.policy
    yield gettext("Room for older messages"), _tokens(record.older_limit_tokens)
    if policy["name"] in (SlidingWindow.name, SlidingWithSummary.name):
        yield (
            gettext("After sliding, older messages fill"),
            gettext("%(share)s of their room") % {"share": _percent(policy["low_water_share"])},
        )
    if policy["name"] == LastMessages.name:
        yield gettext("Most messages, including the newest"), f"{policy['last_messages']:,}"
    if policy["name"] == SlidingWithSummary.name:
        yield gettext("Most for the summary"), _tokens(policy["summary_cap_tokens"])
    if record.recall.limit_tokens:
        yield gettext("Most for what is recalled"), _tokens(record.recall.limit_tokens)
    if policy["skip_oversized"]:
        yield gettext("Messages that are too large"), gettext("are skipped")
    if policy.get("pictures_only_with_question"):
        yield gettext("Pictures of older messages"), gettext("are replaced by a line")


def _limits(record: WindowRecord) -> Iterator[Rule]:
    policy = record.policy
    if policy["cap_tokens"]:
        yield gettext("Longest prompt"), _tokens(policy["cap_tokens"])
    if policy["message_cap_tokens"]:
        yield gettext("Longest message"), _tokens(policy["message_cap_tokens"])
    if record.grounding.included or record.grounding.left_out:
        yield gettext("Most for passages"), _percent(policy["grounding_share"])


def _calibration(record: WindowRecord) -> Iterator[Rule]:
    if Decimal(record.calibration) != 1:
        yield gettext("Budget divided by (the provider counts more than we do)"), record.calibration


def _tokens(tokens: int) -> str:
    return ngettext("%(tokens)s token", "%(tokens)s tokens", tokens) % {"tokens": f"{tokens:,}"}


def _percent(share: float) -> str:
    return f"{share:.0%}"

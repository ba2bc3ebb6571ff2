"""The calibration of each language model: kept in memory for every window, learned as replies end.

The rows are read at most once in `KNOWN_FOR_SECONDS`: every estimate of a draft asks for them. The ledger is compared
at most once in `LEARN_SECONDS` for each language model. Both are per process.
"""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import BooleanField, ExpressionWrapper, Q

from conversations.core.window.calibration import (
    LOOKED_AT,
    NEWEST_PAIRS,
    SMALLEST_TRIED_TOKENS,
    Pair,
    believable_limit,
    is_worth_learning,
    learned_ratio,
    limit_to_try,
    smallest_prompt_tokens,
)
from conversations.models import Calibration, Completion
from conversations.models.completion import Purpose
from conversations.providers.catalog.language_models import ConfiguredModel, language_models

KNOWN_FOR_SECONDS = 5.0
LEARN_SECONDS = 5.0
NEVER = float("-inf")
# Of what programs ask for, no schema is kept: there the record of the window tells.
_HAS_TOOLS = ExpressionWrapper(
    Q(tool_schemas__isnull=False) | Q(purpose=Purpose.API, window__tool_schema_tokens__gt=0),
    output_field=BooleanField(),
)
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """*ratio* divides budgets; *limit_tokens* is the provider's context window as far as it is known, if it is smaller.

    It was named by the provider, or went through where *refused_tokens* did not.
    """

    ratio: Decimal = Decimal(1)
    limit_tokens: int | None = None
    refused_tokens: int | None = None

    @property
    def window_to_try_tokens(self) -> int | None:
        """The context window that holds for the next prompts; None for the configured one."""
        return limit_to_try(self.limit_tokens, self.refused_tokens)

    def context_window_tokens(self, configured: ConfiguredModel) -> int:
        """Return the limit that holds: what was learned may only lower the configured one."""
        configured_tokens = configured.language_model.context_window_tokens
        return min(configured_tokens, self.window_to_try_tokens or configured_tokens)


UNCALIBRATED = Calibrated()


class _Known:
    def __init__(self) -> None:
        self._by_name: Mapping[str, Calibrated] = {}
        self._read_at = NEVER
        self._learned_at: dict[str, float] = {}

    def of(self, language_model: str) -> Calibrated:
        if time.monotonic() - self._read_at > KNOWN_FOR_SECONDS:
            rows = Calibration.objects.values_list("language_model", "ratio", "limit_tokens", "refused_tokens")
            self._by_name = {row[0]: Calibrated(row[1], row[2], row[3]) for row in rows}
            self._read_at = time.monotonic()
        return self._by_name.get(language_model, UNCALIBRATED)

    def may_learn(self, language_model: str) -> bool:
        """Tell whether the last comparison is long enough ago; if so, this is the next one."""
        now = time.monotonic()
        if now - self._learned_at.get(language_model, NEVER) < LEARN_SECONDS:
            return False
        self._learned_at[language_model] = now
        return True

    def read_again(self) -> None:
        self._read_at = NEVER

    def forget(self) -> None:
        self.read_again()
        self._learned_at.clear()


known = _Known()


def find_calibration(language_model: str) -> Calibrated:
    """Return what is known of the language model with that name."""
    return known.of(language_model)


def learn(language_model: str) -> None:
    """Compare the newest reports with our estimates, unless that was done a moment ago.

    It is called while a reply ends, so all errors here are only logged.
    """
    try:
        configured = language_models().get(language_model)
        if configured is not None and known.may_learn(language_model):
            _learn_ratio(configured)
    except Exception:
        logger.exception("nothing could be learned from the usage of %s", language_model)


def _learn_ratio(configured: ConfiguredModel) -> None:
    window_tokens = known.of(configured.name).context_window_tokens(configured)
    pairs = teaching_pairs(reported_prompts(configured.name), context_window_tokens=window_tokens)
    calibration = Calibration(language_model=configured.name, pairs=len(pairs))
    if (ratio := learned_ratio(pairs)) is None:
        _store(calibration, "pairs")
    else:
        calibration.ratio = ratio
        _store(calibration, "ratio", "pairs")


@dataclass(frozen=True, slots=True)
class ReportedPrompt:
    """A completion whose usage the provider reported. Tool schemas are rendered as each provider likes."""

    completion_id: int
    created_at: dt.datetime
    pair: Pair
    has_tools: bool

    def teaches(self, *, context_window_tokens: int) -> bool:
        """Tell whether it says something about the language model's tokens in prompts that are long."""
        return not self.has_tools and self.pair.estimated_tokens >= smallest_prompt_tokens(context_window_tokens)


def reported_prompts(language_model: str) -> list[ReportedPrompt]:
    """Return the newest completions of that language model whose usage was reported, newest first, in one query."""
    reported = Completion.objects.filter(language_model=language_model, usage_estimated=False).order_by("-id")
    columns = ("id", "created_at", "estimated_input_tokens", "input_tokens")
    return [
        ReportedPrompt(completion_id, created_at, Pair(estimated_tokens, reported_tokens), has_tools)
        for completion_id, created_at, estimated_tokens, reported_tokens, has_tools in reported.annotate(
            has_tools=_HAS_TOOLS
        ).values_list(*columns, "has_tools")[:LOOKED_AT]
    ]


def teaching_pairs(prompts: list[ReportedPrompt], *, context_window_tokens: int) -> list[Pair]:
    """Return the newest pairs that the ratio is learned from."""
    teaching = [each.pair for each in prompts if each.teaches(context_window_tokens=context_window_tokens)]
    return teaching[:NEWEST_PAIRS]


def learn_limit(configured: ConfiguredModel, stated_tokens: int | None) -> None:
    """Keep the limit that the provider named in a refusal, if it is believable and the smaller one."""
    configured_tokens = configured.language_model.context_window_tokens
    limit_tokens = believable_limit(stated_tokens, context_window_tokens=configured_tokens)
    if limit_tokens is None:
        return
    named = Calibration(language_model=configured.name, limit_tokens=limit_tokens, refused_tokens=None)
    _store(named, "limit_tokens", "refused_tokens")
    logger.warning(
        "the provider's limit for %s is %d tokens; %d are configured as its context window. The smaller one holds "
        "until it is forgotten in the admin.",
        configured.name,
        limit_tokens,
        configured_tokens,
    )


def learn_refused(configured: ConfiguredModel, total_tokens: int) -> None:
    """Keep that a prompt with its reply, *total_tokens* by our count, was refused as too long without a number."""
    learned = find_calibration(configured.name)
    configured_tokens = configured.language_model.context_window_tokens
    if total_tokens < SMALLEST_TRIED_TOKENS or total_tokens >= (learned.refused_tokens or configured_tokens + 1):
        return
    limit_tokens = learned.limit_tokens if (learned.limit_tokens or 0) < total_tokens else None
    refused = Calibration(language_model=configured.name, limit_tokens=limit_tokens, refused_tokens=total_tokens)
    _store(refused, "limit_tokens", "refused_tokens")
    logger.warning(
        "the provider refused %d tokens of %s as too long and named no limit; a smaller one is looked for",
        total_tokens,
        configured.name,
    )


def learn_accepted(completion: Completion) -> None:
    """Keep what went through as the limit, where more was refused without a number.

    A first limit is what went through after such a refusal: any other prompt may be a short one. It is called while a
    reply ends, so all errors here are only logged.
    """
    try:
        learned = find_calibration(completion.language_model)
        if learned.refused_tokens is not None and completion.window:
            reserve_tokens = completion.window["reply_reserve_tokens"]
            _learn_accepted(completion, learned, total_tokens=completion.estimated_input_tokens + reserve_tokens)
    except Exception:
        logger.exception("no limit could be learned of %s", completion.language_model)


def _learn_accepted(completion: Completion, learned: Calibrated, *, total_tokens: int) -> None:
    is_larger = (
        is_worth_learning(total_tokens, learned.limit_tokens) if learned.limit_tokens else completion.attempt > 1
    )
    if is_larger and SMALLEST_TRIED_TOKENS <= total_tokens < (learned.refused_tokens or 0):
        accepted = Calibration(language_model=completion.language_model, limit_tokens=total_tokens)
        _store(accepted, "limit_tokens")
        logger.warning(
            "%d tokens of %s went through: that is its limit until it is forgotten in the admin, or more goes through",
            total_tokens,
            completion.language_model,
        )


def forget_limit(calibration: Calibration) -> bool:
    """Let the configured context window hold again. Returns False if no other limit was known."""
    learned = Calibration.objects.filter(pk=calibration.pk).exclude(limit_tokens=None, refused_tokens=None)
    forgotten = learned.update(limit_tokens=None, refused_tokens=None)
    known.read_again()
    return bool(forgotten)


def _store(calibration: Calibration, *columns: str) -> None:
    """Write *columns* of a language model's row, which another process may be making at the same time."""
    Calibration.objects.bulk_create(
        [calibration],
        update_conflicts=True,
        unique_fields=["language_model"],
        update_fields=[*columns, "updated_at"],
    )
    known.read_again()

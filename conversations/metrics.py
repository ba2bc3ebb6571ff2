"""Metrics of this process in Prometheus form: counters and histograms, added to where things happen.

Each process has its own, and all are scraped; those under one main process share a folder, and each answers with the
sums of all. No label names a user or a conversation, so their number stays small. Gauges that the database knows for
all processes are in `selectors.figures.live_gauges`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import partial

from django.conf import settings
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

REGISTRY = CollectorRegistry(auto_describe=True)
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client's; it has to be known before the first metric is made
_PREFIX = "windowseat"
FIRST_TOKEN_SECONDS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
RATIOS = (0.5, 0.8, 0.9, 0.95, 0.99, 1.0, 1.01, 1.05, 1.1, 1.2, 1.5, 2.0)

replies_ended = Counter(
    "replies_ended", "Replies that this process ended, by final state.", ["state"], namespace=_PREFIX, registry=REGISTRY
)
for _state in ("complete", "stopped", "interrupted", "failed"):  # the first of each is an increase, from 0
    replies_ended.labels(_state)
requests_settled = Counter(
    "provider_requests",
    "Requests to a provider that have ended, by purpose and error code (empty: none).",
    ["purpose", "error_code"],
    namespace=_PREFIX,
    registry=REGISTRY,
)
# Shown at 0: `increase()` does not see a series that begins at 1.
for _error_code in ("credentials_rejected", "quota_exhausted"):
    requests_settled.labels("reply", _error_code)
    requests_settled.labels("api", _error_code)
requests_repeated = Counter(
    "provider_requests_repeated",
    "Requests to a provider that were made again, by the error code of the one before.",
    ["error_code"],
    namespace=_PREFIX,
    registry=REGISTRY,
)
first_token_seconds = Histogram(
    "first_token_seconds",
    "From asking the provider to its first token, of replies.",
    namespace=_PREFIX,
    registry=REGISTRY,
    buckets=FIRST_TOKEN_SECONDS,
)
tokens = Counter(
    "tokens",
    "Tokens of requests that have ended: input, cached_input (a part of it), output, reasoning (a part of it).",
    ["kind"],
    namespace=_PREFIX,
    registry=REGISTRY,
)
spent_usd = Counter(
    "spent_usd",
    "US dollars of requests that have ended, as far as their prices are known.",
    namespace=_PREFIX,
    registry=REGISTRY,
)
input_estimate_ratio = Histogram(
    "input_estimate_ratio",
    "Input tokens as the provider reported them, divided by the estimate before sending.",
    namespace=_PREFIX,
    registry=REGISTRY,
    buckets=RATIOS,
)
leases_over = Counter(
    "leases_over", "Runs taken away from a worker because their lease was over.", namespace=_PREFIX, registry=REGISTRY
)
open_sockets = Gauge(
    "open_sockets", "Open sockets of pages.", namespace=_PREFIX, registry=REGISTRY, multiprocess_mode="livesum"
)
html_cache_bytes = Gauge(
    "html_cache_bytes",
    "Memory of the HTML that is kept so that it is not made again: bounded, and filled within hours.",
    namespace=_PREFIX,
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
redis_degraded = Gauge(
    "redis_degraded",
    "1 while what this process publishes over Redis does not come back to it, else 0.",
    namespace=_PREFIX,
    registry=REGISTRY,
    multiprocess_mode="livemax",
)


def are_metrics_shared() -> bool:
    """Tell whether the processes of one main process put their metrics together."""
    return bool(os.environ.get(SHARED_FOLDER))


def registry_of_all() -> CollectorRegistry:
    """Return the registry to answer with: this process's, or one that adds up those of all that share a folder."""
    if not are_metrics_shared():
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


@contextmanager
def shared_metrics() -> Iterator[tuple[Mapping[str, str], Callable[[int], None]]]:
    """Yield the environment of processes that put their metrics together, and what is called at the end of each.

    Counters go on after that, gauges don't.
    """
    if not settings.METRICS_TOKEN:
        yield os.environ, lambda process_id: None
        return
    with tempfile.TemporaryDirectory(prefix="windowseat-metrics-") as folder:
        yield {**os.environ, SHARED_FOLDER: folder}, partial(mark_process_dead, path=folder)


def count_settled_request(
    *,
    purpose: str,
    error_code: str,
    input_tokens: int,
    cached_input_tokens: int | None,
    output_tokens: int,
    reasoning_tokens: int | None,
    cost_usd: Decimal | None,
    reported_per_estimated: float | None,
    first_token_after_seconds: float | None,
) -> None:
    """Count a request to a provider that has ended. *reported_per_estimated* is None where usage was not reported."""
    requests_settled.labels(purpose, error_code).inc()
    for kind, number in (
        ("input", input_tokens),
        ("cached_input", cached_input_tokens),
        ("output", output_tokens),
        ("reasoning", reasoning_tokens),
    ):
        tokens.labels(kind).inc(number or 0)
    if cost_usd is not None:
        spent_usd.inc(float(cost_usd))
    if reported_per_estimated is not None:
        input_estimate_ratio.observe(reported_per_estimated)
    if first_token_after_seconds is not None:
        first_token_seconds.observe(first_token_after_seconds)

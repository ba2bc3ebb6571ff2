"""Readiness: what all probes found, as text for people and as JSON, within `ANSWER_SECONDS`.

Not ready is a site that can't serve pages. What only makes it worse, such as no Redis or no worker, is a degradation: a
proxy that took every web process out because of it would make a small fault a large one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from dataclasses import dataclass
from functools import cache

from django.conf import settings

from .database_probe import DatabaseCheck, database_probe
from .probe import Finding, Probe
from .redis_probe import redis_probe

ANSWER_SECONDS = 1.5
database_check = DatabaseCheck()
_database = cache(lambda: database_probe(database_check))
_redis = cache(redis_probe)
_registered: dict[str, Probe] = {}


@dataclass(frozen=True, slots=True)
class Readiness:
    """*findings*: name of a probe → what it found."""

    findings: Mapping[str, Finding]

    @property
    def is_ready(self) -> bool:
        return all(finding.state != "down" for finding in self.findings.values())

    @property
    def text(self) -> str:
        """One line: `ready`, `ready, degraded: redis`, or why not."""
        if not self.is_ready:
            return "; ".join(found.reason for found in self.findings.values() if found.state == "down")
        degraded = [name for name, finding in self.findings.items() if finding.state == "degraded"]
        return f"ready, degraded: {', '.join(degraded)}" if degraded else "ready"

    def as_json(self) -> dict[str, object]:
        is_degraded = any(finding.state == "degraded" for finding in self.findings.values())
        return {
            "status": ("degraded" if is_degraded else "ready") if self.is_ready else "not ready",
            "checks": {name: {"state": found.state, "reason": found.reason} for name, found in self.findings.items()},
        }


def register_probe(name: str, look: Callable[[], Finding], *, silence: Finding) -> None:
    """Let *look* be asked too. It runs in a thread of its own and closes the connections that it opens."""
    _registered[name] = Probe(name, look, silence=silence)


def probes() -> list[Probe]:
    """Return all: the database first, and Redis only where it is used."""
    return [_database(), *([_redis()] if settings.REDIS_URL else []), *_registered.values()]


def is_redis_away() -> bool:
    """Tell whether Redis did not answer when it was last asked, without waiting for it."""
    return bool(settings.REDIS_URL) and _redis().latest().state != "ok"


def close_probes() -> None:
    """Close the connection of the database's probe, and forget what was found."""
    database_check.close()
    _database.cache_clear()
    _redis.cache_clear()
    for name, probe in _registered.items():
        _registered[name] = probe.fresh()


def readiness() -> Readiness:
    running = {probe: probe.start() for probe in probes()}
    wait(running.values(), timeout=ANSWER_SECONDS)
    return Readiness({probe.name: probe.result_of(future) for probe, future in running.items()})


async def readiness_async() -> Readiness:
    """Wait on the event loop: the threads for requests may all wait for the database."""
    running = {probe: probe.start() for probe in probes()}
    await asyncio.wait([asyncio.wrap_future(future) for future in running.values()], timeout=ANSWER_SECONDS)
    return Readiness({probe.name: probe.result_of(future) for probe, future in running.items()})

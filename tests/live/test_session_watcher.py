"""The sessions of open sockets are checked again and again, also after a check that failed."""

from __future__ import annotations

import asyncio

import pytest

from conversations.live import revocation_watcher, session_watcher
from conversations.live.session_watcher import SessionWatcher
from tests.support.patience import PATIENCE_SECONDS


@pytest.mark.parametrize("reason", [RuntimeError("a fault of our own"), KeyError(7)])
async def test_a_check_that_fails_is_not_the_last_one(monkeypatch, reason):
    answers = iter([reason, set()])

    def ask(_keys, _valid_sessions):
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer

    monkeypatch.setattr(session_watcher, "_admitted", ask)
    monkeypatch.setattr(revocation_watcher, "CHECK_SECONDS", 0.001)
    revoked = asyncio.Event()
    watched = SessionWatcher()
    watched.watch("a session", revoked.set)
    await asyncio.wait_for(revoked.wait(), timeout=PATIENCE_SECONDS)
    watched.forget(revoked.set)

"""Open sockets are asked about again and again, whatever goes wrong with asking."""

from __future__ import annotations

import asyncio

import pytest

from conversations.live import session_watcher
from conversations.live.session_watcher import SignIns
from tests.support.patience import PATIENCE_SECONDS


@pytest.mark.parametrize("reason", [RuntimeError("a fault of our own"), KeyError(7)])
async def test_a_check_that_fails_is_not_the_last_one(monkeypatch, reason):
    answers = iter([reason, set()])

    def ask(_):
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer

    monkeypatch.setattr(session_watcher, "_admitted", ask)
    monkeypatch.setattr(session_watcher, "CHECK_SECONDS", 0.001)
    doubted = asyncio.Event()
    watched = SignIns()
    watched.watch("a session", doubted.set)
    await asyncio.wait_for(doubted.wait(), timeout=PATIENCE_SECONDS)
    watched.forget(doubted.set)

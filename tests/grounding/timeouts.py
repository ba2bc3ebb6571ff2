"""Searches that may take as long as a slow and busy machine makes them take."""

from __future__ import annotations

import pytest

from conversations.grounding import bounded_query, retrieve
from tests.support.waiting import PATIENCE_SECONDS


@pytest.fixture
def patient_searches(settings, monkeypatch):
    settings.TOOL_CALL_SECONDS = 4 * PATIENCE_SECONDS
    monkeypatch.setattr(bounded_query, "MOST_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(retrieve, "SEARCH_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(retrieve, "VECTOR_SECONDS", PATIENCE_SECONDS)

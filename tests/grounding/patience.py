"""Searches that may take as long as a slow and busy machine makes them take."""

from __future__ import annotations

import pytest

from conversations.grounding import find, search
from tests.waiting import PATIENCE_SECONDS


@pytest.fixture
def patient_searches(settings, monkeypatch):
    settings.TOOL_CALL_SECONDS = 4 * PATIENCE_SECONDS
    monkeypatch.setattr(search, "MOST_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(find, "SEARCH_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(find, "VECTOR_SECONDS", PATIENCE_SECONDS)

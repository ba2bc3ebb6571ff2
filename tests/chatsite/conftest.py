from __future__ import annotations

import pytest

from tests.support import unused_static_files


@pytest.fixture(autouse=True)
def _middleware_as_on_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here is middleware: it is called by an event loop, as the site calls it."""
    unused_static_files.keep(monkeypatch)

"""Leave the middleware for static files out of the chain of `django.test.Client` where it has no file to answer with.

It is asynchronous alone. A chain that is not calls it by an event loop of its own for each request, what follows by a
thread, and so all that comes before it: the page to sign in takes 3.8 ms of processor time that way, and 2.3 without.
"""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from django.core.exceptions import MiddlewareNotUsed

from chatsite.middleware.static_files import StaticFilesMiddleware

begin: Any = StaticFilesMiddleware.__init__


def leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let chains that are made from now on go without it. An asynchronous one, as the site's, keeps it."""
    monkeypatch.setattr(StaticFilesMiddleware, "__init__", _begin_or_be_left_out)


def keep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all chains have it, for tests of the middleware around it: that is asynchronous then, as on the site."""
    monkeypatch.setattr(StaticFilesMiddleware, "__init__", begin)


def _begin_or_be_left_out(self: StaticFilesMiddleware, get_response: Any) -> None:
    begin(self, get_response)
    looks_for_files = self.files or self.autorefresh
    if isinstance(get_response, SyncToAsync) and not looks_for_files:  # Django's bridge to what is synchronous
        raise MiddlewareNotUsed

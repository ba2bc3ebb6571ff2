"""Requests that run at the same time as the test."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import connection


class Browsers(ThreadPoolExecutor):
    """Threads of which each leaves the database as it found it."""

    def start(self, request: Callable[..., Any], *args: Any) -> Future:
        def run() -> Any:
            try:
                return request(*args)
            finally:
                connection.close()

        return self.submit(run)

"""Isolate the tests from the machine: a pytest plugin that is loaded before Django's settings (see pyproject.toml).

- The developer's `.env` and settings do not count: only DATABASE_URL and VAR_DIR are taken from outside.
- No test can reach another machine: a connection or a name lookup beyond the loopback fails, and so does its test.
- Under `--no-skips` (or WINDOWSEAT_NO_SKIPS=1), as continuous integration runs, a skipped test is a failed test.
"""

from __future__ import annotations

import ipaddress
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
FROM_OUTSIDE = {"DATABASE_URL", "VAR_DIR"}
refused_connections: list[str] = []


class NetworkRefused(OSError):
    """A test tried to reach another machine; clients treat it as they treat any failed connection."""


def declared_settings() -> set[str]:
    """Return the names that the modules of settings declare, without loading them."""
    modules = [PROJECT / "chatsite/settings.py", *(PROJECT / "chatsite/configuration").glob("*.py")]
    texts = (module.read_text(encoding="utf-8") for module in modules)
    return {name for text in texts for name in re.findall(r'ENV\.\w+\(\s*"(\w+)"', text)}


def isolate_settings() -> None:
    for name in declared_settings() - FROM_OUTSIDE:
        os.environ.pop(name, None)
        os.environ.pop(f"{name}_FILE", None)
    os.environ["ENV_FILE"] = os.devnull
    os.environ.setdefault("VAR_DIR", str(PROJECT / "var" / "test"))


def is_local(host: Any) -> bool:
    if not host or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_other_machines(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: the interpreter calls it before every connection, whichever library asked."""
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0]
    else:
        return
    if not is_local(host):
        refused_connections.append(str(host))
        raise NetworkRefused(f"tests may not reach {host}")


isolate_settings()
sys.addaudithook(refuse_other_machines)


@pytest.fixture(autouse=True)
def _stay_on_this_machine() -> Iterator[None]:
    """Fail a test that tried to reach another machine, even if the code under test swallowed the refusal."""
    refused_connections.clear()
    yield
    assert not refused_connections, f"the test tried to reach {', '.join(refused_connections)}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="count a skipped test as failed")


def skips_fail(config: pytest.Config) -> bool:
    return bool(config.getoption("--no-skips") or os.environ.get("WINDOWSEAT_NO_SKIPS"))


def fail_if_skipped(report: Any, config: pytest.Config) -> None:
    if report.skipped and skips_fail(config):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"Nothing may be skipped here. {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    fail_if_skipped(report, item.config)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    report = yield
    fail_if_skipped(report, collector.config)
    return report

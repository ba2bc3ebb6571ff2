"""The tests' own walls stand: no network, no settings of the developer's, no skipped test where none may be."""

import asyncio
import os
import socket
import subprocess
import sys

import httpx2
import pytest
from django.conf import settings

from tests.support import isolation
from tests.support.patience import PATIENCE_SECONDS

ELSEWHERE = "192.0.2.1"  # an address for documentation (RFC 5737): no machine has it


@pytest.fixture
def refusals():
    """Let a test be refused: that is what it tests."""
    yield isolation.refused_connections
    isolation.refused_connections.clear()


def test_a_connection_to_another_machine_is_refused(refusals):
    with pytest.raises(isolation.NetworkRefused):
        socket.create_connection((ELSEWHERE, 443), timeout=1)
    assert refusals == [ELSEWHERE]


def test_a_name_is_not_looked_up(refusals):
    with pytest.raises(isolation.NetworkRefused):
        socket.getaddrinfo("api.example.com", 443)
    assert refusals == ["api.example.com"]


async def test_asyncio_is_refused_too(refusals):
    with pytest.raises(isolation.NetworkRefused):
        await asyncio.open_connection(ELSEWHERE, 443)
    assert refusals


async def test_an_http_client_is_refused_too(refusals):
    async with httpx2.AsyncClient(trust_env=False) as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get(f"http://{ELSEWHERE}/", timeout=1)
    assert refusals


def test_the_loopback_stays_open():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_every_setting_of_the_developer_is_left_out():
    assert isolation.declared_settings() == set(settings.ENV.declared)
    assert not set(os.environ) & (set(settings.ENV.declared) - isolation.FROM_OUTSIDE)


def run_pytest(tmp_path, content, *options):
    """Run pytest on a file of its own, with our walls and nothing else of ours."""
    (tmp_path / "test_it.py").write_text("import pytest\n" + content)
    command = [sys.executable, "-m", "pytest", "-p", "no:django", "-p", "tests.support.isolation", "-c", os.devnull]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", tmp_path, *options, tmp_path / "test_it.py"],
        cwd=isolation.PROJECT,
        env={**os.environ, "WINDOWSEAT_NO_SKIPS": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


SKIPPED_TEST = "@pytest.mark.skip(reason='no redis')\ndef test_one(): pass\n"
SKIPPED_MODULE = "pytest.skip('no redis', allow_module_level=True)\n"
SWALLOWED = "import socket\ndef test_one():\n  try: socket.getaddrinfo('a.example', 1)\n  except Exception: pass\n"


@pytest.mark.parametrize("content", [SKIPPED_TEST, SKIPPED_MODULE])
def test_a_skip_is_a_failure_only_where_nothing_may_be_skipped(tmp_path, content):
    assert "1 skipped" in run_pytest(tmp_path, content).stdout
    refused = run_pytest(tmp_path, content, "--no-skips")
    assert refused.returncode != 0
    assert "Nothing may be skipped here. Skipped: no redis" in refused.stdout


def test_a_refusal_that_the_code_swallows_still_fails_its_test(tmp_path):
    outcome = run_pytest(tmp_path, SWALLOWED)
    assert outcome.returncode == 1
    assert "the test tried to reach a.example" in outcome.stdout

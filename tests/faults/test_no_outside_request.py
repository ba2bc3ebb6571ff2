"""Nothing of a site asks another host: its stories run where no other host can be reached, and the kernel counts tries.

A network namespace with the loopback device alone has no route to anywhere, so each packet to another host, those that
would ask for the address of a name among them, is one more of `OutNoRoutes`. Of IPv6 only names are covered: Chromium
itself tries whether there is any.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.source import PROJECT

STORIES = ["tests/browser/test_story.py"]
AS_ROOT = ["unshare", "--net"]
AS_USER = ["unshare", "--map-current-user", "--keep-caps", "--net"]
TRY_OUTSIDE = """
import contextlib, socket
for address in ("198.51.100.1", "203.0.113.1"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, contextlib.suppress(OSError):
        udp.sendto(b"?", (address, 53))
"""


def run_apart(*command: str) -> dict[str, object]:
    """Run a command of Python in a namespace of its own; return its exit code, its output and the packets to others."""
    apart = AS_ROOT if os.geteuid() == 0 else AS_USER
    module = [sys.executable, "-m", "tests.support.apart", *command]
    allowed = subprocess.run([*apart, "true"], capture_output=True, text=True, check=False)
    if allowed.returncode:
        pytest.skip(
            f"needs network namespaces, which this machine does not allow ({allowed.stderr.strip()}): run as root"
        )
    done = subprocess.run([*apart, *module], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.namespaces
def test_a_packet_to_another_host_is_counted():
    assert run_apart("-c", TRY_OUTSIDE)["to_others"] == 2


@pytest.mark.namespaces
@pytest.mark.browser
def test_the_stories_of_a_user_ask_no_other_host():
    outcome = run_apart("-m", "pytest", "--quiet", "-p", "no:cacheprovider", *STORIES)
    assert outcome["code"] == 0, outcome["said"]
    assert outcome["to_others"] == 0

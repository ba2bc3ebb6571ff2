"""Run Python with arguments in a network namespace that has just begun, and print the outcome as JSON.

unshare --net python -m tests.support.apart -m pytest tests/browser/test_story.py
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import subprocess
import sys
from pathlib import Path

SET_FLAGS, IS_UP = 0x8914, 0x1  # SIOCSIFFLAGS, IFF_UP
NAME_AND_FLAGS = "16sh"


def bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack(NAME_AND_FLAGS, b"lo", IS_UP))


def count_packets_to_others() -> int:
    """Return how many packets had no route since the namespace began."""
    names, values = (
        line.split() for line in Path("/proc/net/snmp").read_text(encoding="utf-8").splitlines() if line[:3] == "Ip:"
    )
    return int(dict(zip(names, values, strict=True))["OutNoRoutes"])


def main() -> None:
    bring_loopback_up()
    done = subprocess.run([sys.executable, *sys.argv[1:]], capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr)[-4_000:]
    print(json.dumps({"code": done.returncode, "to_others": count_packets_to_others(), "said": said}))


if __name__ == "__main__":
    main()

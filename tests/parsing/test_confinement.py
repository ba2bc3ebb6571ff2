"""What the child can't do any more, tried in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conversations.parsing.parse import ENVIRONMENT, PROJECT

CONFINED = """
import ctypes, os, resource, signal, socket, subprocess, sys
from pathlib import Path
from conversations.parsing.confinement import confine
from conversations.parsing.parsed import ParsingLimits
libc = ctypes.CDLL(None, use_errno=True)
confine(ParsingLimits(seconds=1, memory_megabytes=300))
"""


def run_confined(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-B", "-c", CONFINED + program], env=ENVIRONMENT, capture_output=True, text=True, cwd="/"
    )


@pytest.mark.parametrize(
    "program",
    [
        "socket.socket()",
        "socket.create_connection(('127.0.0.1', 80))",
        "socket.getaddrinfo('localhost', 80)",
        "subprocess.run(['true'])",
        "os.system('true')",
        "os.execv('/bin/true', ['true'])",
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "open('/tmp/windowseat-out', 'w')",
        "open('/etc/passwd')",
        "Path('/proc/self/environ').read_bytes()",
        f"open({str(PROJECT / 'pyproject.toml')!r})",
        f"open({str(PROJECT / '.env')!r})",
        f"open({str(PROJECT / 'conversations' / '..' / 'pyproject.toml')!r})",
        "os.open('/etc/passwd', os.O_RDONLY)",
        "os.remove('/tmp/windowseat-out')",
        "os.mkdir('/tmp/windowseat-out')",
        "os.symlink('/etc', '/tmp/windowseat-out')",
        "ctypes.CDLL('libc.so.6')",
    ],
)
def test_it_is_refused(program):
    done = run_confined(program)
    assert done.returncode == 1
    assert "conversations.parsing.confinement.Refused" in done.stderr


def test_code_that_parsing_is_made_of_can_still_be_loaded():
    done = run_confined("import pypdf, docx, lxml.html, charset_normalizer; print('loaded')")
    assert done.stdout == "loaded\n", done.stderr


def test_memory_has_an_end():
    assert "MemoryError" in run_confined("bytearray(400 * 1024 * 1024)").stderr


def test_time_has_an_end():
    assert run_confined("while True: pass").returncode in {-24, -9}


def test_nothing_is_written_even_by_machine_code():
    """The file is opened past Python, where no audit hook looks; what remains is the limit of the operating system."""
    program = """
descriptor = libc.memfd_create(b"out", 0)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
print(libc.write(descriptor, b"out", 3))
"""
    assert run_confined(program).stdout == "-1\n"


def test_it_gains_no_rights():
    assert run_confined("print(libc.prctl(39, 0, 0, 0, 0))").stdout == "1\n"


def test_it_can_not_take_its_limits_back():
    program = "resource.setrlimit(resource.RLIMIT_CPU, (60, 60))"
    assert "ValueError" in run_confined(program).stderr or "PermissionError" in run_confined(program).stderr


def test_it_sees_no_network_where_the_system_lets_it_leave():
    """Where it may not, as in some containers, the network stays and only Python's own way to it is closed."""
    program = """
def ask(address):
    number = libc.socket(2, 1, 0)
    return libc.connect(number, bytes([2, 0, 0, 9]) + bytes(address) + bytes(8), 16), ctypes.get_errno()
print(ask([127, 0, 0, 1]))
"""
    left = subprocess.run(["unshare", "--user", "--net", "true"], capture_output=True).returncode == 0
    if not left:
        pytest.skip("this system does not let a process leave its network")
    assert run_confined(program).stdout == "(-1, 101)\n"  # ENETUNREACH: not even this machine

"""What the child can't do any more, tried in a process of its own."""

from __future__ import annotations

import ctypes
import platform
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from chatsite.folders import CODE
from conversations.parsing.parse import ENVIRONMENT
from conversations.parsing.sandbox.landlock import CREATE_RULESET, TELL_VERSION, allow_reading_beneath
from conversations.parsing.sandbox.seccomp import ARCHITECTURES, filter_system_calls

LIBC = ctypes.CDLL(None, use_errno=True)
PR_GET_SECCOMP = 21
NO_SECCOMP = "the kernel has no seccomp filters, or not for this machine: run it on Linux on x86-64 or ARM64"
NO_LANDLOCK = "the kernel has no Landlock: run it on Linux from 5.13 on, with landlock among the modules in lsm="
needs_seccomp = pytest.mark.skipif(
    platform.machine() not in ARCHITECTURES or LIBC.prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0, reason=NO_SECCOMP
)
needs_landlock = pytest.mark.skipif(LIBC.syscall(CREATE_RULESET, None, 0, TELL_VERSION) < 1, reason=NO_LANDLOCK)

CONFINED = """
import ctypes, os, resource, signal, socket, subprocess, sys
from pathlib import Path
from conversations.parsing.sandbox.confinement import confine
from conversations.parsing.parsed import ParsingLimits
libc = ctypes.CDLL(None, use_errno=True)
confine(ParsingLimits(seconds=1, memory_megabytes=300))
"""


def run_confined(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-B", "-c", CONFINED + program], env=ENVIRONMENT, capture_output=True, text=True, cwd="/"
    )


PYTHONS_OWN_WAYS = [
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
    f"open({str(CODE / 'pyproject.toml')!r})",
    f"open({str(CODE / '.env')!r})",
    f"open({str(CODE / 'conversations' / '..' / 'pyproject.toml')!r})",
    "os.open('/etc/passwd', os.O_RDONLY)",
    "os.remove('/tmp/windowseat-out')",
    "os.mkdir('/tmp/windowseat-out')",
    "os.symlink('/etc', '/tmp/windowseat-out')",
    "ctypes.CDLL('libc.so.6')",
]
EACH_OF_THEM = """
for way in ways:
    try:
        eval(way)
    except Exception as error:
        print(way, "→", type(error).__name__)
    else:
        print(way, "→ done")
"""


def test_pythons_own_ways_are_refused():
    done = run_confined(f"ways = {PYTHONS_OWN_WAYS!r}{EACH_OF_THEM}")
    assert done.stdout.splitlines() == [f"{way} → SandboxRefusal" for way in PYTHONS_OWN_WAYS], done.stderr


def test_code_that_parsing_is_made_of_can_still_be_loaded():
    done = run_confined("import pypdf, docx, lxml.html, charset_normalizer, PIL.Image; print('loaded')")
    assert done.stdout == "loaded\n", done.stderr


def status_of_confined() -> dict[str, str]:
    """Return what the kernel says of a confined process, by name."""
    command = [sys.executable, "-P", "-B", "-c", CONFINED + "print('held', flush=True); sys.stdin.read()"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdin=PIPE, stdout=PIPE, cwd="/") as process:
        assert process.stdout.readline() == b"held\n"
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        process.stdin.close()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def test_memory_has_an_end():
    assert "MemoryError" in run_confined("bytearray(400 * 1024 * 1024)").stderr


def test_time_has_an_end():
    assert run_confined("while True: pass").returncode in {-24, -9}


def test_it_can_not_take_its_limits_back():
    program = "resource.setrlimit(resource.RLIMIT_CPU, (60, 60))"
    assert "ValueError" in run_confined(program).stderr or "PermissionError" in run_confined(program).stderr


@needs_seccomp
def test_the_kernel_filters_its_calls():
    assert status_of_confined()["Seccomp"] == "2"


MACHINE_CODES_WAYS = [
    "libc.socket(1, 1, 0)",
    "libc.socket(2, 1, 0)",
    "libc.fork()",
    "libc.execv(b'/bin/true', None)",
    "libc.kill(os.getppid(), 0)",
    "libc.ptrace(16, os.getppid(), 0, 0)",
    "libc.open(b'/tmp/windowseat-out', os.O_CREAT | os.O_WRONLY, 0o600)",
    "libc.unlink(b'/tmp/windowseat-out')",
    "libc.memfd_create(b'out', 0)",
    "libc.unshare(0x10000000)",
    "libc.prctl(1, 0, 0, 0, 0)",
    "libc.fcntl(0, 8, os.getppid())",
    "libc.prlimit(os.getppid(), 7, None, None)",
    "libc.syscall(425, 1, bytes(120))",  # io_uring, which would make calls by itself
]
WITH_THREADS = CONFINED.replace("memory_megabytes=300)", "memory_megabytes=300), allow_threads=True")


@needs_seccomp
def test_a_decoder_may_make_threads_and_still_no_process():
    """A thread is made; processes, also such as share its memory (vfork), and namespaces are not."""
    clone = ARCHITECTURES[platform.machine()].clone
    ways = [
        "libc.fork()",
        f"libc.syscall({clone}, 0x4111, 0, 0, 0, 0)",
        "libc.unshare(0x10000000)",
        "libc.socket(2, 1, 0)",
    ]
    calls = ", ".join(f"({call}, ctypes.get_errno())" for call in ways)
    program = f"""
import threading
seen = []
thread = threading.Thread(target=lambda: seen.append({ways[0]}))
thread.start(); thread.join()
print([{calls}], seen)
"""
    done = subprocess.run(
        [sys.executable, "-P", "-B", "-c", WITH_THREADS + program],
        env=ENVIRONMENT, capture_output=True, text=True, cwd="/",
    )  # fmt: skip
    assert done.stdout == f"{[(-1, 1)] * len(ways)} [-1]\n", done.stderr


FILES = ["/etc/passwd", "/proc/self/environ", str(CODE / "pyproject.toml"), "/dev/null"]


@needs_seccomp
def test_machine_code_is_refused_what_reading_does_not_take():
    """The calls are made past Python, where no audit hook looks."""
    calls = ", ".join(f"({call}, ctypes.get_errno())" for call in MACHINE_CODES_WAYS)
    done = run_confined(f"print([{calls}])")
    assert dict(zip(MACHINE_CODES_WAYS, eval(done.stdout), strict=True)) == dict.fromkeys(MACHINE_CODES_WAYS, (-1, 1))


@needs_landlock
def test_machine_code_opens_nothing_but_the_code_of_parsing():
    done = run_confined(f"print([(libc.open(path.encode(), 0), ctypes.get_errno()) for path in {FILES!r}])")
    assert eval(done.stdout) == [(-1, 13)] * len(FILES)


def test_a_library_that_gives_up_ends_as_one():
    """Of memory that is refused libraries in C die by a signal to themselves: that is known for a cost."""
    assert run_confined("libc.abort()").returncode == -signal.SIGABRT


HELD_BY_LANDLOCK = """
import ctypes, os
from pathlib import Path
from conversations.parsing.sandbox.landlock import allow_reading_beneath
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
print(allow_reading_beneath(libc, [Path("/usr/lib")]), libc.open(b"/usr/lib", 0) > 0, libc.open(b"/etc/passwd", 0))
"""


@needs_landlock
def test_landlock_holds_by_itself():
    done = subprocess.run([sys.executable, "-c", HELD_BY_LANDLOCK], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout == "True True -1\n", done.stderr


class OldKernel:
    """A system that has neither."""

    def syscall(self, *_arguments: object) -> int:
        return -1

    def prctl(self, *_arguments: object) -> int:
        return -1


def test_a_kernel_without_them_is_done_without(monkeypatch):
    assert not allow_reading_beneath(OldKernel(), [Path("/")])
    assert not filter_system_calls(OldKernel())
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not filter_system_calls(LIBC)


def test_without_them_python_is_held_all_the_same():
    """On another machine, and with a kernel that refuses every call for Landlock."""
    without = f"""
import platform
from conversations.parsing.sandbox import confinement
platform.machine = lambda: "riscv64"
confinement.allow_reading_beneath = lambda libc, folders: False
{CONFINED}
open("/etc/passwd")
"""
    done = subprocess.run([sys.executable, "-P", "-c", without], env=ENVIRONMENT, capture_output=True, text=True)
    assert "conversations.parsing.sandbox.confinement.SandboxRefusal" in done.stderr

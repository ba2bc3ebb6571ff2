"""Confinement: the child gives up memory, time, writing, other programs and the network before it opens a file.

limits           memory, time, size of files, descriptors     on every Unix, for root too
seccomp          all system calls that parsing does not need: sockets, processes, signals to others
Landlock         all files but the code that parsing is made of     both: on Linux, where they are built in
a network of its own, with nothing in it     on Linux, where a process may leave the one it is in
an audit hook    all of that once more, for calls that go through Python: everywhere

The hook alone would stop a parser that is led astray, not machine code that a file has brought with it. So the child
also has nothing worth taking: no secrets, no open files, no connection. Where a system lacks one of these, the rest
hold.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

from conversations.parsing.parsed import ParsingLimits
from conversations.parsing.sandbox.landlock import allow_reading_beneath
from conversations.parsing.sandbox.seccomp import WRITING, filter_system_calls

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000

MOST_OPEN_FILES = 64
NICENESS = 10

REFUSED = (
    "socket.",
    "subprocess.",
    "ctypes.dlopen",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.system",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.truncate",
    "shutil.",
    "urllib.",
    "ftplib.",
    "smtplib.",
)
OUR_CODE = Path(__file__).resolve().parents[2]
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")  # in C, which Python's own modules need


class SandboxRefusal(PermissionError):
    """A parser tried something that parsing a document does not need."""


def confine(limits: ParsingLimits, *, allow_threads: bool = False) -> None:
    """Give up all rights that parsing one file does not need. There is no way back.

    *allow_threads* lets a decoder make threads of this process, where the filter of system calls can tell them.
    """
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    libc = ctypes.CDLL(None, use_errno=True)
    is_linux = sys.platform == "linux"
    if is_linux:
        _give_up_on_linux(libc)
    _limit_resources(limits)
    is_filtered = False
    if is_linux:
        allow_reading_beneath(libc, {*READABLE, *map(Path, LIBRARIES)})
        is_filtered = filter_system_calls(libc, allow_threads=allow_threads)
    if not (allow_threads and is_filtered):
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))  # no other process, no thread; root is exempt
    sys.addaudithook(_refuse)


def _limit_resources(limits: ParsingLimits) -> None:
    memory_bytes = limits.memory_megabytes * 1024 * 1024
    for kind, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, limits.seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, MOST_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def _give_up_on_linux(libc: ctypes.CDLL) -> None:
    """End with the parent, gain no rights, and see a network without any interface, where namespaces are allowed."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        libc.unshare(CLONE_NEWNET)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        _refuse_to_open(*arguments)
    elif event.startswith(REFUSED):
        raise SandboxRefusal(event)


def _refuse_to_open(path: object, mode: object, flags: object, *_: object) -> None:
    """Allow reading only the code that parses: no key files, no `.env`, nothing of other processes."""
    if isinstance(path, int):
        return
    if isinstance(flags, int) and flags & WRITING:
        raise SandboxRefusal("open for writing")
    wanted = Path(os.path.realpath(os.fsdecode(path)))  # type: ignore[arg-type]
    if not any(wanted.is_relative_to(folder) for folder in READABLE):
        raise SandboxRefusal("open")


READABLE = tuple({OUR_CODE, *(Path(folder).resolve() for folder in (sys.prefix, sys.base_prefix, sys.exec_prefix))})

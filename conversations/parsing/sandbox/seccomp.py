"""seccomp: a filter of system calls; all but those that parsing needs fail as not permitted.

A parser takes memory, reads files and writes its results. It makes no socket, no process, no file, and sends no signal
but to itself, as a library in C does that gives up. Numbers are those of the kernel's tables for each
architecture (`asm/unistd_64.h`, `asm-generic/unistd.h`, read in 2026); on another one there is no filter.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

PR_SET_SECCOMP, MODE_FILTER = 22, 2
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06  # instructions of classic BPF
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000  # refused with EPERM
UNKNOWN = 0x00050026  # refused with ENOSYS, so that a library takes the older call
CLONE3 = 435  # the same on every architecture; its flags are in memory, where a filter can't look
THREAD_FLAGS = (0x3D0F00, 0x7D0F00)  # of `clone`, as glibc and musl make a thread: no process, and no namespace
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16  # in `struct seccomp_data`
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
DUPLICATE, GET_FLAGS, SET_FLAGS, GET_STATUS, DUPLICATE_CLOSED = 0, 1, 2, 3, 1030  # of `fcntl`

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Architecture:
    """The numbers of calls: of the *free* ones, and of those that depend on an argument."""

    audit: int
    free: Collection[int]
    opening: Mapping[int, int]  # a call to the place of its flags
    signalling: Collection[int]  # their first argument is the target
    fcntl: int
    prlimit: int
    clone: int


# read write close fstat lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn pread64 readv writev
# sched_yield mremap madvise dup nanosleep getpid exit uname getcwd gettimeofday getrlimit getrusage sysinfo times
# getuid getgid geteuid getegid getppid sigaltstack fstatfs gettid futex sched_getaffinity getdents64 restart_syscall
# fadvise64 clock_gettime clock_getres clock_nanosleep exit_group newfstatat readlinkat faccessat ppoll set_robust_list
# getrandom membarrier statx rseq faccessat2, and where there are older forms stat lstat poll access readlink time
X86_64 = Architecture(
    audit=0xC000003E,
    free=(
        *(0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 20, 24, 25, 28, 32, 35),
        *(39, 60, 63, 79, 96, 97, 98, 99, 100),
        *(102, 104, 107, 108, 110, 131, 138, 186, 202, 204, 217, 219, 221, 228, 229, 230, 231, 262, 267, 269, 271, 273),
        *(318, 324, 332, 334, 439, 4, 6, 7, 21, 89, 201),
    ),
    opening={2: 1, 257: 2},
    signalling=(62, 234),
    fcntl=72,
    prlimit=302,
    clone=56,
)
AARCH64 = Architecture(
    audit=0xC00000B7,
    free=(
        *(63, 64, 57, 80, 62, 222, 226, 215, 214, 134, 135, 139, 67, 65, 66, 124, 216, 233, 23, 101, 172, 93, 160, 17),
        *(169, 163, 165, 179, 153, 174, 176, 175, 177, 173, 132, 44, 178, 98, 123, 61, 128, 223, 113, 114, 115, 94, 79),
        *(78, 48, 73, 99, 278, 283, 291, 293, 439),
    ),
    opening={56: 2},
    signalling=(129, 131),
    fcntl=25,
    prlimit=261,
    clone=220,
)
ARCHITECTURES = {"x86_64": X86_64, "aarch64": AARCH64}


def filter_system_calls(libc: ctypes.CDLL, *, allow_threads: bool = False) -> bool:
    """Refuse all system calls but those that parsing needs. Return whether the kernel enforces it.

    The process must not be able to gain rights (`PR_SET_NO_NEW_PRIVS`).
    """
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None or sys.maxsize < 2**32:
        return False
    instructions = list(_filter(architecture, own_pid=os.getpid(), allow_threads=allow_threads))
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    held = ctypes.create_string_buffer(program, len(program))
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(held)))
    refused: int = libc.prctl(PR_SET_SECCOMP, MODE_FILTER, described, 0, 0)
    return refused == 0


def _filter(architecture: Architecture, *, own_pid: int, allow_threads: bool) -> Iterator[Instruction]:
    yield LOAD, 0, 0, ARCHITECTURE_AT
    yield EQUAL, 1, 0, architecture.audit
    yield RETURN, 0, 0, KILL
    yield LOAD, 0, 0, NUMBER_AT
    for number in architecture.free:
        yield EQUAL, 0, 1, number
        yield RETURN, 0, 0, ALLOW
    for number, place in architecture.opening.items():
        yield EQUAL, 0, 4, number
        yield _argument(place)
        yield ANY_BIT, 0, 1, WRITING
        yield RETURN, 0, 0, REFUSE
        yield RETURN, 0, 0, ALLOW
    for number in architecture.signalling:
        yield from _allowed_with(number, 0, (own_pid,))
    yield from _allowed_with(architecture.prlimit, 0, (0, own_pid))
    yield from _allowed_with(architecture.fcntl, 1, (DUPLICATE, GET_FLAGS, SET_FLAGS, GET_STATUS, DUPLICATE_CLOSED))
    if allow_threads:
        yield from _allowed_with(architecture.clone, 0, THREAD_FLAGS)
        yield EQUAL, 0, 1, CLONE3
        yield RETURN, 0, 0, UNKNOWN
    yield RETURN, 0, 0, REFUSE


def _allowed_with(number: int, place: int, values: Collection[int]) -> Iterator[Instruction]:
    """Yield the instructions that allow a call if its argument at *place* is one of *values*."""
    yield EQUAL, 0, 2 * len(values) + 2, number
    yield _argument(place)
    for value in values:
        yield EQUAL, 0, 1, value
        yield RETURN, 0, 0, ALLOW
    yield RETURN, 0, 0, REFUSE


def _argument(place: int) -> Instruction:
    """Return the instruction that loads the lower half of an argument: both architectures put it first."""
    return LOAD, 0, 0, ARGUMENTS_AT + 8 * place

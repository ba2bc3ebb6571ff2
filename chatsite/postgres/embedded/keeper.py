"""The keeper process of the embedded PostgreSQL: run the server, and stop it once its last user is gone.

    python -I -S keeper.py USERS_FILE LOCK_DESCRIPTOR DATA_DIR SOCKET_DIR COMMAND...

Run as a program and made of the standard library only, so that it is small and starts in 20 ms. It forks away from the
process that starts it: that one need not wait, and no zombie is left in a process that outlives the server.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import threading

PR_SET_PDEATHSIG = 1
FAST_SHUTDOWN = signal.SIGINT


def keep(users_file: str, lock_descriptor: int, data_dir: str, socket_dir: str, command: list[str]) -> None:
    """Run the server until it ends or no process holds *users_file*; all locks go with this process."""
    server = start_server(command, lock_descriptor, data_dir)
    signal.signal(signal.SIGTERM, lambda *_: server.send_signal(FAST_SHUTDOWN))
    threading.Thread(target=stop_after_last_user, args=(server, users_file), daemon=True).start()
    server.wait()
    with contextlib.suppress(OSError):
        os.rmdir(socket_dir)  # noqa: PTH106 -- the short one is empty now; the data folder never is, and stays


def start_server(command: list[str], lock_descriptor: int, data_dir: str) -> subprocess.Popen[bytes]:
    owner = os.stat(data_dir)  # noqa: PTH116
    as_root = os.geteuid() == 0
    return subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        pass_fds=[lock_descriptor],
        # No thread exists yet, so this is safe; it must be the main thread, whose end counts as the parent's.
        preexec_fn=end_with_parent if sys.platform == "linux" else None,
        cwd="/",
        user=owner.st_uid if as_root else None,
        group=owner.st_gid if as_root else None,
        extra_groups=[] if as_root else None,
    )


def end_with_parent() -> None:
    """Have the kernel shut the server down if the keeper is killed: it would never stop otherwise."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, FAST_SHUTDOWN)


def stop_after_last_user(server: subprocess.Popen[bytes], users_file: str) -> None:
    """Stop the server when no shared lock is left. The exclusive one is kept: newcomers wait for the end."""
    users = os.open(users_file, os.O_RDWR)
    fcntl.flock(users, fcntl.LOCK_EX)
    server.send_signal(FAST_SHUTDOWN)


def main() -> None:
    users_file, lock_descriptor, data_dir, socket_dir, *command = sys.argv[1:]
    if os.fork() == 0:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        keep(users_file, int(lock_descriptor), data_dir, socket_dir, command)


if __name__ == "__main__":
    main()

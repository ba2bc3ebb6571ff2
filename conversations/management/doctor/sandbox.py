"""The sandbox that files are parsed in: whether this system enforces it, tried in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from chatsite.checkup import Line
from chatsite.folders import CODE

from .options import Options

SUBJECT = "sandbox"
ANSWER_SECONDS = 15
TRY = """
import ctypes, json, sys
from pathlib import Path
from conversations.parsing.sandbox import landlock, seccomp
from conversations.parsing.sandbox.confinement import PR_SET_NO_NEW_PRIVS
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
has_landlock = landlock.allow_reading_beneath(libc, [Path(sys.prefix)])
has_filter = seccomp.filter_system_calls(libc)
print(json.dumps({"Landlock": has_landlock, "seccomp": has_filter}))
"""


def check_sandbox(options: Options) -> Iterator[Line]:
    if sys.platform != "linux":
        text = "Files are parsed without Landlock and seccomp, which only Linux has."
        yield Line("look", SUBJECT, text, "Run public sites on Linux.")
        return
    tried = subprocess.run(  # noqa: S603
        [sys.executable, "-P", "-B", "-c", TRY],
        env={"PYTHONPATH": str(CODE)},
        cwd="/",
        capture_output=True,
        check=False,
        timeout=ANSWER_SECONDS,
    )
    try:
        found = json.loads(tried.stdout)
    except ValueError:
        text = f"The process that parses files could not be tried: {tried.stderr.decode(errors='replace')[-300:]}"
        yield Line("bad", SUBJECT, text, "Documents and pictures can't be read like this.")
        return
    missing = [name for name, is_there in found.items() if not is_there]
    if not missing:
        yield Line("ok", SUBJECT, "Files are parsed behind Landlock and seccomp.")
        return
    text = f"This system does not enforce {' and '.join(missing)}, so less protects it from files that attack a parser."
    yield Line("look", SUBJECT, text, "Take a kernel of 5.13 or later, with Landlock in its list of security modules.")

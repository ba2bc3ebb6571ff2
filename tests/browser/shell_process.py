"""A shell that stays open: pieces of Python as JSON lines in, what each printed or raised as JSON lines out.

Loading Django takes seconds, so it is done once. Each piece runs in a process forked from the one that loaded it, so no
piece leaves anything behind for the next.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import traceback
from contextlib import redirect_stdout
from io import StringIO
from multiprocessing.connection import Connection

import django


def answer_pieces() -> None:
    """Run each piece that is asked for, until there are no more."""
    for line in sys.stdin:
        print(json.dumps(run_apart(json.loads(line))), flush=True)


def run_apart(code: str) -> dict[str, str]:
    """Return what *code* printed and the traceback of what it raised, each of them mostly empty."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_run, args=(code, there))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return {"printed": "", "raised": "the process ended without a word"}
    finally:
        process.join()


def _run(code: str, answers: Connection) -> None:
    raised = ""
    with redirect_stdout(StringIO()) as printed:
        try:
            exec(code, {"__name__": "__main__"})
        except BaseException:
            raised = traceback.format_exc()
    answers.send({"printed": printed.getvalue(), "raised": raised})


if __name__ == "__main__":
    django.setup()
    answer_pieces()

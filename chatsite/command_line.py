"""The command line: `windowseat COMMAND` of an installed package, `manage.py COMMAND` of a checkout."""

from __future__ import annotations

import gc
import os
import select
import shlex
import sys
from typing import TextIO

from chatsite.folders import CODE, IS_CHECKOUT
from chatsite.version import product_version

NAME = "windowseat"
# What modules make while they load stays, and to look for cycles in it took a tenth of a start.
COLLECTOR_THRESHOLD = (20_000, 20, 20)
START, DOCTOR = "serve", "doctor"
HELP = """\
Windowseat: web chat with accounts for any OpenAI-compatible language model. Use: windowseat COMMAND

  run                 start the site: prepares the database, prints the address and where the data are
  run_worker          make replies in a process beside web processes that have RUN_WORKER=off
  upgrade             back the database up and bring it up to date; --rehearse tries that on a copy
  backup FILE         write all data of the site into one file while it runs
  verify_backup FILE  restore a backup into a throw-away database and check it
  restore FILE        fill the empty database of a new site from a backup
  move_database       move the site from the embedded database to a server of your own, or back
  doctor              try settings, database, provider, mail and the rest, and say what to do
  help --commands     list all commands; help COMMAND says more of one

Settings come from the environment, or from a file .env in the folder of the data. That is VAR_DIR if it is set, else
windowseat in $XDG_DATA_HOME or ~/.local/share. To use another port: PORT=9000 windowseat run. The version: --version.
"""


def main() -> None:
    """Run what `windowseat` was told to."""
    arguments = sys.argv[1:]
    if arguments in ([], ["help"], ["--help"], ["-h"]):
        sys.stdout.write(HELP)
    else:
        run_command([NAME, *arguments])


def run_command(arguments: list[str]) -> None:
    """Run a management command. *arguments* begin with the name of the program, as `sys.argv` does.

    A DJANGO_SETTINGS_MODULE of the shell is another project's: this one's settings come from variables of their own.
    """
    if arguments[1:] in (["--version"], ["version"]):  # Django would tell its own
        sys.stdout.write(f"Windowseat {product_version()}\n")
        return
    os.environ["DJANGO_SETTINGS_MODULE"] = "chatsite.settings"
    gc.set_threshold(*COLLECTOR_THRESHOLD)
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(arguments)
    except ImproperlyConfigured as error:
        if arguments[1:2] == [DOCTOR]:
            from chatsite.checkup import describe_wrong_setting

            sys.stdout.write(describe_wrong_setting(str(error), is_json="--json" in arguments) + "\n")
            sys.exit(1)
        sys.exit(f"A setting is wrong: {error}")
    except BrokenPipeError:
        if _is_read(sys.stdout):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _is_read(output: TextIO) -> bool:
    """Tell whether a pipe still has a reader: `| head` ends when it has had enough."""
    poll = select.poll()
    poll.register(output.fileno(), 0)  # asks for nothing, so that only errors are told
    return not poll.poll(0)


def own_command() -> tuple[str, ...]:
    """Return how another process of this site is started; the name of a management command and its arguments follow."""
    if IS_CHECKOUT:
        return (sys.executable, str(CODE / "manage.py"))
    return (sys.executable, "-P", "-m", "chatsite")  # -P: not with a checkout's code that is in the current folder


def spell_command(name: str, *arguments: str) -> str:
    """Return what an operator writes to run a management command here."""
    if not IS_CHECKOUT:
        return shlex.join([NAME, "run" if name == START else name, *arguments])
    return "make run" if name == START else shlex.join(["manage.py", name, *arguments])

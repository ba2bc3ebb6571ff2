#!/usr/bin/env python
"""Django's command line, with this project's settings."""

import sys

from chatsite.command_line import run_command

if __name__ == "__main__":
    run_command(sys.argv)

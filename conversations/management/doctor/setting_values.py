"""The settings: names that no setting has, and what the checks of a start say."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.core import checks

from chatsite.checkup import Line, State

from .options import Options

SUBJECT = "settings"
TOLD_OTHERWISE = "conversations.W008"  # of names


def check_settings(options: Options) -> Iterator[Line]:
    """Yield what the names and values of settings are warned of, or that there is nothing."""
    names = list(settings.ENV.name_warnings())
    problems = [problem for problem in checks.run_checks() if problem.id != TOLD_OTHERWISE]
    yield from (Line("look", SUBJECT, text, "Correct the name.") for text in names)
    for problem in problems:
        state: State = "bad" if problem.level >= checks.ERROR else "look"
        yield Line(state, SUBJECT, str(problem.msg), problem.hint or "")
    if settings.DEBUG and not settings.SITE_IS_LOCAL:
        text = "DEBUG is on: visitors of this public site read its code in errors."
        yield Line("bad", SUBJECT, text, "Set DEBUG=off.")
    if not (names or problems):
        yield Line("ok", SUBJECT, f"All {len(settings.ENV.declared)} settings can be read, and fit together.")

"""Hypothesis profiles: small random searches by default, full ones that repeat in CI.

A failure prints how to repeat it: `@reproduce_failure(…)`, or `--hypothesis-seed` with the seed of the run.
"""

import os

from hypothesis import HealthCheck, settings

IS_FULL = "CI" in os.environ
SHARE_BY_DEFAULT = 50  # a search of 1,000 cases in CI tries 20 on a developer's machine
FEWEST_CASES = 10


def load_profile() -> None:
    """Make it the default. A test's own settings take theirs from the default when its module is loaded.

    CI tries the same cases every time, but for some that are made of words and numbers in those of our modules that the
    process has loaded by then, and elsewhere each run tries new ones.
    """
    settings.register_profile(
        "windowseat",
        deadline=None,  # a shared machine is slow at times
        derandomize=IS_FULL,
        max_examples=count_cases(100),
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("windowseat")


def count_cases(full: int) -> int:
    """Return how many random cases a search tries: *full* in CI, a fiftieth of them elsewhere, but at least ten."""
    return full if IS_FULL else max(min(FEWEST_CASES, full), full // SHARE_BY_DEFAULT)

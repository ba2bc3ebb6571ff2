"""How Hypothesis runs here. CI tries the same cases every time; elsewhere each run tries new ones.

A failure prints how to repeat it: `@reproduce_failure(…)`, or `--hypothesis-seed` with the seed of the run.
"""

import os

from hypothesis import HealthCheck, settings


def load_profile() -> None:
    """Make it the default. A test's own settings take theirs from the default when its module is loaded."""
    settings.register_profile(
        "windowseat",
        deadline=None,  # a shared machine is slow at times
        derandomize="CI" in os.environ,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("windowseat")

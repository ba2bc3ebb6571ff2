"""Colours of the states, as Unfold's `display(label=…)` takes them. What ended well stays grey: exceptions show.

And the classes that Unfold gives its own links.
"""

STATES = {
    "streaming": "info",
    "running": "info",
    "waiting": "info",
    "unfinished": "info",
    "stopped": "warning",
    "interrupted": "warning",
    "failed": "danger",
    "deleted": "danger",
}

PRICES = {"in force": "success", "to come": "info"}

LINK = "text-primary-600 dark:text-primary-500"

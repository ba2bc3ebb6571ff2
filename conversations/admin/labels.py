"""Colours of the states, as Unfold's `display(label=…)` takes them."""

STATES = {
    "streaming": "info",
    "running": "info",
    "waiting": "info",
    "unfinished": "info",
    "complete": "success",
    "succeeded": "success",
    "stopped": "warning",
    "interrupted": "warning",
    "failed": "danger",
    "deleted": "danger",
}

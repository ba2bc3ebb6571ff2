"""What every benchmark does with its figures: take medians, print them, write them as JSON."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Figures = dict[str, Any]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not below *share* of all of them, 0 to 1."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def run_benchmark(purpose: str, measure: Callable[[], Figures], report: Callable[[Figures], None]) -> None:
    """Measure, report, and write the figures to the file that `--json` names."""
    arguments = arguments_for(purpose).parse_args()
    figures = measure()
    report(figures)
    write_json(figures, arguments.json)


def arguments_for(purpose: str) -> argparse.ArgumentParser:
    """Return a parser of what every benchmark takes, for a benchmark that takes more."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser


def write_json(figures: Figures, path: Path | None) -> None:
    if path:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def verdict(value: float, *, at_least: float | None = None, at_most: float | None = None) -> str:
    """Return *value* with the goal that is given, and whether it is met."""
    if at_least is not None:
        return f"{value:.2f} (goal: at least {at_least}, {'met' if value >= at_least else 'missed'})"
    return f"{value:.2f} (goal: at most {at_most}, {'met' if at_most is not None and value <= at_most else 'missed'})"

"""The table of a soak, made of its JSON lines, also of one that was broken off."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

WARM_UP_MINUTES = 20
LEAST_SAMPLES = 10  # after the warm-up, for a slope that says something
GOAL_MB_PER_HOUR = 1


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the lines; a last one that was cut off is left out."""
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            continue
    return lines


def slope(points: list[tuple[float, float]]) -> float:
    """Return the slope of the line through *points* by least squares."""
    count = len(points)
    middle = sum(x for x, _ in points) / count
    spread = sum((x - middle) ** 2 for x, _ in points)
    return sum((x - middle) * y for x, y in points) / spread


def memory_slope(samples: list[dict[str, Any]], *, name: str = "resident_mb") -> float | None:
    """Return MB an hour of one life of a process after its warm-up, of *name*; None if it was too short."""
    warm = [each for each in samples if each["age_minutes"] >= WARM_UP_MINUTES]
    if len(warm) < LEAST_SAMPLES:
        return None
    return slope([(each["age_minutes"] / 60, each[name]) for each in warm])


def make_table(lines: list[dict[str, Any]]) -> str:
    kinds = defaultdict(list)
    for line in lines:
        kinds[line["kind"]].append(line)
    begin = kinds["begin"][0]
    minutes = (lines[-1]["at"] - begin["at"]) / 60
    ended = "to its end" if kinds["end"] else "broken off or still running"
    parts = [
        f"{minutes:.0f} minutes of {begin['hours'] * 60:.0f} ({ended}), seed {begin['seed']}, {begin['day']}, "
        f"commit {begin['commit']}.",
        processes_table(kinds["sample"]),
        checks_table(kinds["check"]),
        actions_table(kinds["actions"]),
        faults_table(kinds["fault"]),
        problems_table(kinds["problem"], kinds["fault"]),
    ]
    return "\n\n".join(parts) + "\n"


def processes_table(samples: list[dict[str, Any]]) -> str:
    lives = defaultdict(list)
    for each in samples:
        lives[each["process"], each["life"]].append(each)
    rows = [
        "| Process, life | Minutes | Samples | Resident MB after warm-up, last, most | Slope, MB an hour | "
        "of it anonymous; HTML cache | "
        "File descriptors, first, last, most | Threads, last, most | Database connections, most | CPU, % of a core |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    short = 0
    for (name, life), own in sorted(lives.items()):
        warm = [each for each in own if each["age_minutes"] >= WARM_UP_MINUTES]
        steep = memory_slope(own)
        if steep is None:
            short += 1
            continue
        resident, descriptors = [each["resident_mb"] for each in own], [each["descriptors"] for each in warm]
        threads = [each["threads"] for each in warm]
        passed = (own[-1]["age_minutes"] - own[0]["age_minutes"]) * 60
        cpu = 100 * (own[-1]["cpu_seconds"] - own[0]["cpu_seconds"]) / passed
        verdict = "" if steep < GOAL_MB_PER_HOUR else " (missed)"
        rows.append(
            f"| {name}, {life} | {own[-1]['age_minutes']:.0f} | {len(own)} | "
            f"{warm[0]['resident_mb']:.1f}, {resident[-1]:.1f}, {max(resident):.1f} | {steep:+.2f}{verdict} | "
            f"{memory_slope(own, name='anonymous_mb'):+.2f}; {memory_slope(own, name='html_cache_mb'):+.2f} | "
            f"{descriptors[0]}, {descriptors[-1]}, {max(descriptors)} | {threads[-1]}, {max(threads)} | "
            f"{max(each['connections'] for each in own)} | {cpu:.1f} |"
        )
    return "\n".join(rows) + f"\n\nLives too short for a slope: {short}."


def checks_table(checks: list[dict[str, Any]]) -> str:
    failed = [each for each in checks if each["failed"]]
    messages = sum(each["messages"] for each in checks)
    lines = [
        f"Checks of all invariants: {len(checks)}, failed: {len(failed)}; replies checked: {messages:,}; "
        f"tracebacks in the log: {sum(each['tracebacks'] for each in checks)}; "
        f"log, kB: {checks[-1]['log_kb'] if checks else 0}."
    ]
    lines += [f"- failed: {each['failed'][:600]}" for each in failed]
    return "\n".join(lines)


def actions_table(actions: list[dict[str, Any]]) -> str:
    if not actions:
        return "No action yet."
    done = actions[-1]["done"]
    rows = ["| What was done | n |", "| --- | --- |"]
    return "\n".join(rows + [f"| {name.replace('_', ' ')} | {count:,} |" for name, count in sorted(done.items())])


def faults_table(faults: list[dict[str, Any]]) -> str:
    counted: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in faults:
        counted[each["process"], each["how"]].append(each["ending_seconds"])
    rows = ["| Ended and started again | How | n | Slowest end, s |", "| --- | --- | --- | --- |"]
    for (process, how), took in sorted(counted.items()):
        rows.append(f"| {process} | {how} | {len(took)} | {max(took):.1f} |")
    return "\n".join(rows)


def problems_table(problems: list[dict[str, Any]], faults: list[dict[str, Any]]) -> str:
    """What broke off: beside the end of a process that is expected, elsewhere it is not."""
    beside = [each for each in problems if any(is_beside(each, fault) for fault in faults)]
    others = [each for each in problems if each not in beside]
    lines = [f"Broken off beside the end of a process: {len(beside)}; elsewhere: {len(others)}."]
    return "\n".join(lines + [f"- {each['action']}: {each['error']}" for each in others[:40]])


def is_beside(problem: dict[str, Any], fault: dict[str, Any]) -> bool:
    began = fault["at"] - fault["started_seconds"] - fault["ending_seconds"]
    return problem["began"] <= fault["at"] + 5 and problem["at"] >= began - 1

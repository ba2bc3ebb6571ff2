"""What an import came to: per format what was found and taken, what was left out by its kind, and what is broken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conversations.core.errors import ExportError
from conversations.core.imports.imported import BrokenConversation, ImportedConversation

MOST_PROBLEMS = 500  # that are named
MOST_KINDS = 60  # of unknown types
LONGEST_TITLE = 120
OUTCOMES = ("new", "grown", "known", "deleted", "empty", "broken")
DELETED_HERE = "deleted_here"


class ImportOutcome(NamedTuple):
    """What became of a conversation: one of `OUTCOMES`, and how many of its messages are here now, and are new."""

    kind: str
    taken: int = 0
    added: int = 0
    conversation_id: int | None = None


@dataclass(slots=True)
class ImportReport:
    """Counts of an import, as its row keeps them. Messages: found = taken + the sum of *left_out*.

    *missing* counts parts of messages that were taken, such as files. *problems* are `[title, reason]`, *deleted* the
    titles of those that were deleted here, *names* are of all files, *files* those that can't be read.
    """

    formats: dict[str, dict[str, int]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    pictures: int = 0
    problems: list[list[str]] = field(default_factory=list)
    unnamed_problems: int = 0
    deleted: list[str] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ImportReport:
        return cls(**stored)

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def total(self, name: str) -> int:
        """Return the sum of *name* over all formats."""
        return sum(counts.get(name, 0) for counts in self.formats.values())

    @property
    def conversations(self) -> int:
        return sum(self.total(outcome) for outcome in OUTCOMES)

    def add_conversation(self, format_name: str, conversation: ImportedConversation, outcome: ImportOutcome) -> None:
        self._count(format_name, outcome.kind)
        self._count(format_name, "messages_found", conversation.found)
        self._count(format_name, "messages_taken", outcome.taken)
        self._count(format_name, "messages_added", outcome.added)
        if outcome.kind == "deleted":
            _add(self.left_out, DELETED_HERE, conversation.found)
            if len(self.deleted) < MOST_PROBLEMS:
                self.deleted.append(_short(conversation.title))
            return
        for kind, count in conversation.left_out.items():
            _add(self.left_out, kind, count)
        for kind, count in conversation.missing.items():
            _add(self.missing, kind, count)

    def add_broken(self, format_name: str, broken: BrokenConversation) -> None:
        self._count(format_name, "broken")
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append([_short(broken.title), broken.reason])
        else:
            self.unnamed_problems += 1

    def add_file(self, name: str, error: ExportError) -> None:
        if len(self.files) < MOST_PROBLEMS:
            self.files.append({"name": _short(name), "code": error.code, "params": error.params})

    def name_files(self, names: Iterable[str]) -> None:
        """Note which files were read: they are deleted with the end of the import."""
        self.names = [_short(name) for name in names][:MOST_PROBLEMS]

    def add_missing(self, kind: str) -> None:
        _add(self.missing, kind, 1)

    def _count(self, format_name: str, name: str, count: int = 1) -> None:
        _add(self.formats.setdefault(format_name, {}), name, count)


def _add(counts: dict[str, int], kind: str, count: int) -> None:
    if kind not in counts and len(counts) >= MOST_KINDS:
        kind = "unknown"
    counts[kind] = counts.get(kind, 0) + count


def _short(title: str) -> str:
    cleaned = "".join(each if each.isprintable() else " " for each in title[: 2 * LONGEST_TITLE])
    return " ".join(cleaned.split())[:LONGEST_TITLE]

"""Sentences of an import's report: what was taken, and what was left out and why, in the language of the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.services.imports.import_report import ImportReport

FORMATS = {
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "open_webui": "Open WebUI",
    "librechat": "LibreChat",
    "windowseat": "Windowseat",
    "windowseat-file": gettext_lazy("Conversations exported alone"),
    "openai": gettext_lazy("Messages as JSON"),
}
# Messages, and parts of messages that were taken.
KINDS: dict[str, Promise] = {
    "hidden": gettext_lazy("Custom instructions and memory, which were never shown as messages"),
    "system": gettext_lazy("System messages"),
    "tools": gettext_lazy("Calls of tools without a result, or results without a call"),
    "empty": gettext_lazy("Messages without text"),
    "unknown": gettext_lazy("Content of an unknown type"),
    "lone_reasoning": gettext_lazy("Thinking that no answer followed"),
    "reasoning_notes": gettext_lazy("Notes of how long it thought"),
    "canvas_changes": gettext_lazy("Changes of a canvas or file; it is here as it was created"),
    "cycle": gettext_lazy("Messages that follow each other in a circle"),
    "duplicate": gettext_lazy("Messages whose id was there already"),
    "failed": gettext_lazy("Replies that failed and said nothing"),
    "deleted_here": gettext_lazy("Messages of conversations that you deleted here"),
    "missing_files": gettext_lazy("Files and pictures that are not in the export"),
    "other_files": gettext_lazy("Attached files that are not pictures"),
    "voice": gettext_lazy("Voice recordings; their words are here if the export has them"),
    "unreadable_pictures": gettext_lazy("Pictures that can’t be read"),
    "no_room": gettext_lazy("Pictures above your limits"),
    "tool_parts": gettext_lazy("Calls of tools within replies that have no result, or results without a call"),
    "tool_ends": gettext_lazy("Ends of very long calls and results of tools"),
    "ends": gettext_lazy("Ends of messages that have more than a million characters"),
}
REASONS: dict[str, Promise] = {
    "no_messages": gettext_lazy("it has no messages"),
    "no_id": gettext_lazy("it has no id"),
    "cycle": gettext_lazy("its messages follow each other in a circle"),
    "too_large": gettext_lazy("it is larger than what can be read of one"),
    "too_deep": gettext_lazy("it is nested too deeply"),
    "not_json": gettext_lazy("it is not JSON"),
    "no_room": gettext_lazy("its pictures are above your limits"),
    "unreadable": gettext_lazy("it could not be read"),
}


class LeftOut(NamedTuple):
    number: int
    what: str


def format_name(name: str) -> str:
    return str(FORMATS.get(name, name))


def left_out(counts: dict[str, int]) -> list[LeftOut]:
    """Return what was left out, most first."""
    return [LeftOut(count, _kind(kind)) for kind, count in sorted(counts.items(), key=lambda each: -each[1])]


def _kind(kind: str) -> str:
    name, _separator, detail = kind.partition(":")
    label = str(KINDS.get(name, KINDS["unknown"]))
    return f"{label}: {detail}" if detail else label


def reason_sentence(reason: str) -> str:
    return str(REASONS.get(reason, REASONS["unreadable"]))


def taken_sentence(report: ImportReport) -> str:
    """Return the last line of every import."""
    found, taken = report.total("messages_found"), report.total("messages_taken")
    words = ngettext("%(taken)s of %(found)s message taken", "%(taken)s of %(found)s messages taken", found)
    return words % {"taken": f"{taken:,}", "found": f"{found:,}"}


def report_lines(report: ImportReport) -> Iterator[str]:
    """Yield the report as plain text, the last line last."""
    for name, counts in report.formats.items():
        new, grown, known = (counts.get(outcome, 0) for outcome in ("new", "grown", "known"))
        values = {"format": format_name(name), "new": f"{new:,}", "grown": f"{grown:,}", "known": f"{known:,}"}
        yield _("%(format)s: %(new)s new conversations, %(grown)s with new messages, %(known)s as they were") % values
    if report.pictures:
        yield _("Pictures: %(count)s") % {"count": f"{report.pictures:,}"}
    for each in (*left_out(report.left_out), *left_out(report.missing)):
        yield _("Left out: %(count)s × %(what)s") % {"count": f"{each.number:,}", "what": each.what}
    for title in report.deleted:
        yield _("Deleted here, and not brought back: %(title)s") % {"title": title}
    for title, reason in report.problems:
        yield _("Not imported: “%(title)s”: %(reason)s") % {"title": title, "reason": reason_sentence(reason)}
    if report.unnamed_problems:
        yield _("And more conversations: %(count)s") % {"count": f"{report.unnamed_problems:,}"}
    yield taken_sentence(report)

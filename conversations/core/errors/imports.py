"""Errors of imports: an export file can't be read, or not taken at all. Code and params are stored with the file."""

from __future__ import annotations

from .base import ConversationError
from .inputs import InputError


class ExportError(ConversationError):
    """Nothing of the file can be read, or nothing more; sending the same file again will not help."""

    code = "export_failed"
    template = "This file could not be read."


class ExportEncrypted(ExportError):
    code = "export_encrypted"
    template = "This ZIP file is protected by a password. Unpack it and send the JSON file that is in it."


class ExportDamaged(ExportError):
    code = "export_damaged"
    template = "This file is cut off or damaged. Download the export again, and send it once more."


class ExportNotJson(ExportError):
    code = "export_not_json"
    template = "This is neither a ZIP file nor JSON."


class ExportTooLarge(ExportError):
    """It unpacks to more than is read, holds more files than an export has, or is made to be slow."""

    code = "export_too_large"
    template = "There is more in this file than can be read here."


class ExportUnknown(ExportError):
    code = "export_unknown"
    template = "This is JSON, but not of a form that can be read here."


class ExportForeign(ExportError):
    """*form* is whose export it is: a name."""

    code = "export_foreign"
    template = "This looks like an export of %(form)s, which can’t be read here."

    def __init__(self, *, form: str) -> None:
        super().__init__(form=form)


class ExportManifestOnly(ExportError):
    code = "export_manifest_only"
    template = "This is only the list of Claude’s files. Download the ZIP files that it names, and send those."


class ExportWithoutConversations(ExportError):
    code = "export_without_conversations"
    template = "There are no conversations in this ZIP file."


class ImportInterrupted(ExportError):
    """The process that read it ended, more often than it is tried again."""

    code = "import_interrupted"
    template = "This import was interrupted again and again. What it has brought is here; start it once more."


class ImportedTextFull(ExportError):
    """Its owner keeps as much imported text as one may: no more is taken."""

    code = "imported_text_full"
    template = (
        "Your room for imported text is used up. What is listed here was taken whole. Ask for more room, or delete "
        "imported conversations, and import the same files again: that adds what is missing."
    )


# It is not taken at all


class ImportsForbidden(InputError):
    code = "imports_forbidden"
    template = "Conversations can’t be imported on this site."


class ImportTooLarge(InputError):
    code = "import_too_large"
    template = "The file is larger than %(megabytes)s MB, which is the most that an export may be here."

    def __init__(self, *, megabytes: int) -> None:
        super().__init__(megabytes=f"{megabytes:,}")


class TooManyImports(InputError):
    code = "imports_too_many"
    template = "There are imports that have not ended. Wait for them, or cancel them."


class ImportNotFound(InputError):
    """Also someone else's."""

    code = "import_not_found"
    template = "There is no such import."


class ImportPieceMisplaced(InputError):
    """What comes does not follow what is there: a client asks how much that is, and goes on from there."""

    code = "import_piece_misplaced"
    template = "Part of the file is missing. Send it again."

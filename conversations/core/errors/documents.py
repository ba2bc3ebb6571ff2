"""Errors of documents: one can't be parsed, or can't be kept. The code and params are stored with the document."""

from __future__ import annotations

from .base import ConversationError
from .inputs import InputError


class DocumentError(ConversationError):
    """Parsing it has failed; sending the same file again will not help."""

    code = "document_failed"
    template = "This document could not be read."


class DocumentEmpty(DocumentError):
    code = "document_empty"
    template = "There is no text in this document."


class DocumentEncrypted(DocumentError):
    code = "document_encrypted"
    template = "This document is protected by a password. Save it without one and send it again."


class DocumentScanned(DocumentError):
    """Pages without a single word: pictures of text, and there is no OCR here."""

    code = "document_scanned"
    template = "This document has pages but no text: it is a scan. Make its text readable (OCR) and send it again."


class DocumentDamaged(DocumentError):
    code = "document_damaged"
    template = "This file is damaged or not complete. Save it again and send it once more."


class DocumentKindUnknown(DocumentError):
    code = "document_kind_unknown"
    template = "This is not a kind of document that can be read here: PDF, DOCX, Markdown, HTML, text, CSV or JSON."


class DocumentIsPicture(DocumentKindUnknown):
    """Whatever its name says. Only those that can be read as a picture."""

    code = "document_is_picture"
    template = (
        "This file is a picture, not a document. "
        "Add it to a message as a picture; its name has to end in .png, .jpg, .webp, .gif or .heic."
    )


class DocumentIsDrawing(DocumentKindUnknown):
    code = "document_is_drawing"
    template = "This file is a drawing (SVG), which can’t be read here. Save it as PNG and add that to a message."


class DocumentTooLong(DocumentError):
    code = "document_too_long"
    template = "There is more text in this document than can be kept of one. Send it in parts."


class DocumentTooCostly(DocumentError):
    """It took more time or memory than a document may."""

    code = "document_too_costly"
    template = "Reading this document takes more time or memory than a document may take here."


class DocumentParsingInterrupted(DocumentError):
    """The process that parsed it ended, more often than it is tried again."""

    code = "document_parsing_interrupted"
    template = "Reading this document was interrupted again and again. Delete it, and send it once more."


class LookUpTooCostly(ConversationError):
    """A retrieval or a search ended before it had gone through everything. A reply goes on without what it lacks."""

    code = "look_up_too_costly"
    template = "There is more to look through than anyone can wait for. Look for fewer or rarer words."


# It is not kept at all


class DocumentTooLarge(InputError):
    code = "document_too_large"
    template = "The file is larger than %(megabytes)s MB, which is the most that a document may be here."

    def __init__(self, *, megabytes: int) -> None:
        super().__init__(megabytes=f"{megabytes:,}")


class TooManyDocuments(InputError):
    """*most*: of one conversation, or of one scenario."""

    code = "documents_too_many"
    counted = "most"
    singular = "There is %(most)s document here, and that is the most. Delete it first."
    template = "There are %(most)s documents here, and that is the most. Delete one first."

    def __init__(self, *, most: int) -> None:
        super().__init__(most=f"{most:,}")


class DocumentStorageFull(InputError):
    """*megabytes*: of all documents and pictures of one user."""

    code = "document_storage_full"
    template = "Your documents and pictures would take more than %(megabytes)s MB together. Delete some first."

    def __init__(self, *, megabytes: int) -> None:
        super().__init__(megabytes=f"{megabytes:,}")


class FileMissing(InputError):
    code = "file_missing"
    template = "There is no file to add. Choose one first."


class TooManyFiles(InputError):
    """*most*: in one request."""

    code = "files_too_many"
    counted = "most"
    singular = "More than %(most)s file can’t be sent at once. Send them one by one."
    template = "More than %(most)s files can’t be sent at once. Send them in parts."

    def __init__(self, *, most: int) -> None:
        super().__init__(most=f"{most:,}")


class FilesTooLarge(InputError):
    """*megabytes*: of one request, whose files are not read at all."""

    code = "files_too_large"
    template = "More than %(megabytes)s MB can’t be sent at once. Send fewer files, or smaller ones."

    def __init__(self, *, megabytes: int) -> None:
        super().__init__(megabytes=f"{megabytes:,}")

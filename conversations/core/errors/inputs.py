"""Errors in what a user sends, which the user can correct, and in what a page sends."""

from __future__ import annotations

from .base import ConversationError

MB = 1_000_000


class InputError(ConversationError):
    code = "invalid_input"
    template = "The request could not be understood. Reload the page and try again."


class EmptyMessage(InputError):
    code = "message_empty"
    template = "There is nothing to send yet: the message is empty."


class RequestTooLarge(InputError):
    """Too large to be read at all, so it is not known by how many tokens."""

    code = "request_too_large"
    template = "This is far too long to send at once. Shorten it and send it again."


class RequestTooSlow(InputError):
    """Not all of it came in the time that others can be kept waiting for."""

    code = "request_too_slow"
    template = "Sending this took too long. Send fewer files at once, or try again on a faster connection."


class UploadTooLarge(InputError):
    code = "upload_too_large"
    template = "The file is larger than %(kilobytes)s kB, the most that you may upload."

    def __init__(self, *, kilobytes: int) -> None:
        super().__init__(kilobytes=f"{kilobytes:,}")


class ReplyInProgress(InputError):
    """*response_id* is the reply that is being written, as programs know it; blank where it is not said."""

    code = "reply_in_progress"
    template = "A reply is still being written here. Stop it or wait for it, then try again."

    def __init__(self, *, response_id: str = "") -> None:
        super().__init__()
        self.response_id = response_id


class TemporaryNotExported(InputError):
    code = "temporary_not_exported"
    template = "A temporary conversation can’t be exported or shared. Keep it first."


class ExportUnderWay(InputError):
    code = "export_under_way"
    template = "Your export is already being made. Wait until it has downloaded, then try again."


class SharesOff(InputError):
    code = "shares_off"
    template = "Sharing is switched off on this site."


class NothingToShare(InputError):
    code = "nothing_to_share"
    template = "There is nothing to share yet: no message here has ended."


class SharedMessagesTooMany(InputError):
    code = "shared_messages_too_many"
    template = (
        "A share has at most %(most)s messages, and this one would have %(number)s. Share up to an earlier message."
    )

    def __init__(self, *, most: int, number: int) -> None:
        super().__init__(most=f"{most:,}", number=f"{number:,}")


class TooManyShares(InputError):
    code = "too_many_shares"
    template = "You have %(most)s shares, which is as many as one account keeps. Delete some first."

    def __init__(self, *, most: int) -> None:
        super().__init__(most=f"{most:,}")


class ShareStorageFull(InputError):
    """The shares of a user, and what they copied from shares, hold as much text as they may."""

    code = "share_storage_full"
    template = (
        "Your shares, and what you copied from shares, may hold %(megabytes)s MB of text together, and this would be "
        "more. Delete a share or such a copy first, or take fewer messages."
    )

    def __init__(self, *, megabytes: int) -> None:
        super().__init__(megabytes=f"{megabytes:,}")


class NothingToRegenerate(InputError):
    code = "nothing_to_regenerate"
    template = "Only the last reply can be regenerated, and only once it has ended."


class NothingToContinue(InputError):
    code = "nothing_to_continue"
    template = "Only the last reply can be continued, and only where it was cut off."


class MessageExcluded(InputError):
    code = "message_excluded"
    template = "This message is excluded, so it is never sent. Include it again first."


class MessageNotEditable(InputError):
    code = "message_not_editable"
    template = "You can only edit your own messages."


class MessageNotPinnable(InputError):
    code = "message_not_pinnable"
    template = "This message can’t be pinned because it is never sent by itself."


class EffortNotAccepted(InputError):
    code = "effort_not_accepted"
    template = "This effort is not accepted by %(language_model)s. Choose another one."

    def __init__(self, *, language_model: str) -> None:
        super().__init__(language_model=language_model)


class InvalidHistory(InputError):
    """*reason* is a clause for the user, a literal that is translated like a template: "two of them are the same"."""

    code = "history_invalid"
    template = "These messages can’t be imported: %(reason)s."

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason=reason)


class ReasonInvalid(InputError):
    """Of 10 characters that can be seen, to 500 in all."""

    code = "reason_invalid"
    template = "Say why you need to read this, in a sentence of 10 to 500 characters."


class WebSearchNotOffered(InputError):
    """The site has no web search, or the scenario leaves no choice."""

    code = "web_search_not_offered"
    template = "Web search can’t be switched here: this site or this scenario does not leave it open."


class SummaryEmpty(InputError):
    code = "summary_empty"
    template = "A summary can’t be empty. To send none, stop summarising."


class SummaryTooLong(InputError):
    code = "summary_too_long"
    template = "The summary is too long by %(tokens_over)s tokens."
    singular = "The summary is too long by %(tokens_over)s token."
    counted = "tokens_over"

    def __init__(self, *, tokens_over: int) -> None:
        super().__init__(tokens_over=f"{tokens_over:,}")


class SummaryChanged(InputError):
    """Another version is current than the one that was seen."""

    code = "summary_changed"
    template = "The summary has changed meanwhile. Look at it again before you change it."


class CallNotAwaitingApproval(InputError):
    """It was decided already, has other arguments than those that were seen, or its reply has ended."""

    code = "call_not_awaiting_approval"
    template = "This tool call is no longer waiting for approval."


class RemarkTooLong(InputError):
    code = "remark_too_long"
    template = "A remark may have %(most)s characters, and this one has %(given)s."

    def __init__(self, *, most: int, given: int) -> None:
        super().__init__(most=f"{most:,}", given=f"{given:,}")


class NotesHaveTooManyCharacters(InputError):
    code = "notes_have_too_many_characters"
    template = "Notes may have %(most)s characters, and these have %(given)s. The old ones are kept until you save."

    def __init__(self, *, most: int, given: int) -> None:
        super().__init__(most=f"{most:,}", given=f"{given:,}")


class NotesHaveTooManyTokens(InputError):
    """They are sent with each request."""

    code = "notes_have_too_many_tokens"
    template = "Notes may have %(most)s tokens, and these have %(given)s. The old ones are kept until you save."

    def __init__(self, *, most: int, given: int) -> None:
        super().__init__(most=f"{most:,}", given=f"{given:,}")


class TooManyPicturesForModel(InputError):
    """Its provider takes only so many in a request."""

    code = "too_many_pictures_for_model"
    counted = "most"
    singular = "This language model takes at most %(most)s picture in one request. Remove the others."
    template = "This language model takes at most %(most)s pictures in one request. Remove some of them."


class PicturesTooLargeForModel(InputError):
    """Its provider takes only so many bytes in a request, in which pictures are encoded."""

    code = "pictures_too_large_for_model"
    template = (
        "The pictures of this message take %(given)s MB as they are sent, and this language model takes at most "
        "%(most)s MB of them in one request. Remove some of them."
    )

    def __init__(self, *, given_bytes: int, most_bytes: int) -> None:
        super().__init__(given=f"{-(-given_bytes // MB):,}", most=f"{most_bytes // MB:,}")


class FrameError(ConversationError):
    """*detail* names the field that is wrong."""

    code = "frame_invalid"
    template = "The page sent something that the server does not understand. Reload the page."

    def __init__(self, detail: str = "") -> None:
        self.detail = detail
        super().__init__()


class NameInvisible(InputError):
    """Nothing but controls and characters without a shape."""

    code = "name_invisible"
    template = "A name needs at least one character that can be seen."


class SavedPromptIncomplete(InputError):
    code = "saved_prompt_incomplete"
    template = "A saved prompt needs a name and a text."


class SavedPromptTooLong(InputError):
    code = "saved_prompt_too_long"
    template = "A saved prompt may have a name of %(name)s characters and a text of %(content)s."

    def __init__(self, *, name: int, content: int) -> None:
        super().__init__(name=f"{name:,}", content=f"{content:,}")


class FolderNameTaken(InputError):
    code = "folder_name_taken"
    template = "You have another folder of this name. Choose a different one."


class FolderEmpty(InputError):
    code = "folder_empty"
    template = "Nothing is in this folder, so there is nothing to export."


class TooManyFolders(InputError):
    code = "too_many_folders"
    template = "You have %(most)s folders, the most that can be kept. Delete one first."

    def __init__(self, *, most: int) -> None:
        super().__init__(most=most)


class SavedPromptNameTaken(InputError):
    code = "saved_prompt_name_taken"
    template = "You have another saved prompt of this name. Choose a different one."


class TooManySavedPrompts(InputError):
    code = "too_many_saved_prompts"
    template = "You have %(most)s saved prompts, the most that can be kept. Delete one first."

    def __init__(self, *, most: int) -> None:
        super().__init__(most=f"{most:,}")

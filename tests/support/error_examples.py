"""All errors of the product, and an example of each."""

from __future__ import annotations

import datetime as dt

from conversations.core import errors
from conversations.core.errors import InvalidHistory, LimitReached, PromptError

CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
OPENS_AT = dt.datetime(2026, 3, 4, 23, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))


def example_of_error(error):
    """Return an instance of the class *error*, as the code that raises it makes it."""
    if issubclass(error, errors.PicturesTooLong):
        return error(tokens_over=17, picture_tokens=1_105)
    if issubclass(error, PromptError):
        return error(tokens_over=17)
    if issubclass(error, errors.RoomUsedUpByReasoning):
        return error(room_tokens=4_096)
    if issubclass(error, errors.DialectRejected):
        return error(word="wire")
    if issubclass(error, errors.KeptReasoningTooLong):
        return error(characters=1_100_000, most=1_000_000)
    if issubclass(error, errors.RateReached):
        return error(seconds=40)
    if issubclass(error, LimitReached):
        return error(opens_at=OPENS_AT)
    if issubclass(error, (errors.RateLimitedUntil, errors.ProviderUnavailableUntil)):
        return error(again_at=OPENS_AT.isoformat())
    if issubclass(error, InvalidHistory):
        return error(reason="the second message is empty")
    if issubclass(error, errors.UploadTooLarge):
        return error(kilobytes=2_048)
    if issubclass(
        error,
        (
            errors.DocumentTooLarge,
            errors.DocumentStorageFull,
            errors.ShareStorageFull,
            errors.AppendedTextFull,
            errors.FilesTooLarge,
            errors.PictureTooLarge,
            errors.ImportTooLarge,
        ),
    ):
        return error(megabytes=20)
    if issubclass(
        error,
        (
            *(errors.TooManyDocuments, errors.TooManyFiles, errors.TooManyPictures),
            *(errors.TooManySavedPrompts, errors.TooManyFolders, errors.TooManyShares),
            errors.TooManyApiKeys,
        ),
    ):
        return error(most=100)
    if issubclass(error, errors.ParameterInvalid):
        return error("n", "only 1 is supported")
    if issubclass(error, errors.ApiScopeMissing):
        return error(scope="chat")
    if issubclass(error, errors.ExportForeign):
        return error(form="DeepSeek")
    if issubclass(error, errors.PicturesTooLargeForModel):
        return error(given_bytes=28_000_001, most_bytes=28_000_000)
    if issubclass(error, errors.TooManyPicturesForModel):
        return error(most=20)
    if issubclass(error, (errors.NotesHaveTooManyCharacters, errors.NotesHaveTooManyTokens, errors.RemarkTooLong)):
        return error(most=1_000, given=1_234)
    if issubclass(error, errors.SharedMessagesTooMany):
        return error(most=20_000, number=30_000)
    if issubclass(error, errors.SavedPromptTooLong):
        return error(name=80, content=20_000)
    if issubclass(error, errors.PictureTooManyPixels):
        return error(width=30_000, height=30_000, megapixels=120)
    if issubclass(error, errors.EffortNotAccepted):
        return error(language_model="qwen3")
    if issubclass(error, errors.SummaryTooLong):
        return error(tokens_over=17)
    return error()

"""Errors of pictures: one can't be read, or can't be kept or sent."""

from __future__ import annotations

from .access import AccessError
from .base import ConversationError
from .inputs import InputError


class PictureError(ConversationError):
    """It can't be read; sending the same file again will not help."""

    code = "picture_failed"
    template = "This picture could not be read."


class PictureEmpty(PictureError):
    code = "picture_empty"
    template = "This file is empty. Choose the picture again."


class PictureDamaged(PictureError):
    code = "picture_damaged"
    template = "This picture is damaged or not complete. Save it again and add it once more."


class PictureKindUnknown(PictureError):
    code = "picture_kind_unknown"
    template = "This is not a picture that can be read here: PNG, JPEG, WebP, GIF or HEIC."


class PictureTooManyPixels(PictureError):
    """Refused by what its header says, before anything is decoded."""

    code = "picture_too_many_pixels"
    template = (
        "This picture has %(width)s × %(height)s pixels, and %(megapixels)s million is the most that can be read. "
        "Make it smaller and add it once more."
    )

    def __init__(self, *, width: int, height: int, megapixels: int) -> None:
        self.size = width, height
        super().__init__(width=f"{width:,}", height=f"{height:,}", megapixels=f"{megapixels:,}")


class PictureTooCostly(PictureError):
    """It took more time or memory than a picture may."""

    code = "picture_too_costly"
    template = "Reading this picture takes more time or memory than a picture may take here. Make it smaller."


# It is not kept, or not sent


class PictureTooLarge(InputError):
    code = "picture_too_large"
    template = "The file is larger than %(megabytes)s MB, which is the most that a picture may be here."

    def __init__(self, *, megabytes: int) -> None:
        super().__init__(megabytes=f"{megabytes:,}")


class TooManyPictures(InputError):
    """*most*: in one message."""

    code = "pictures_too_many"
    counted = "most"
    singular = "A message can have %(most)s picture. Take the others out."
    template = "A message can have %(most)s pictures. Take some out."

    def __init__(self, *, most: int) -> None:
        super().__init__(most=f"{most:,}")


class PicturesGone(InputError):
    """A message names pictures that are not there: of another conversation, or unsent for too long."""

    code = "pictures_gone"
    template = "A picture of this message is no longer there. Take it out, and add it once more."


class PictureAlreadySent(InputError):
    """Its description can't be changed: it went to the language model, and the record of that stays true."""

    code = "picture_already_sent"
    template = "This picture was sent with an earlier message, so its description stays as it is."


class PictureNotFound(AccessError):
    code = "picture_not_found"
    template = "This picture could not be found."

"""Pictures that users send with their messages, and the bytes of each."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class PictureType(models.TextChoices):
    """The media types that a picture is stored as, whatever it was sent as."""

    JPEG = "image/jpeg", "JPEG"
    PNG = "image/png", "PNG"


class Picture(models.Model):
    """A picture of a conversation, as it is stored: encoded again, without metadata, and scaled down if it was larger.

    *width*, *height* (pixels), *size_bytes* and *digest* (SHA-256, in hexadecimal) are those of what is stored.
    *file_name* is what it was called where it came from, blank for one that was pasted; *alt_text* is what the user
    says is to be seen. A message names its pictures in `Message.picture_ids`; once one has, *sent* is true, and the
    picture stays until its conversation is deleted. One that was never sent is deleted after a while.
    """

    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="pictures", verbose_name=_("conversation")
    )
    uploader = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="pictures",
        verbose_name=_("uploader"),
    )
    digest = models.CharField(_("digest"), max_length=64)
    media_type = models.CharField(_("media type"), max_length=10, choices=PictureType)
    width = models.PositiveIntegerField(_("width"))
    height = models.PositiveIntegerField(_("height"))
    size_bytes = models.PositiveIntegerField(_("size bytes"))
    file_name = models.CharField(_("file name"), max_length=255, blank=True)
    alt_text = models.CharField(_("alternative text"), max_length=500, blank=True, default="", db_default="")
    sent = models.BooleanField(_("sent"), default=False, db_default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("picture")
        verbose_name_plural = _("pictures")
        ordering = ["id"]
        constraints = [
            # The same picture sent again is the same row.
            models.UniqueConstraint(fields=["conversation", "digest"], name="picture_once_in_conversation"),
        ]
        indexes = [
            models.Index(fields=["created_at"], condition=Q(sent=False), name="picture_to_sweep"),
            # What was sent names its pictures by their digests.
            models.Index(fields=["digest"], name="picture_by_digest"),
        ]

    def __str__(self) -> str:
        """Its number, not its name: the admin writes it on every page, also for who may not see it."""
        return gettext("Picture %(id)s") % {"id": self.pk}


class ScaledPicture(models.Model):
    """A picture as it was sent to a language model whose window does not hold it as it is stored: scaled down.

    Kept as long as the picture, so that it is not made again for each reply, and what was sent can be shown. *digest*
    is the SHA-256 of *content*, in hexadecimal.
    """

    picture = models.ForeignKey(Picture, on_delete=models.CASCADE, related_name="scaled", verbose_name=_("picture"))
    width = models.PositiveIntegerField(_("width"))
    height = models.PositiveIntegerField(_("height"))
    media_type = models.CharField(_("media type"), max_length=10, choices=PictureType)
    digest = models.CharField(_("digest"), max_length=64)
    size_bytes = models.PositiveIntegerField(_("size bytes"))
    content = models.BinaryField()

    class Meta:
        verbose_name = _("scaled picture")
        verbose_name_plural = _("scaled pictures")
        constraints = [
            models.UniqueConstraint(fields=["picture", "width", "height"], name="scaled_once_to_a_size"),
        ]
        indexes = [models.Index(fields=["digest"], name="scaled_by_digest")]

    def __str__(self) -> str:
        size = {"id": self.picture_id, "width": self.width, "height": self.height}
        return gettext("picture %(id)s at %(width)s × %(height)s") % size


class PictureFile(models.Model):
    """The bytes of a picture as it is stored: apart, so that rows of pictures are light."""

    picture = models.OneToOneField(Picture, on_delete=models.CASCADE, primary_key=True, related_name="file")
    content = models.BinaryField()

    class Meta:
        verbose_name = _("file of a picture")
        verbose_name_plural = _("files of pictures")

    def __str__(self) -> str:
        return gettext("file of picture %(id)s") % {"id": self.picture_id}

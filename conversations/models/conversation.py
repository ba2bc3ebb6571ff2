"""A conversation: its owner, scenario, head and place in the list."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Greatest
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from chatsite.names import NameField

UNTITLED = gettext_noop("New conversation")
TEMPORARY = gettext_noop("Temporary conversation")


def short_id(public_id: uuid.UUID) -> str:
    """Return as much of an id as tells it from others on a page."""
    return public_id.hex[:8]


class Conversation(models.Model):
    """A stored conversation. *head* is the newest active message; *last_active_at* orders the list.

    *title_is_given* says that a person wrote the title: nothing else changes it then. *copied_bytes* is what the text
    of the share takes that it is a copy of, as the database keeps it; 0 for any other. *appended_bytes* is what the
    messages take that programs stored in it without asking for a reply.
    *anchor_position* is where the last window began, so that the next one begins there too as long as it can, and with
    the same version of the summary: *summary_version*, by its number, or None where the current one is to be sent next.
    *summarises* adds a summary of what is out of view to a sliding window policy. *has_pins* says whether any message
    is pinned, on any branch: a window without pins is read without asking for them.
    *language_model* is the owner's choice, and *effort* how hard it is asked to think; blank is the scenario's.
    Messages at positions below *forgotten_before* are in no later request, whatever else is decided about them.
    *notes* are the owner's, sent with each question in it. One that is *kept_out_of_recall* is never looked in for a
    question in another one. *searches_web* looks its questions up on the web, where its scenario leaves that open.
    One with *temporary_until* is deleted at that moment; until then no list, export or recall of others has it.
    It was touched when it was last active, or *kept_at*: when its owner kept, restored or imported it. Without a touch
    it is deleted at *retention_ends_at*, a moment that its owner has been told; every touch empties that. Until it is
    permanently deleted it says whether it was *deleted_by_retention*.
    *metadata* is what a program has noted on it: pairs of text.
    *model_of_run* is not stored: the language model and the effort that the run in hand was begun with; nor is
    *parameters_of_run*, what a program has asked for in it, and *is_of_bound_key*, whether it has asked with a key that
    is bound to a scenario.
    """

    model_of_run: tuple[str, str] | None = None
    parameters_of_run: Mapping[str, Any] | None = None
    is_of_bound_key = False

    public_id = models.UUIDField(_("public id"), default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations", verbose_name=_("owner")
    )
    scenario = models.ForeignKey(
        "conversations.Scenario", on_delete=models.PROTECT, related_name="conversations", verbose_name=_("scenario")
    )
    title = NameField(_("title"), max_length=200, blank=True)
    copied_bytes = models.PositiveBigIntegerField(default=0, db_default=0, editable=False)
    appended_bytes = models.PositiveBigIntegerField(default=0, db_default=0, editable=False)
    title_is_given = models.BooleanField(default=False, db_default=False, editable=False)
    language_model = models.CharField(_("language model"), max_length=200, blank=True, default="", db_default="")
    effort = models.CharField(_("effort"), max_length=10, blank=True, default="", db_default="")
    head = models.ForeignKey("conversations.Message", on_delete=models.SET_NULL, null=True, related_name="+")
    anchor_position = models.PositiveIntegerField(null=True)
    summary_version = models.PositiveIntegerField(null=True)
    summarises = models.BooleanField(_("summarises"), default=False, db_default=False)
    has_pins = models.BooleanField(default=False)
    forgotten_before = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    notes = models.TextField(blank=True, editable=False, default="", db_default="")
    kept_out_of_recall = models.BooleanField(default=False, db_default=False, editable=False)
    searches_web = models.BooleanField(_("searches the web"), default=False, db_default=False)
    metadata = models.JSONField(default=dict, db_default={}, blank=True, editable=False)
    archived = models.BooleanField(_("archived"), default=False)
    starred = models.BooleanField(_("starred"), default=False)
    folder = models.ForeignKey(
        "conversations.Folder", on_delete=models.SET_NULL, null=True, related_name="conversations", db_index=False
    )
    temporary_until = models.DateTimeField(
        _("temporary until"),
        null=True,
        help_text=_("Deleted permanently at this moment, unless its owner keeps it; empty for one that is kept."),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    last_active_at = models.DateTimeField(_("last active at"))
    kept_at = models.DateTimeField(null=True, editable=False)
    retention_ends_at = models.DateTimeField(null=True, editable=False)
    deleted_by_retention = models.BooleanField(default=False, db_default=False, editable=False)
    deleted_at = models.DateTimeField(
        _("deleted at"),
        null=True,
        help_text=_("Deleted by its owner or by retention; can be restored until it is permanently removed."),
    )

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ["-last_active_at"]
        indexes = [
            models.Index(fields=["owner", "-last_active_at"], condition=Q(deleted_at=None), name="conversation_list"),
            models.Index(
                fields=["owner", "-last_active_at"],
                condition=Q(deleted_at=None, starred=True),
                name="conversation_starred",
            ),
            models.Index(
                fields=["owner", "-last_active_at"],
                condition=Q(deleted_at=None, archived=True),
                name="conversation_archived",
            ),
            # Those of all owners, as the admin lists them.
            models.Index(fields=["-last_active_at", "-id"], name="conversation_newest"),
            models.Index(
                fields=["folder", "-last_active_at"], condition=~Q(folder=None), name="conversation_in_folder"
            ),
            models.Index(
                fields=["owner", "-deleted_at"], condition=~Q(deleted_at=None), name="conversation_recently_deleted"
            ),
            models.Index(fields=["deleted_at"], condition=~Q(deleted_at=None), name="conversation_to_sweep"),
            models.Index(fields=["temporary_until"], condition=~Q(temporary_until=None), name="conversation_temporary"),
            models.Index(fields=["last_active_at"], condition=Q(head=None), name="conversation_without_message"),
            models.Index(
                Greatest("last_active_at", "kept_at"),
                condition=Q(deleted_at=None, temporary_until=None, retention_ends_at=None),
                name="conversation_untouched",
            ),
            models.Index(
                fields=["owner", "retention_ends_at"],
                condition=~Q(retention_ends_at=None),
                name="conversation_deleted_soon",
            ),
        ]

    def __str__(self) -> str:
        """Its number, not its title: the admin writes it on every page, also for who may not read it."""
        return gettext("Conversation %(id)s") % {"id": short_id(self.public_id)}

    @property
    def is_temporary(self) -> bool:
        return self.temporary_until is not None

    @property
    def recalls_other_conversations(self) -> bool:
        """Whether passages of its owner's other ones may be sent in it: what is temporary neither gives nor takes."""
        return self.owner.recalls_other_conversations and not (self.is_temporary or self.is_of_bound_key)

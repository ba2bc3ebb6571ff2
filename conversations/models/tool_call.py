"""Tool calls: functions that a language model asked for, with approval and result."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class ToolCallState(models.TextChoices):
    """A call begins as awaiting approval or ready, and ends in exactly one of the last four."""

    AWAITING_APPROVAL = "awaiting_approval", _("Waiting for an answer")
    READY = "ready", _("Ready")
    RUNNING = "running", _("Running")
    SUCCEEDED = "succeeded", _("Succeeded")
    FAILED = "failed", _("Failed")
    REFUSED = "refused", _("Not allowed")
    STOPPED = "stopped", _("Stopped")


ENDED = (ToolCallState.SUCCEEDED, ToolCallState.FAILED, ToolCallState.REFUSED, ToolCallState.STOPPED)


class ToolCall(models.Model):
    """A call of a tool that the language model asked for while it made *reply*: stored before it is run.

    *step* counts the steps of a reply from 1, *index* the calls of one step from 0. *arguments* is the text that the
    model wrote, valid or not; *digest* is what an approval is bound to. A call that *needs_approval* is run only after
    that. *result* is kept here until all calls of the step have ended: then *message* has it. So is the
    *kept_reasoning* of the step, with its first call. A stopped call that had *started_at* may have taken effect.
    """

    reply = models.ForeignKey(
        "conversations.Message", on_delete=models.CASCADE, related_name="calls", verbose_name=_("reply")
    )
    step = models.PositiveSmallIntegerField(_("step"))
    index = models.PositiveSmallIntegerField(_("index"))
    call_id = models.CharField(_("call id"), max_length=100)
    tool = models.CharField(_("tool"), max_length=100)
    source = models.CharField(_("source"), max_length=100)
    arguments = models.TextField(_("arguments"), blank=True)
    needs_approval = models.BooleanField(_("needs approval"), default=False)
    digest = models.CharField(max_length=64)
    state = models.CharField(_("state"), max_length=17, choices=ToolCallState)
    error_code = models.CharField(_("error code"), max_length=50, blank=True)
    result = models.TextField(_("result"), blank=True)
    kept_reasoning = models.TextField(blank=True, db_default="")
    message = models.OneToOneField(
        "conversations.Message", on_delete=models.CASCADE, null=True, related_name="call", verbose_name=_("message")
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    decided_at = models.DateTimeField(_("decided at"), null=True)
    started_at = models.DateTimeField(_("started at"), null=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)

    class Meta:
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        ordering = ["reply", "step", "index"]
        constraints = [
            models.UniqueConstraint(fields=["reply", "step", "index"], name="toolcall_place"),
        ]
        indexes = [
            # A page that asks for approval says if the same call was begun before.
            models.Index(fields=["digest"], condition=Q(started_at__isnull=False), name="toolcall_begun"),
        ]

    def __str__(self) -> str:
        return gettext("call %(id)s: %(state)s") % {"id": self.pk, "state": self.get_state_display()}

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

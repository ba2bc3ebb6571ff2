"""Runs: the making of replies, with the lease of the worker that makes them."""

from __future__ import annotations

from typing import NamedTuple

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .message import Message


class RunState(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    AWAITING_APPROVAL = "awaiting_approval", _("Awaiting approval")
    ENDED = "ended", _("Ended")


class RunHolder(NamedTuple):
    """The worker that holds a run, and in which attempt."""

    worker: str
    attempt: int


class Run(models.Model):
    """The making of one reply. A worker holds it by a lease; when that is over, the reaper ends the reply.

    While it awaits approval of a tool call, no worker holds it: it waits again once all its calls are decided, and its
    lease is the time that the owner has for the decision.

    Until it has ended, *reserved_usd* is reserved for the requests that its loop may still make, in the sums of
    *payer* and of the day and month of *reserved_at*. A trigger releases it when the run ends or is deleted.

    *reply_reserve_tokens* stands for the scenario's reply reserve, for this reply alone.
    *language_model* and *effort* are what was chosen when it began: they hold for all of its steps.

    Of a reply that is continued, the first *text_before* characters of its content and *reasoning_before* of its
    reasoning were there when it began; it takes the place of the run before it, and *asked_before* are the moments of
    the last minute at which that one and those before it were asked for: they count for the limit of a minute.

    *parameters* are what a program has asked for, for this reply alone: `services.language_models.run_parameters`.

    *waiting_since* is when it was put in the queue last: when it was stored, or given back by a worker.

    What a resumed reply needs is stored when approval is awaited: the *tool_seconds* that it has used of its time, and
    the *tightening* of its window. *searches_web_now* is for pages that are loaded while the web is searched.
    """

    reply = models.OneToOneField(
        "conversations.Message", on_delete=models.CASCADE, related_name="run", verbose_name=_("reply")
    )
    language_model = models.CharField(_("language model"), max_length=200, blank=True, default="", db_default="")
    effort = models.CharField(_("effort"), max_length=10, blank=True, default="", db_default="")
    state = models.CharField(_("state"), max_length=17, choices=RunState, default=RunState.WAITING)
    worker = models.CharField(_("worker"), max_length=100, blank=True)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    lease_until = models.DateTimeField(_("lease until"), null=True)
    # When an account is deleted, its sums go too, and so does the run.
    payer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    reserved_usd = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    reserved_at = models.DateTimeField(null=True)
    # The program that asked for it; keys go only with their account, and so do its runs.
    api_key = models.ForeignKey(
        "conversations.ApiKey",
        on_delete=models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
        verbose_name=_("API key"),
    )
    tool_seconds = models.FloatField(_("tool seconds"), default=0)
    tightening = models.DecimalField(_("tightening"), max_digits=12, decimal_places=4, default=1)
    searches_web_now = models.BooleanField(default=False, db_default=False)
    reply_reserve_tokens = models.PositiveIntegerField(_("reply reserve, tokens"), null=True)
    text_before = models.PositiveIntegerField(_("continued from character"), default=0, db_default=0)
    reasoning_before = models.PositiveIntegerField(default=0, db_default=0)
    asked_before = ArrayField(models.DateTimeField(), default=list, db_default=[])
    parameters = models.JSONField(default=dict, db_default={}, editable=False)
    stop_requested_at = models.DateTimeField(_("stop requested at"), null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    waiting_since = models.DateTimeField(_("waiting since"), db_default=Now())
    started_at = models.DateTimeField(_("started at"), null=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)

    class Meta:
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        indexes = [
            models.Index(fields=["id"], condition=Q(state="waiting"), name="run_waiting"),
            models.Index(fields=["created_at"], name="run_by_time"),
            models.Index(
                fields=["lease_until"], condition=Q(state__in=["running", "awaiting_approval"]), name="run_held"
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state__in=["running", "awaiting_approval"]) | Q(lease_until__isnull=False),
                name="run_held_has_a_lease",
            ),
        ]

    def __str__(self) -> str:
        return gettext("job %(id)s: %(state)s") % {"id": self.pk, "state": self.get_state_display()}

    @property
    def continues(self) -> bool:
        """Whether it continues a reply, which had text before."""
        return self.text_before > 0

    def written_in(self, reply: Message) -> str:
        """Return what this run has added to *reply*: reasoning, then content."""
        return reply.reasoning[self.reasoning_before :] + reply.content[self.text_before :]

"""The ledger: one row for every request to a provider."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class Purpose(models.TextChoices):
    REPLY = "reply", _("Reply")
    TOOL_STEP = "tool_step", _("Tool step")
    TITLE = "title", _("Title")
    SUMMARY = "summary", _("Summary")
    EMBEDDING = "embedding", _("Embedding")
    API = "api", _("API")


class Completion(models.Model):
    """The ledger: one row for every request to a provider, whatever its purpose and however it ended.

    A reply that calls tools has several, by *step*, of which those that ended in calls are tool steps. Written before
    the request leaves and settled once, when it has ended (*ended_at*). *window* is the record of the
    prompt, if it was chosen from a conversation: tokens and numbers of messages, never their content; *request* is the
    body that was sent without its messages, and *messages_digest* the SHA-256 of these, by which they can be shown
    exactly as they were. What many requests share is kept once for all: *system_prompt*, and *tool_schemas* as JSON.

    *opening_key* is made before it is written, so that writing it may be tried again. A program asked for it with
    *api_key*, where there is one; of a request without a conversation no word is kept. *holder* is the process that
    makes such a one, which has heartbeats.

    Prices are US dollars for a million tokens: those of our own count until it is settled, those really used from then
    on. Where they depend on how long the input is, *price_list* has all of them as they were when the request left. An
    unknown price is NULL and so is the cost then. *cost_without_history_usd* is what the same question would have cost
    without pins, summary and older messages; NULL where there was no question. *reserved_usd* is the worst case that
    was held back for it while it was running. Without reported usage *usage_estimated* is true and the used tokens are
    our own count; *cached_input_tokens* is NULL where the provider does not report them, and 0 where it says so.
    *reported_cost_usd* is what the provider says that it costs; NULL where it says nothing. Deleting a conversation or
    a user leaves the amounts.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="completions",
        verbose_name=_("user"),
    )
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.SET_NULL,
        null=True,
        related_name="completions",
        verbose_name=_("conversation"),
    )
    reply = models.ForeignKey(
        "conversations.Message",
        on_delete=models.SET_NULL,
        null=True,
        related_name="completions",
        verbose_name=_("reply"),
    )
    scenario = models.ForeignKey(
        "conversations.Scenario",
        on_delete=models.SET_NULL,
        null=True,
        related_name="completions",
        verbose_name=_("scenario"),
    )
    api_key = models.ForeignKey(
        "conversations.ApiKey",
        on_delete=models.SET_NULL,
        null=True,
        related_name="completions",
        verbose_name=_("API key"),
        db_index=False,
    )
    opening_key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    holder = models.CharField(max_length=100, blank=True, default="", db_default="", editable=False)
    purpose = models.CharField(_("purpose"), max_length=10, choices=Purpose, default=Purpose.REPLY)
    step = models.PositiveSmallIntegerField(_("step"), default=1)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=1)
    language_model = models.CharField(_("language model"), max_length=200)
    window = models.JSONField(null=True)
    request = models.JSONField(default=dict)
    system_prompt = models.ForeignKey("conversations.KeptText", on_delete=models.PROTECT, null=True, related_name="+")
    tool_schemas = models.ForeignKey("conversations.KeptText", on_delete=models.PROTECT, null=True, related_name="+")
    messages_digest = models.CharField(max_length=64, blank=True)

    estimated_input_tokens = models.PositiveIntegerField()
    input_tokens = models.PositiveIntegerField(null=True)
    cached_input_tokens = models.PositiveIntegerField(null=True)
    cache_write_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(_("output tokens"), null=True)
    reasoning_tokens = models.PositiveIntegerField(null=True)
    usage_estimated = models.BooleanField(_("usage estimated"), null=True)

    input_price_usd = models.DecimalField(max_digits=16, decimal_places=8, null=True)
    cached_input_price_usd = models.DecimalField(max_digits=16, decimal_places=8, null=True)
    cache_write_price_usd = models.DecimalField(max_digits=16, decimal_places=8, null=True)
    output_price_usd = models.DecimalField(max_digits=16, decimal_places=8, null=True)
    price_source = models.CharField(max_length=200, blank=True)
    price_list = models.JSONField(null=True)
    cost_usd = models.DecimalField(_("cost usd"), max_digits=20, decimal_places=10, null=True)
    cost_without_history_usd = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    reported_cost_usd = models.DecimalField(max_digits=20, decimal_places=10, null=True)
    reserved_usd = models.DecimalField(max_digits=20, decimal_places=10, null=True)

    time_to_first_token_seconds = models.FloatField(null=True)
    duration_seconds = models.FloatField(null=True)
    finish_reason = models.CharField(_("finish reason"), max_length=50, blank=True)
    error_code = models.CharField(_("error code"), max_length=50, blank=True)
    provider_request_id = models.CharField(_("provider request id"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created at"), db_default=Now())  # it decides on the day and month that pay
    ended_at = models.DateTimeField(_("ended at"), null=True)

    class Meta:
        verbose_name = _("request")
        verbose_name_plural = _("requests")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["user", "created_at"], name="completion_user_day"),
            models.Index(fields=["created_at"], name="completion_day"),
            models.Index(fields=["conversation", "-id"], name="completion_newest"),
            models.Index(fields=["id"], condition=Q(ended_at=None), name="completion_open"),
            models.Index(
                fields=["created_at"], include=["error_code"], condition=~Q(error_code=""), name="completion_failed"
            ),
            models.Index(
                fields=["language_model", "-id"], condition=Q(usage_estimated=False), name="completion_reported"
            ),
            models.Index(
                fields=["api_key", "created_at"],
                include=["cost_usd", "reserved_usd", "ended_at"],
                condition=Q(api_key__isnull=False),
                name="completion_of_api_key",
            ),
            models.Index(
                fields=["created_at"],
                include=["language_model", "cost_usd", "reported_cost_usd"],
                condition=Q(reported_cost_usd__isnull=False),
                name="completion_cost_reported",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(input_tokens__isnull=False, output_tokens__isnull=False),
                name="completion_settled_has_usage",
            ),
            models.CheckConstraint(
                condition=Q(cached_input_tokens=None) | Q(cached_input_tokens__lte=models.F("input_tokens")),
                name="completion_cached_is_part_of_input",
            ),
            models.CheckConstraint(
                condition=Q(cache_write_tokens=None)
                | Q(cache_write_tokens__lte=models.F("input_tokens") - Coalesce("cached_input_tokens", 0)),
                name="completion_cache_write_is_part_of_input",
            ),
        ]

    def __str__(self) -> str:
        words = {"id": self.pk, "purpose": self.get_purpose_display(), "language_model": self.language_model}
        return gettext("request %(id)s: %(purpose)s by %(language_model)s") % words

"""Webhooks: addresses that are told of ended replies and of budgets, and the events that are sent to them."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class Webhook(models.Model):
    """The address *url* that is told of what an API key has asked for; without a key it is the site's.

    *sealed_secret* signs what is sent, sealed with `SECRET_KEY`; blank for the site's, whose secret is a setting. From
    *disabled_at* on nothing is sent, because the receiver said that it is gone. Budgets were compared last at
    *budgets_checked_at*.
    """

    api_key = models.OneToOneField(
        "conversations.ApiKey",
        on_delete=models.CASCADE,
        null=True,
        related_name="webhook",
        verbose_name=_("API key"),
    )
    url = models.CharField(_("address"), max_length=500)
    sealed_secret = models.TextField(blank=True, editable=False)
    disabled_at = models.DateTimeField(_("disabled at"), null=True)
    budgets_checked_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["api_key"], name="webhook_one_each", nulls_distinct=False),
        ]

    def __str__(self) -> str:
        return gettext("webhook %(id)s") % {"id": self.pk}


class WebhookDelivery(models.Model):
    """An event that is, or was, sent to a webhook: stored in the transaction that stores what it tells of.

    It is to be sent from *due_at* on, None once it was delivered or given up, by one process until *lease_until*; each
    time is an *attempt*. *status* is the HTTP status of the last answer, *error* the code of what went wrong then, with
    a *detail*. Of events with the same *once* a webhook gets one.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # Without a constraint: that would let the end of a reply wait for whatever holds the webhook, or fail when it goes.
    webhook = models.ForeignKey(
        Webhook,
        on_delete=models.CASCADE,
        related_name="deliveries",
        db_constraint=False,
        db_index=False,
        verbose_name=_("webhook"),
    )
    event_type = models.CharField(_("event"), max_length=40)
    data = models.JSONField(default=dict)
    once = models.CharField(max_length=100, null=True)  # noqa: DJ001  # NULLs are distinct
    created_at = models.DateTimeField(_("created at"))
    due_at = models.DateTimeField(_("due at"), null=True)
    lease_until = models.DateTimeField(null=True)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    tried_at = models.DateTimeField(_("tried at"), null=True)
    delivered_at = models.DateTimeField(_("delivered at"), null=True)
    status = models.PositiveSmallIntegerField(_("status"), null=True)
    error = models.CharField(_("error"), max_length=30, blank=True)
    detail = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name = _("webhook delivery")
        verbose_name_plural = _("webhook deliveries")
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["webhook", "-id"], name="webhook_delivery_newest"),
            models.Index(fields=["webhook", "due_at"], condition=~Q(due_at=None), name="webhook_delivery_due"),
            models.Index(fields=["lease_until"], condition=~Q(lease_until=None), name="webhook_delivery_held"),
        ]
        constraints = [models.UniqueConstraint(fields=["webhook", "once"], name="webhook_delivery_once")]

    def __str__(self) -> str:
        return gettext("webhook delivery %(id)s") % {"id": self.pk}

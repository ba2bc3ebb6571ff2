"""Leases of runs."""

from __future__ import annotations

import datetime as dt

from django.utils import timezone

from conversations.models import Run


def expire_lease(reply):
    Run.objects.filter(reply=reply).update(lease_until=timezone.now() - dt.timedelta(seconds=1))

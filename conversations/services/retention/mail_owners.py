"""Mail owners that conversations of theirs are deleted soon: how many and when, without a title.

Each is mailed once a week at most, or twice within the time of notice if that is shorter. The row that says when is
written before the mail is sent, so of several processes one sends it; one that is killed in between leaves the owner to
the notice on the page, and to the next mail.
"""

from __future__ import annotations

import datetime as dt
import logging

from django.conf import settings
from django.core.mail import send_mail
from django.db import connection
from django.db.models import Count, F, Min, OuterRef, Subquery
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from chatsite.accounts.models import User
from chatsite.accounts.preferences.reader_language import is_site_language
from conversations.models import Conversation, RetentionMail
from conversations.selectors.retention.deadlines import UNDER_RETENTION, notice_time

logger = logging.getLogger(__name__)
MAILED_AT_ONCE = 100
MOST_OFTEN = dt.timedelta(days=7)
CLAIM = f"""
INSERT INTO {RetentionMail._meta.db_table} AS mail (owner_id, mailed_at) VALUES (%(owner)s, now())
ON CONFLICT (owner_id) DO UPDATE SET mailed_at = now() WHERE mail.mailed_at <= %(before)s
"""  # noqa: S608  # a name of ours


def mail_owners() -> int:
    """Mail those who have not been mailed for a while, if the site sends mail. Returns how many were mailed."""
    if not settings.SMTP_URL:
        return 0
    before = timezone.now() - min(MOST_OFTEN, notice_time() / 2)
    told = Conversation.objects.filter(UNDER_RETENTION, retention_ends_at__isnull=False, owner__is_active=True)
    mailed = RetentionMail.objects.filter(mailed_at__gt=before).values("owner")
    tried_at = RetentionMail.objects.filter(owner=OuterRef("owner")).values("mailed_at")
    owners = (
        told.exclude(owner__in=mailed)
        .order_by()
        .values("owner")
        .annotate(n=Count("pk"), first=Min("retention_ends_at"), tried_at=Subquery(tried_at))
        .order_by(F("tried_at").asc(nulls_first=True), "owner")  # those that can't be mailed keep no one waiting
    )
    return sum(_mail(row["owner"], row["n"], row["first"], before) for row in owners[:MAILED_AT_ONCE])


def _mail(owner_id: int, count: int, first: dt.datetime, before: dt.datetime) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"owner": owner_id, "before": before})
        if not cursor.rowcount:  # another process mails
            return False
    user = User.objects.filter(pk=owner_id).first()
    if user is None:
        return False
    try:
        _send(user, count, first)
    except OSError:  # which smtplib's errors are
        logger.exception("an owner could not be mailed of what is deleted soon")
        RetentionMail.objects.filter(owner=user).update(mailed_at=before)  # to be tried again, behind all others
        return False
    return True


def _send(user: User, count: int, first: dt.datetime) -> None:
    language = user.language if user.language and is_site_language(user.language) else settings.LANGUAGE_CODE
    context = {
        "count": count,
        "first": first,
        "days": settings.DELETED_CONVERSATION_DAYS,
        "site_name": settings.SITE_NAME,
        "url": settings.SITE_URL + reverse("conversations:deleted_soon"),
    }
    with override(language):
        subject = render_to_string("account/email/deleted_soon_subject.txt", context).strip()
        message = render_to_string("account/email/deleted_soon_message.txt", context)
    send_mail(f"{settings.SITE_NAME}: {subject}", message, None, [user.email])

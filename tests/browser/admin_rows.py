"""Rows that a browser's user sees as an admin."""

from __future__ import annotations

SET_UP = """
import datetime as dt
from django.db import connection
from django.utils import timezone
from chatsite.accounts.models import User
from chatsite.accounts.sessions.session_store import SessionStore
from tests.admin.stored import make_completion, make_person, make_record
User.objects.filter(pk=SessionStore("{session}").get("_auth_user_id")).update(role="admin")
if not User.objects.filter(email="carol@example.org").exists():
    with connection.cursor() as cursor:
        cursor.execute("SET conversations.ledger_may_change = 'on'")
    a_day_ago = timezone.now() - dt.timedelta(days=1)
    make_completion(make_person("dave"), cost_usd="4.2575", at=a_day_ago)
    make_completion(make_person("carol"), cost_usd="90", output_tokens=1_234, window=make_record().to_json())
"""

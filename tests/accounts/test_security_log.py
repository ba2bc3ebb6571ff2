"""The security log: a line and a row for each event, with ids and networks, without words, for as long as is set."""

from __future__ import annotations

import datetime as dt
import logging

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.gate.attempts import MAX_PER_ACCOUNT
from chatsite.accounts.gate.passwords import set_password
from chatsite.accounts.models import AttemptCount, Gate, SecurityEvent, SecurityEventKind
from chatsite.accounts.security.security_log import (
    FURTHER_LEFT_OUT,
    MOST_FROM_NETWORK,
    record_security_event,
    sweep_security_events,
)
from conversations.runs.reaper import tidy_once
from conversations.services.portability.delete_account import delete_account
from tests.accounts.conftest import PASSWORD
from tests.accounts.factors import code_of, confirm, give_app, set_up_app, wrong_code
from tests.support.append_only import mended_log
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
EVENTS = reverse("admin:accounts_securityevent_changelist")


def kinds() -> list[str]:
    return list(SecurityEvent.objects.order_by("pk").values_list("kind", flat=True))


@pytest.fixture
def lines(caplog):
    """The lines that the logger has written."""
    caplog.set_level(logging.INFO, "security")
    return lambda: [each for each in caplog.records if each.name == "security"]


def test_sign_ins_failures_and_limits_are_recorded(ada, sign_in):
    browser = Client(REMOTE_ADDR="2001:db8:1:2:3::4")
    for _ in range(7):
        sign_in(browser, ada.email, "guess")
    AttemptCount.objects.all().delete()
    sign_in(browser, ada.email)
    browser.post("/accounts/logout/")
    assert kinds() == [*["sign_in_failed"] * 5, "sign_in_limited", "signed_in", "signed_out"]
    assert {(row.user_id, row.network) for row in SecurityEvent.objects.all()} == {(ada.pk, "2001:db8:1:2::/64")}


def test_an_attempt_at_no_account_names_none(db, sign_in):
    sign_in(Client(), "stranger@example.org", "guess")
    assert list(SecurityEvent.objects.values_list("kind", "user", "about")) == [("sign_in_failed", None, "")]


def test_factors_and_their_codes_are_recorded(ada, sign_in):
    give_app(confirm(ada))
    sign_in(browser := Client(), ada.email)
    browser.post("/accounts/2fa/authenticate/", {"code": wrong_code()})
    browser.post("/accounts/2fa/authenticate/", {"code": code_of()})
    assert kinds() == ["code_failed", "signed_in"]
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    browser.post("/accounts/2fa/totp/deactivate/")
    assert kinds()[2:] == ["factor_removed"]
    assert SecurityEvent.objects.first().about == "totp"


@pytest.mark.django_db(transaction=True)
def test_a_factor_that_is_added_and_codes_that_are_renewed_are_recorded(ada, sign_in):
    sign_in(browser := Client(), confirm(ada).email)
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    set_up_app(browser)
    browser.post("/accounts/2fa/recovery-codes/generate/")
    added = SecurityEvent.objects.filter(kind="factor_added").values_list("user", "about")
    assert set(added) == {(ada.pk, "totp"), (ada.pk, "recovery_codes")}
    assert kinds()[-1] == "codes_renewed"


def test_attempts_at_the_gate_are_recorded(ada):
    Gate.objects.create(mode="shared")
    set_password("a window seat, please")
    browser = Client(REMOTE_ADDR="203.0.113.9")
    browser.force_login(ada)
    for _ in range(MAX_PER_ACCOUNT + 2):
        browser.post("/gate/", {"gate_password": "guess"})
    AttemptCount.objects.all().delete()
    browser.post("/gate/", {"gate_password": "a window seat, please"})
    assert kinds() == ["signed_in", *["gate_failed"] * MAX_PER_ACCOUNT, "gate_limited", "gate_entered"]
    at_the_gate = SecurityEvent.objects.filter(kind__startswith="gate_")
    assert set(at_the_gate.values_list("user", "network", "about")) == {(ada.pk, "203.0.113.9", "")}


def test_a_reset_and_another_address_are_recorded(ada, client, sign_in, mailed_path):
    client.post("/accounts/password/reset/", {"email": ada.email})
    form = client.get(mailed_path(), follow=True).redirect_chain[-1][0]
    client.post(form, {"password1": "another-horse-battery", "password2": "another-horse-battery"})
    assert kinds() == ["password_reset"]
    sign_in(client, ada.email, "another-horse-battery")
    page = client.post("/accounts/email/", {"email": "lovelace@example.org", "action_add": ""}).headers["Location"]
    client.post(page, {"password": "another-horse-battery"})
    client.post(mailed_path())
    assert kinds()[-1] == "email_changed"
    assert {user for (user,) in SecurityEvent.objects.values_list("user")} == {ada.pk}


def test_a_change_of_password_is_recorded(ada, client, sign_in):
    sign_in(client, ada.email)
    new = "another-horse-battery"
    client.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new})
    assert kinds() == ["signed_in", "password_changed"]


def test_a_sign_up_is_recorded(client, db, sign_up):
    sign_up(client, "new@example.org")
    assert set(kinds()) == {"signed_up", "signed_in"}


def test_without_mail_known_addresses_are_told_ten_times_an_hour_and_recorded(ada, sign_up):
    pages = [sign_up(Client(), ada.email).text for _ in range(11)]
    assert ["already registered" in page for page in pages] == [True] * 10 + [False]
    assert kinds() == ["sign_up_refused"] * 10
    assert "Too many attempts" in sign_up(Client(), "new@example.org").text  # the limit tells no one apart either
    assert sign_up(Client(REMOTE_ADDR="203.0.113.9"), "new@example.org").status_code == 302


def test_refused_access_is_recorded_with_the_page(ada, client):
    client.force_login(ada)
    client.get("/admin/", follow=True)
    refused = SecurityEvent.objects.get(kind="access_refused")
    assert (refused.user, refused.about) == (ada, "admin:login")


def test_staff_who_lack_what_the_admin_requires_are_recorded(ada, client, settings):
    settings.STAFF_SECOND_FACTOR = True
    ada.role = "admin"
    ada.save()
    client.force_login(ada)
    client.post(reverse("admin:accounts_user_add"), {})
    assert kinds() == ["signed_in", "access_refused"]
    assert SecurityEvent.objects.first().about == "second factor: admin:accounts_user_add"


def test_a_key_in_an_address_is_not_recorded(client, db):
    record = Client(enforce_csrf_checks=True).post("/accounts/password/reset/key/a-secret-key/", {})
    assert record.status_code == 403
    assert SecurityEvent.objects.get().about == "account_reset_password_from_key"


def test_what_an_admin_does_is_recorded(ada, client):
    ada.role = "admin"
    ada.save()
    client.force_login(ada)
    bob = make_user("bob")
    page = reverse("admin:accounts_user_change", args=[bob.pk])
    form = {"email": bob.email, "name": "Bob", "role": "reviewer", "gate_rule": "site", "is_active": "on"}
    form |= {f"limits-{name}_FORMS": number for name, number in (("TOTAL", 0), ("INITIAL", 0))}
    assert client.post(page, form).status_code == 302
    assert kinds() == ["signed_in", "changed_by_admin", "admin_action"]
    assert [row.about for row in SecurityEvent.objects.all()[:2]] == [
        f"admin:accounts_user_change {bob.pk}",
        f"role by {ada.pk}",
    ]


def test_a_line_has_ids_and_no_words(ada, sign_in, lines):
    sign_in(Client(REMOTE_ADDR="203.0.113.9"), ada.email, "guess")
    [line] = lines()
    assert (line.kind, line.user_id, line.address, line.about) == ("sign_in_failed", ada.pk, "203.0.113.9", "")
    assert not {"guess", ada.email} & {str(value) for value in vars(line).values()}


def test_a_flood_from_one_network_is_recorded_up_to_a_limit(ada, lines):
    most = MOST_FROM_NETWORK.most
    for _ in range(most + 5):
        record_security_event(SecurityEventKind.ACCESS_REFUSED, user=ada, address="203.0.113.9")
    assert SecurityEvent.objects.count() == len(lines()) == most + 1
    assert SecurityEvent.objects.first().about == FURTHER_LEFT_OUT
    record_security_event(SecurityEventKind.ACCESS_REFUSED, user=ada, address="203.0.113.10")
    assert SecurityEvent.objects.first().about == ""


def test_the_database_lets_no_one_rewrite_it(ada):
    record_security_event(SecurityEventKind.SIGNED_IN, user=ada)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        SecurityEvent.objects.update(kind="signed_out")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        SecurityEvent.objects.all().delete()


def test_old_events_are_swept_by_the_worker(ada, settings):
    for _ in range(2):
        record_security_event(SecurityEventKind.SIGNED_IN, user=ada)
    old = timezone.now() - dt.timedelta(days=settings.SECURITY_LOG_DAYS, minutes=1)
    with mended_log():
        SecurityEvent.objects.filter(pk=SecurityEvent.objects.first().pk).update(at=old)
    tidy_once()
    assert SecurityEvent.objects.count() == 1
    assert sweep_security_events() == 0
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        SecurityEvent.objects.all().delete()


def test_a_deleted_account_is_taken_out(ada):
    record_security_event(SecurityEventKind.SIGNED_IN, user=ada, address="203.0.113.9")
    delete_account(ada)
    assert list(SecurityEvent.objects.values_list("kind", "user", "network")) == [("signed_in", None, "")]


def test_what_happens_after_the_deletion_names_no_one(ada):
    gone = ada.pk
    delete_account(ada)
    ada.pk = gone
    record_security_event(SecurityEventKind.SIGNED_OUT, user=ada, address="203.0.113.9")
    assert list(SecurityEvent.objects.values_list("kind", "user", "network")) == [("signed_out", None, "")]


def test_admins_read_it_and_reviewers_do_not(ada, client):
    record_security_event(SecurityEventKind.GATE_FAILED, user=ada, address="203.0.113.9")
    for role, status in (("reviewer", 403), ("admin", 200)):
        ada.role = role
        ada.save()
        client.force_login(ada)
        page = client.get(EVENTS, {"kind__exact": "gate_failed", "at__gte": "2020-01-01 00:00:00+00:00"})
        assert page.status_code == status
    assert "203.0.113.9" in page.text
    assert client.post(reverse("admin:accounts_securityevent_add"), {}).status_code == 403

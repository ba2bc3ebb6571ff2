"""The gate in the admin: its actions, only for admins, and that a password is shown once."""

from __future__ import annotations

import datetime as dt
import html
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.hashers import check_password
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from chatsite.accounts.account.last_admin import lock_remaining_admin
from chatsite.accounts.gate.admission import Admission, find_admission
from chatsite.accounts.gate.passwords import find_gate_password, revoke_gate_password, set_password
from chatsite.accounts.models import Gate, GatePassword, Session, User
from tests.accounts.gates import enter, make_password, shut_gate
from tests.admin.conftest import signed_in
from tests.admin.stored import make_person

GATE = reverse("admin:accounts_gate_changelist")
PASSWORD = reverse("admin:accounts_gate_password")
SECRET = re.compile(r'<code class="secret"[^>]*>([^<]+)</code>')
RAW = "a window seat, please"


@pytest.fixture(autouse=True)
def _quick_hashes(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def own(alice):
    """The address of Alice's own password."""
    return reverse("admin:accounts_gate_person_password", args=[alice.pk])


def save(browser, **fields):
    return browser.post(GATE, {"mode": "shared", "seats": "", "contact": "", **fields}, follow=True)


def moment(**delta):
    return f"{timezone.now() + dt.timedelta(**delta):%Y-%m-%dT%H:%M}"


def test_the_settings_are_changed_and_who_did_it_is_written_down(admin_browser, superuser):
    page = save(admin_browser, seats="7", contact="Grace")
    gate = Gate.objects.get()
    assert (gate.mode, gate.seats, gate.contact) == ("shared", 7, "Grace")
    assert "none is set" in page.text
    assert LogEntry.objects.get().user == superuser


@pytest.mark.parametrize(
    "fields",
    [{"seats": "-1"}, {"seats": "NaN"}, {"seats": "1e99"}, {"seats": "9" * 30}, {"mode": "open"}, {"mode": ""}],
)
def test_settings_that_make_no_sense_are_refused(admin_browser, fields):
    page = save(admin_browser, **fields)
    assert page.status_code == 400
    assert not Gate.objects.exists()


def test_a_password_is_made_up_and_shown_once(admin_browser):
    answer = admin_browser.post(PASSWORD, {"action": "set"})
    raw = html.unescape(SECRET.search(answer.text)[1])
    stored = find_gate_password(None)
    assert check_password(raw, stored.hash)
    assert "no-store" in answer["Cache-Control"]
    assert raw not in admin_browser.get(GATE).text


def test_what_is_shown_is_kept_nowhere(admin_browser, own):
    for url in (PASSWORD, own):
        answer = admin_browser.post(url, {"action": "set"})
        raw = SECRET.search(answer.text)[1]
        kept = [
            *LogEntry.objects.values_list("change_message", "object_repr"),
            *GatePassword.objects.values_list("hash"),
        ]
        kept += [session.get_decoded() for session in Session.objects.all()]
        assert raw not in str(kept)
        assert raw not in str(answer.headers) + str(answer.cookies)


def test_a_password_of_the_admin_s_own_choice_is_not_shown(admin_browser):
    answer = admin_browser.post(PASSWORD, {"action": "set", "password": RAW}, follow=True)
    assert check_password(RAW, find_gate_password(None).hash)
    assert RAW not in answer.text


@pytest.mark.parametrize("raw", ["short", "x" * 201, "a\x00bcdefgh"])
def test_a_password_that_is_none_is_refused(admin_browser, raw):
    assert admin_browser.post(PASSWORD, {"action": "set", "password": raw}).status_code == 400
    assert not GatePassword.objects.exists()


@pytest.mark.parametrize("expires_at", ["yesterday", "2020-01-01T00:00", "9" * 40, "NaN"])
def test_an_end_that_makes_no_sense_is_refused(admin_browser, expires_at):
    for action in ("set", "expiry"):
        assert admin_browser.post(PASSWORD, {"action": action, "expires_at": expires_at}).status_code == 400
    assert not GatePassword.objects.exists()


def test_the_end_can_be_changed_and_taken_away(admin_browser):
    set_password(RAW)
    version = find_gate_password(None).version
    admin_browser.post(PASSWORD, {"action": "expiry", "expires_at": moment(days=1)})
    assert find_gate_password(None).expires_at > timezone.now()
    admin_browser.post(PASSWORD, {"action": "expiry", "expires_at": ""})
    assert (find_gate_password(None).expires_at, find_gate_password(None).version) == (None, version)


def test_revoking_ends_it_and_says_so(admin_browser):
    set_password(RAW)
    page = admin_browser.post(PASSWORD, {"action": "revoke"}, follow=True)
    assert find_gate_password(None).revoked_at
    assert "revoked" in page.text


@pytest.mark.parametrize("fields", [{}, {"action": "explode"}, {"action": "expiry"}])
def test_what_is_not_understood_changes_nothing(admin_browser, fields):
    assert admin_browser.post(PASSWORD, fields).status_code == 400
    assert not GatePassword.objects.exists()


def test_one_person_gets_a_password_of_their_own(admin_browser, alice, own):
    raw = SECRET.search(admin_browser.post(own, {"action": "set"}).text)[1]
    assert check_password(raw, find_gate_password(alice).hash)
    assert find_gate_password(None) is None
    assert LogEntry.objects.get().object_id == str(alice.pk)
    admin_browser.post(own, {"action": "revoke"})
    assert find_gate_password(alice).revoked_at


def test_the_page_of_the_user_leads_there(admin_browser, alice):
    page = admin_browser.get(reverse("admin:accounts_user_change", args=[alice.pk]))
    assert reverse("admin:accounts_gate_person", args=[alice.pk]) in page.text


@pytest.mark.parametrize("user_id", [0, 10**9, 10**30])
def test_no_one_with_that_id_is_not_found(admin_browser, user_id):
    for name in ("person", "person_password"):
        url = reverse(f"admin:accounts_gate_{name}", args=[user_id])
        send = admin_browser.get if name == "person" else admin_browser.post
        assert send(url, {"action": "set"}).status_code == 404


def test_the_lists_say_who_is_inside_and_who_waits(admin_browser, alice):
    shut_gate(seats=1)
    enter(alice)
    enter(make_person("bob"))
    page = admin_browser.get(GATE).text
    assert page.index("waiting, 1") < page.index("<td>inside</td>")
    assert "1 of 1" in page


@pytest.mark.parametrize(("mode", "is_named"), [("personal", True), ("shared", False), ("off", False)])
def test_who_needs_a_password_of_their_own_and_has_none_is_named(admin_browser, alice, mode, is_named):
    shut_gate(mode)
    named = "need their own password and have none"
    assert (named in admin_browser.get(GATE).text) is is_named
    make_password(alice)
    assert named not in admin_browser.get(GATE).text


def test_a_person_who_needs_one_by_their_own_rule_is_named_too(admin_browser, alice):
    User.objects.filter(pk=alice.pk).update(gate_rule="required")
    assert admin_browser.get(GATE).context["without_password"] == [alice]


def test_more_seats_let_in_who_waits_at_once(admin_browser, alice):
    shut_gate(seats=0)
    enter(alice)
    save(admin_browser, seats="1")
    assert find_admission(alice.pk) is Admission.ADMITTED


def test_the_page_takes_the_same_queries_however_many_people_there_are(queries_for):
    shut_gate()
    enter(make_person("bob"))
    few = queries_for(GATE)
    for number in range(20):
        enter(make_person(f"person{number}"))
        set_password(RAW, user=make_person(f"other{number}"))
    assert queries_for(GATE) == few <= 9


def test_no_one_sees_a_hash(admin_browser, alice):
    shut_gate()
    set_password(RAW)
    own = set_password(RAW, user=alice)
    pages = [GATE, reverse("admin:accounts_gate_person", args=[alice.pk])]
    pages.append(reverse("admin:accounts_user_change", args=[alice.pk]))
    for url in pages:
        page = admin_browser.get(url).text
        assert own.hash not in page
        assert find_gate_password(None).hash not in page
        assert str(own.version) not in page


@pytest.mark.parametrize("way", ["get", "post"])
def test_a_reviewer_and_everybody_else_does_nothing_here(reviewer_browser, alice, own, way, client):
    person = reverse("admin:accounts_gate_person", args=[alice.pk])
    for url in (GATE, PASSWORD, person, own):
        assert getattr(reviewer_browser, way)(url, {"action": "set"}).status_code == 403
        assert getattr(client, way)(url, {"action": "set"}).status_code == 302
    assert not GatePassword.objects.exists()
    assert not Gate.objects.exists()


def test_reading_the_address_of_a_password_leads_to_its_page_and_changes_nothing(admin_browser, alice, own):
    person = reverse("admin:accounts_gate_person", args=[alice.pk])
    for url, page in ((PASSWORD, GATE), (own, person)):
        assert admin_browser.get(url, {"action": "set"}).url == page
    assert not GatePassword.objects.exists()


def test_an_admin_can_not_block_themselves_but_another_can(admin_browser, superuser):
    fields = {"email": superuser.email, "name": "Me", "gate_rule": "blocked", "role": "admin", "is_active": "on"}
    admin_browser.post(reverse("admin:accounts_user_change", args=[superuser.pk]), fields)
    assert User.objects.get(pk=superuser.pk).gate_rule == "site"


def test_a_blocked_admin_is_none_to_a_site_that_needs_one(superuser):
    make_person("grace", role="admin", gate_rule="blocked")
    with transaction.atomic():
        assert not lock_remaining_admin([superuser.pk])


# The admin behind the gate


def admin_addresses(patterns=None, before="/admin/"):
    """Return every address of the admin, with a made-up id where it takes one."""
    if patterns is None:
        (resolver,) = (each for each in get_resolver().url_patterns if getattr(each, "app_name", "") == "admin")
        patterns = resolver.url_patterns
    for each in patterns:
        route = before + re.sub(r"<[^>]+>", "7", re.sub(r"^\^|\$$|\(\?P<url>\.\*\)", "", str(each.pattern)))
        if isinstance(each, URLResolver):
            yield from admin_addresses(each.url_patterns, route)
        elif isinstance(each, URLPattern):
            yield route


def test_a_reviewer_without_the_password_gets_to_no_address_of_the_admin(reviewer_browser):
    shut_gate()
    addresses = list(admin_addresses())
    assert len(addresses) > 40
    for address in addresses:
        answer = reviewer_browser.get(address)
        leads_to = answer.headers.get("Location", "")
        is_of_account = leads_to == reverse("account_change_password")
        assert leads_to.startswith("/gate/?next=") or is_of_account or answer.status_code == 404, address


def test_a_reviewer_with_the_password_reads_as_ever(db):
    grace = make_person("grace", role="reviewer")
    shut_gate()
    enter(grace)
    assert signed_in(grace).get("/admin/").status_code == 200


def test_an_admin_is_let_in_whatever_the_gate_says_but_not_when_blocked(admin_browser, superuser):
    shut_gate()
    revoke_gate_password()
    assert admin_browser.get(GATE).status_code == 200
    User.objects.filter(pk=superuser.pk).update(gate_rule="blocked")
    assert admin_browser.get(GATE).url == f"/gate/?next={GATE}"

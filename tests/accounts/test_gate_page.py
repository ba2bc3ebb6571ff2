"""The page of the gate: every way to be kept out, and the way in."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.gate.admission import Admission, find_admission
from chatsite.accounts.gate.attempts import MAX_PER_ACCOUNT, MAX_PER_ADDRESS, PERIOD
from chatsite.accounts.gate.passwords import revoke_gate_password, set_gate_password_expiry, set_password
from chatsite.accounts.models import AttemptCount, Gate, GateEntry, GatePassword, User
from chatsite.accounts.preferences.reader_time_zone import next_minute
from tests.accounts.gates import enter, rotate, shut_gate
from tests.support.people import make_user

GATE = reverse("gate")
RAW = "a window seat, please"
KOLKATA = "Asia/Kolkata"  # half an hour beside all full ones
WRONG = "Wrong password. Try again."
CHANGED = "The password was changed. Ask for the new one."


@pytest.fixture
def shut(db):
    """The gate is shut, by one password for all."""
    Gate.objects.create(mode="shared", contact="Grace, grace@example.org")
    return set_password(RAW)


@pytest.fixture
def browser(ada):
    browser = Client()
    browser.force_login(ada)
    return browser


def give(browser, raw, next_page="", **headers):
    return browser.post(f"{GATE}?next={next_page}", {"gate_password": raw}, **headers)


def test_the_page_says_whom_to_ask(shut, browser):
    page = browser.get(GATE)
    assert page.status_code == 200
    assert "Grace, grace@example.org" in page.text


def test_a_visitor_signs_in_first_and_comes_back(shut, client):
    answer = client.get(f"{GATE}?next=/scenarios/")
    assert answer.url == "/accounts/login/?next=/gate/%3Fnext%3D/scenarios/"


def test_the_right_password_opens_and_leads_on(shut, browser, ada):
    answer = browser.post(f"{GATE}?next=/scenarios/", {"gate_password": RAW}, follow=True)
    assert find_admission(ada.pk) is Admission.ADMITTED
    assert answer.redirect_chain[-1] == ("/scenarios/", 302)


@pytest.mark.parametrize(
    "elsewhere",
    ["https://elsewhere.example/", "//elsewhere.example/", r"/\elsewhere.example", "javascript:alert(1)", ""],
)
def test_it_leads_on_only_within_the_site(shut, browser, ada, elsewhere):
    enter(ada)
    assert browser.get(GATE, {"next": elsewhere}).url == "/"


def test_a_password_of_ones_own_opens_in_its_place(shut, browser, ada):
    set_password("only Ada knows", user=ada)
    assert WRONG in give(browser, RAW).text
    assert give(browser, "only Ada knows").status_code == 302
    assert find_admission(ada.pk) is Admission.ADMITTED


def test_spaces_around_it_come_from_copying(shut, browser):
    assert give(browser, f" {RAW}\n").status_code == 302


@pytest.mark.parametrize(
    "raw",
    ["", "   ", "x" * 201, "x" * 2**20, "a\x00b", f"{RAW}\x00"],
    ids=["empty", "blank", "long", "MB", "NUL", "NUL2"],
)
def test_what_is_no_password_is_refused_without_work(shut, browser, ada, raw, monkeypatch):
    monkeypatch.setattr("chatsite.accounts.gate.unlock.matches_gate_password", lambda *_: pytest.fail("it was hashed"))
    page = give(browser, raw)
    assert page.status_code == 400
    assert not AttemptCount.objects.filter(pk__startswith="gate").exists()
    assert raw.strip() == "" or raw not in page.text


def test_no_field_at_all_is_refused(shut, browser):
    assert browser.post(GATE).status_code == 400


def test_a_wrong_password_says_so_and_is_not_repeated(shut, browser, ada):
    page = give(browser, "guess-guess")
    assert (page.status_code, WRONG in page.text, "guess-guess" in page.text) == (400, True, False)
    assert not GateEntry.objects.exists()


@pytest.mark.parametrize(
    "end",
    [
        revoke_gate_password,
        lambda: set_gate_password_expiry(timezone.now() - dt.timedelta(seconds=1)),
        GatePassword.objects.all().delete,
    ],
    ids=["revoked", "over", "never set"],
)
def test_without_a_password_in_force_the_page_says_so_and_asks_for_none(shut, browser, end):
    end()
    for page in (browser.get(GATE), give(browser, RAW)):
        assert "No one can come in at the moment" in page.text
        assert "Grace, grace@example.org" in page.text
        assert 'name="gate_password"' not in page.text
    assert not GateEntry.objects.exists()


def test_who_came_in_by_the_older_password_reads_that_it_was_changed(shut, browser, ada):
    assert CHANGED not in browser.get(GATE).text
    enter(ada)
    rotate()
    assert CHANGED in browser.get(GATE).text


def test_a_password_for_each_person_is_called_personal(db, browser, ada):
    Gate.objects.create(mode="personal")
    assert "You have no password for this site" in browser.get(GATE).text
    set_password(RAW, user=ada)
    assert "Your site password" in browser.get(GATE).text
    assert give(browser, RAW).status_code == 302


def test_the_eleventh_attempt_gets_the_page_that_says_when(shut, browser, ada):
    answers = [give(browser, f"guess {number}") for number in range(MAX_PER_ACCOUNT + 1)]
    assert [answer.status_code for answer in answers] == [400] * MAX_PER_ACCOUNT + [429]
    assert "Opens again" in answers[-1].text
    assert answers[-1]["Retry-After"].endswith("GMT")


@pytest.mark.parametrize(("cookie", "zone", "written"), [("", "UTC", "%H:%M UTC<"), (KOLKATA, KOLKATA, "%H:%M<")])
def test_when_the_gate_opens_again_is_said_by_the_readers_clock(shut, browser, cookie, zone, written):
    for number in range(MAX_PER_ACCOUNT):
        give(browser, f"guess {number}")
    began_at = timezone.now()
    AttemptCount.objects.update(began_at=began_at)
    browser.cookies["tz"] = cookie
    opens_at = next_minute(began_at + PERIOD)
    assert format(opens_at.astimezone(ZoneInfo(zone)), written) in give(browser, "guess").text


def test_after_too_many_attempts_the_right_one_is_not_looked_at(shut, browser, ada, monkeypatch):
    for number in range(MAX_PER_ACCOUNT):
        give(browser, f"guess {number}")
    monkeypatch.setattr("chatsite.accounts.gate.unlock.matches_gate_password", lambda *_: pytest.fail("it was hashed"))
    assert give(browser, RAW).status_code == 429
    assert find_admission(ada.pk) is Admission.PASSWORD_REQUIRED


def test_a_forged_header_makes_no_other_address(shut):
    """The server has put the visitor into REMOTE_ADDR; what a client says of itself is nothing."""
    codes = []
    for number in range(MAX_PER_ADDRESS + 1):
        browser = Client()
        browser.force_login(make_user(f"person{number}"))
        codes.append(give(browser, "guess-guess", HTTP_X_FORWARDED_FOR=f"203.0.113.{number}").status_code)
    assert codes == [400] * MAX_PER_ADDRESS + [429]


def test_who_waits_sees_the_place_in_line_and_the_page_looks_again_by_itself(shut, browser, ada):
    Gate.objects.update(seats=0)
    enter(make_user("bob"))
    page = browser.post(GATE, {"gate_password": RAW}, follow=True)
    assert "All seats are taken" in page.text
    assert '<dd class="pass-figure">2</dd>' in page.text
    assert 'http-equiv="refresh"' in page.text


def test_the_waiting_page_opens_when_there_is_a_seat(shut, browser, ada):
    Gate.objects.update(seats=0)
    give(browser, RAW)
    Gate.objects.update(seats=1)
    assert browser.get(f"{GATE}?next=/scenarios/").url == "/scenarios/"


def test_who_is_blocked_is_told_so_and_gives_no_password(shut, browser, ada):
    User.objects.filter(pk=ada.pk).update(gate_rule="blocked")
    for answer in (browser.get(GATE), give(browser, RAW)):
        assert answer.status_code == 403
        assert "not open to your account" in answer.text
    assert not GateEntry.objects.exists()


def test_a_password_that_changes_while_it_is_given_lets_no_one_in(shut, browser, ada, monkeypatch):
    from chatsite.accounts.gate import unlock

    def right_but_late(password, raw):
        rotate()
        return True

    monkeypatch.setattr(unlock, "matches_gate_password", right_but_late)
    assert give(browser, RAW).status_code == 302
    assert find_admission(ada.pk) is Admission.PASSWORD_REQUIRED


def test_the_form_takes_a_token_against_forgery(shut, ada):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ada)
    assert give(browser, RAW).status_code == 403


def test_nothing_of_it_is_kept_by_browsers_or_told_to_other_sites(shut, browser):
    page = browser.get(GATE)
    assert "no-store" in page["Cache-Control"]
    assert page["Referrer-Policy"] == "same-origin"


def test_a_password_in_the_address_is_no_password(shut, browser, ada):
    browser.get(GATE, {"gate_password": RAW})
    assert browser.post(f"{GATE}?gate_password={RAW}").status_code == 400
    assert find_admission(ada.pk) is Admission.PASSWORD_REQUIRED


def test_the_account_s_own_pages_stay_open(db, browser):
    shut_gate()
    for name in ("account", "account_email", "account_change_password", "account_logout"):
        assert browser.get(reverse(name)).status_code == 200
    browser.post(reverse("account_logout"))
    assert "_auth_user_id" not in browser.session


@pytest.mark.parametrize("path", ["/", "/scenarios/", "/conversations/"])
def test_other_pages_lead_to_the_gate_and_back(shut, browser, path):
    assert browser.get(path).url == f"/gate/?next={path}"


def test_the_database_keeps_one_password_for_all(shut):
    set_password("another one")
    assert GatePassword.objects.filter(user=None).count() == 1

"""Invitations as admins make, send, renew and revoke them."""

import datetime as dt
import re
import smtplib

import pytest
from django.contrib.admin.models import LogEntry
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.models import Invitation, User
from chatsite.accounts.sign_up import invitations
from tests.accounts.staff import browser_of, make_admin

pytestmark = pytest.mark.django_db
LIST = reverse("admin:accounts_invitation_changelist")
ADD = reverse("admin:accounts_invitation_add")


class BrokenServer(EmailBackend):
    def send_messages(self, messages):
        raise smtplib.SMTPServerDisconnected


@pytest.fixture
def admin(db) -> User:
    return make_admin("grace@example.org")


@pytest.fixture
def browser(admin):
    return browser_of(admin)


@pytest.fixture
def mailing(settings) -> None:
    settings.SMTP_URL = "smtp://mail.example.org"


def invite(browser, **fields):
    return browser.post(ADD, {"email": "", "note": "", "days": "7", **fields})


def link_in(response) -> str:
    return re.search(r'value="(http[^"]+/invitation/#[\w-]+)"', response.content.decode())[1]


def press(browser, invitation: Invitation, button: str):
    url = reverse("admin:accounts_invitation_change", args=[invitation.pk])
    return browser.post(url, {"note": invitation.note, f"accounts_invitation_{button}": "1"})


def said(response) -> str:
    return " ".join(str(message) for message in response.wsgi_request._messages)


def test_the_answer_shows_the_link_of_what_was_made(browser, admin):
    link = link_in(invite(browser, email="Ada@Example.org", note="from the reading group", days="3"))
    (invitation,) = Invitation.objects.all()
    assert invitations.find_by_token(link.partition("#")[2]) == invitation
    assert (invitation.email, invitation.note, invitation.created_by) == (
        "ada@example.org",
        "from the reading group",
        admin,
    )
    assert abs(invitation.expires_at - timezone.now() - dt.timedelta(days=3)) < dt.timedelta(minutes=1)


def test_the_link_is_shown_once_and_never_stored(browser):
    response = invite(browser)
    token = link_in(response).partition("#")[2]
    assert "no-store" in response.headers["Cache-Control"]
    change = reverse("admin:accounts_invitation_change", args=[Invitation.objects.get().pk])
    for page in (LIST, change, reverse("admin:index")):
        assert token not in browser.get(page).content.decode()
    assert not LogEntry.objects.filter(change_message__contains=token).exists()


@pytest.mark.parametrize("days", ["", "0", "-1", "91", "1.5", "NaN", "1e30", "9" * 5000])
def test_a_strange_number_of_days_is_refused(browser, days):
    assert "days" in invite(browser, days=days).context["adminform"].form.errors
    assert not Invitation.objects.exists()


@pytest.mark.parametrize("email", ["ada", "ada@", "a" * 300 + "@example.org", "ada@example.org\nbcc: eve@example.org"])
def test_a_strange_address_is_refused(browser, email):
    assert "email" in invite(browser, email=email).context["adminform"].form.errors
    assert not Invitation.objects.exists()


@pytest.mark.usefixtures("mailing")
def test_the_link_is_mailed_to_the_address_it_is_for(browser):
    response = invite(browser, email="ada@example.org")
    (message,) = mail.outbox
    assert message.to == ["ada@example.org"]
    assert link_in(response) in message.body
    assert "within 7 days" in message.body
    assert "The link was sent to" in response.content.decode()


@pytest.mark.usefixtures("mailing")
def test_an_invitation_for_anybody_is_mailed_to_no_one(browser):
    invite(browser)
    assert not mail.outbox


@pytest.mark.usefixtures("mailing")
def test_a_mail_that_fails_is_said_and_the_link_can_be_copied(browser, settings):
    settings.EMAIL_BACKEND = "tests.accounts.test_invitation_admin.BrokenServer"
    response = invite(browser, email="ada@example.org")
    assert "could not be sent" in response.content.decode()
    assert invitations.find_by_token(link_in(response).partition("#")[2]) == Invitation.objects.get()


def test_a_site_without_mail_says_so(browser):
    assert "This site can’t send email" in invite(browser, email="ada@example.org").content.decode()
    assert not mail.outbox


@pytest.mark.usefixtures("mailing")
def test_a_new_link_is_for_the_same_invitation_and_ends_the_older_one(browser):
    old = link_in(invite(browser, email="ada@example.org"))
    invitation = Invitation.objects.get()
    new = link_in(press(browser, invitation, "make_new_link"))
    assert invitations.find_by_token(old.partition("#")[2]) is None
    assert invitations.find_by_token(new.partition("#")[2]) == invitation
    assert len(mail.outbox) == 2


def test_what_was_used_or_revoked_gets_no_new_link(browser):
    for field in ("used_at", "revoked_at"):
        invite(browser)
        invitation = Invitation.objects.first()
        Invitation.objects.filter(pk=invitation.pk).update(**{field: timezone.now()})
        assert press(browser, invitation, "make_new_link").status_code == 302
        assert Invitation.objects.first().token_hash == invitation.token_hash


def test_an_invitation_is_revoked(browser):
    invite(browser)
    press(browser, Invitation.objects.get(), "revoke")
    assert Invitation.objects.get().state == "revoked"


def test_of_those_selected_only_what_is_unused_is_revoked(browser, ada):
    invite(browser)
    invite(browser)
    used = Invitation.objects.last()
    Invitation.objects.filter(pk=used.pk).update(used_at=timezone.now(), used_by=ada)
    keys = [invitation.pk for invitation in Invitation.objects.all()]
    browser.post(LIST, {"action": "revoke_selected", "_selected_action": keys})
    assert [invitation.state for invitation in Invitation.objects.all()] == ["revoked", "used"]


def test_saving_a_note_keeps_what_a_sign_up_wrote_meanwhile(browser, ada, monkeypatch):
    invite(browser)
    invitation = Invitation.objects.get()
    used = {"used_at": timezone.now(), "used_by": ada}
    save = Invitation.save
    monkeypatch.setattr(
        Invitation, "save", lambda row, **options: (Invitation.objects.update(**used), save(row, **options))
    )
    url = reverse("admin:accounts_invitation_change", args=[invitation.pk])
    browser.post(url, {"note": "for Ada", "used_at": "", "token_hash": "forged", "expires_at": "2099-01-01"})
    stored = Invitation.objects.get()
    assert (stored.note, stored.used_by, stored.state) == ("for Ada", ada, "used")
    assert (stored.token_hash, stored.expires_at) == (invitation.token_hash, invitation.expires_at)


def test_the_list_says_who_used_it_and_what_state_it_is_in(browser, ada):
    past = timezone.now() - dt.timedelta(days=1)
    states = {
        "open": {},
        "used": {"used_at": past, "used_by": ada},
        "revoked": {"revoked_at": past},
        "ended": {"expires_at": past},
    }
    for state, fields in states.items():
        invite(browser, note=f"is {state}")
        Invitation.objects.filter(note=f"is {state}").update(**fields)
    assert ada.email in browser.get(LIST).content.decode()
    for state in states:
        assert [row.note for row in browser.get(LIST, {"state": state}).context["cl"].result_list] == [f"is {state}"]


def test_no_invitation_is_deleted(browser):
    invite(browser)
    key = Invitation.objects.get().pk
    assert browser.post(reverse("admin:accounts_invitation_delete", args=[key]), {"post": "yes"}).status_code == 403


def test_a_reviewer_invites_no_one(db):
    reviewer = browser_of(User.objects.create_user("rita@example.org", role="reviewer"))
    assert reviewer.get(LIST).status_code == invite(reviewer).status_code == 403
    assert not Invitation.objects.exists()

import datetime as dt

import pytest
from django.contrib.auth import get_user
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core import mail
from django.core.exceptions import ValidationError
from django.db import transaction
from django.test import Client

from chatsite.accounts.models import User
from tests.accounts.browsers import Browsers
from tests.accounts.conftest import PASSWORD
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db
NEW = {"password1": "a wholly new one 3F", "password2": "a wholly new one 3F"}


def open_reset_link(client: Client, path: str) -> str:
    """Follow the link of the mail to the form, and return the form's path."""
    return client.get(path, follow=True).redirect_chain[-1][0]


def test_a_forgotten_password_is_replaced_by_way_of_a_mail(client, ada, mailed_path, sign_in):
    client.post("/accounts/password/reset/", {"email": "ADA@example.org"})
    form = open_reset_link(client, mailed_path())
    assert client.post(form, NEW).headers["Location"] == "/accounts/password/reset/key/done/"
    sign_in(client, ada.email, NEW["password1"])
    assert get_user(client) == ada


@pytest.mark.parametrize(
    ("password", "is_refused"),
    [
        ("Cloudtalker2026", True),  # SITE_NAME
        ("windowseat!!", True),
        ("chat.example.org1", True),  # the host of SITE_URL
        ("ada@example.org", True),
        ("LovelaceLovelace", True),
        ("a seat in row 12, cloudtalker", False),
    ],
)
def test_a_password_is_not_like_the_site_or_its_user(settings, password, is_refused):
    settings.SITE_NAME, settings.SITE_URL = "Cloudtalker", "https://chat.example.org"
    user = User(email="ada@example.org", name="Ada LovelaceLovelac")
    if is_refused:
        with pytest.raises(ValidationError, match="too similar"):
            validate_password(password, user)
    else:
        validate_password(password, user)


def test_a_sign_up_with_the_site_s_own_name_as_password_is_refused(client, sign_up, settings):
    page = sign_up(client, "bob@example.org", f"{settings.SITE_NAME}2026").content.decode()
    assert "too similar to the name or address of this site" in page
    assert not User.objects.exists()


def test_a_reset_link_works_once(client, ada, mailed_path):
    client.post("/accounts/password/reset/", {"email": ada.email})
    client.post(open_reset_link(client, mailed_path()), NEW)
    assert "no longer works" in Client().get(mailed_path()).content.decode()


@pytest.mark.django_db(transaction=True)
def test_of_two_with_one_reset_link_at_once_one_sets_the_password(client, ada, mailed_path):
    client.post("/accounts/password/reset/", {"email": ada.email})
    people = [Client(), Client()]
    forms = [open_reset_link(each, mailed_path()) for each in people]
    with Browsers() as browsers:
        with transaction.atomic():
            list(User.objects.select_for_update())
            answers = [browsers.start(each.post, form, NEW) for each, form in zip(people, forms, strict=True)]
            wait_for_lock_waits(2)
        responses = [answer.result() for answer in answers]
    assert sorted(response.status_code for response in responses) == [200, 302]
    assert sum("no longer works" in response.content.decode() for response in responses) == 1


def test_a_reset_link_ends_after_an_hour(client, ada, mailed_path, monkeypatch):
    asked_at = dt.datetime.now()
    client.post("/accounts/password/reset/", {"email": ada.email})
    for minutes, is_form in ((59, True), (61, False)):
        now = asked_at + dt.timedelta(minutes=minutes)
        monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda self, now=now: now)
        page = Client().get(mailed_path(), follow=True).content.decode()
        assert ("password1" in page, "no longer works" in page) == (is_form, not is_form)


def test_a_reset_link_does_not_stay_in_the_address_bar(client, ada, mailed_path):
    client.post("/accounts/password/reset/", {"email": ada.email})
    assert open_reset_link(client, mailed_path()).endswith("-set-password/")


def test_a_link_in_a_mail_leads_to_this_site_whatever_host_was_asked_for(client, ada, settings):
    client.post("/accounts/password/reset/", {"email": ada.email}, headers={"host": "localhost:6666"})
    assert settings.SITE_URL + "/accounts/password/reset/key/" in mail.outbox[0].body
    assert "6666" not in mail.outbox[0].body


def test_asking_for_a_reset_does_not_tell_who_has_an_account(client, ada):
    known, unknown = (client.post("/accounts/password/reset/", {"email": e}) for e in (ada.email, "x@example.org"))
    assert (known.status_code, known.headers["Location"]) == (unknown.status_code, unknown.headers["Location"])
    assert len(mail.outbox) == 2


def test_a_switched_off_account_gets_no_reset_link(client, ada):
    ada.is_active = False
    ada.save()
    client.post("/accounts/password/reset/", {"email": ada.email})
    assert "/password/reset/key/" not in mail.outbox[0].body


def test_resets_for_one_address_are_limited(client, ada):
    codes = [client.post("/accounts/password/reset/", {"email": ada.email}).status_code for _ in range(6)]
    assert codes == [302] * 5 + [429]


def test_a_mail_server_that_is_away_breaks_no_page_and_is_one_line_of_the_log(
    client, ada, settings, unused_tcp_port, caplog
):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", unused_tcp_port
    response = client.post("/accounts/password/reset/", {"email": ada.email}, follow=True)
    assert "could not be sent" in response.content.decode()
    assert "the link is on its way" not in response.content.decode()
    [line] = [record for record in caplog.records if "could not be sent" in record.message]
    assert line.message.endswith("ConnectionRefusedError: [Errno 111] Connection refused")
    assert line.exc_info is None


def test_a_password_is_changed_by_who_knows_it(client, ada):
    client.force_login(ada)
    assert client.post("/accounts/password/change/", {"oldpassword": "wrong", **NEW}).status_code == 200
    assert client.post("/accounts/password/change/", {"oldpassword": PASSWORD, **NEW}).status_code == 302
    ada.refresh_from_db()
    assert ada.check_password(NEW["password1"])


def test_a_changed_password_signs_everyone_else_out(client, ada):
    elsewhere = Client()
    elsewhere.force_login(ada)
    client.force_login(ada)
    client.post("/accounts/password/change/", {"oldpassword": PASSWORD, **NEW})
    assert get_user(client) == ada
    assert not get_user(elsewhere).is_authenticated


def test_guesses_at_the_old_password_are_limited(client, ada):
    client.force_login(ada)
    wrong = {"oldpassword": "wrong", **NEW}
    codes = [client.post("/accounts/password/change/", wrong).status_code for _ in range(6)]
    assert codes == [200] * 5 + [429]

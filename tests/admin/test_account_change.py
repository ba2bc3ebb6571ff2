"""Account changes: an admin who could enter a user's account leaves a record, shown to the user and kept."""

from __future__ import annotations

import re

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import NoReverseMatch, reverse

from chatsite.accounts.account.account_data import account_data
from chatsite.accounts.models import AccountChange
from conversations.services.portability.delete_account import delete_account
from tests.admin.conftest import signed_in

from .user_form import ADD, LIST, PASSWORD, change, form_of

CHANGES = reverse("admin:accounts_accountchange_changelist")
BUTTON = "accounts_user_send_password_link"
MEANWHILE = "a seat by the aisle, 12C"


@pytest.fixture(autouse=True)
def _mail_is_sent(settings):
    settings.SMTP_URL = "smtp://mail.example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


@pytest.fixture
def post(admin_browser, django_capture_on_commit_callbacks):
    """Post to the admin, and let happen what waits for the commit."""

    def answer(url, data):
        with django_capture_on_commit_callbacks(execute=True):
            response = admin_browser.post(url, data)
        assert response.status_code == 302
        return response

    return answer


def act_on(user, action):
    return LIST, {"action": action, "_selected_action": [user.pk]}


def noted(user):
    return [(each.kind, each.detail, each.admin_email) for each in AccountChange.objects.filter(user=user)]


def own_page(user) -> str:
    return signed_in(user).get(reverse("account")).content.decode()


def test_no_admin_sets_the_password_of_anybody(admin_browser, post, alice):
    with pytest.raises(NoReverseMatch):
        reverse("admin:auth_user_password_change", args=[alice.pk])
    assert admin_browser.get(f"/admin/accounts/user/{alice.pk}/password/").status_code in (302, 404)
    before = alice.password
    post(change(alice), form_of(alice, password=PASSWORD, password1=PASSWORD, password2=PASSWORD))
    alice.refresh_from_db()
    assert alice.password == before


def test_a_link_to_choose_a_password_goes_to_the_person_and_is_on_record(post, alice, mailoutbox):
    page = post(*act_on(alice, "send_password_links"))
    link = next(found for mail in mailoutbox if (found := re.search(r"/accounts/password/reset/key/\S+", mail.body)))
    assert {address for mail in mailoutbox for address in mail.to} == {alice.email}
    assert link[0] not in page.content.decode()
    assert noted(alice) == [("link", "", "ada@example.org")]
    browser = Client()
    form = browser.get(link[0]).headers["Location"]
    assert browser.post(form, {"password1": MEANWHILE, "password2": MEANWHILE}).status_code == 302
    assert Client().login(email=alice.email, password=MEANWHILE)


def test_the_form_of_a_person_has_a_button_for_the_link(post, alice, admin_browser, mailoutbox):
    assert BUTTON in admin_browser.get(change(alice)).content.decode()
    assert BUTTON not in admin_browser.get(ADD).content.decode()
    post(change(alice), form_of(alice, **{BUTTON: "1"}))
    assert noted(alice) == [("link", "", "ada@example.org")]
    assert len(mailoutbox) == 2


def told_after(browser, url, data, settings, *, smtp_url) -> list[str]:
    """Return what the next page of the admin says."""
    settings.SMTP_URL = smtp_url
    return [str(each) for each in browser.post(url, data, follow=True).context["messages"]]


@pytest.mark.parametrize(
    ("smtp_url", "told"), [("smtp://mail.example.org", "links sent: 1."), ("", "printed where the site was started")]
)
def test_where_the_links_went_is_told_of_the_button_and_of_the_action(admin_browser, alice, settings, smtp_url, told):
    for url, data in ((change(alice), form_of(alice, **{BUTTON: "1"})), act_on(alice, "send_password_links")):
        [sentence] = told_after(admin_browser, url, data, settings, smtp_url=smtp_url)
        assert told in sentence


def test_what_the_button_saves_beside_the_link_is_told_too(admin_browser, alice, settings):
    data = form_of(alice, name="Alice A.", **{BUTTON: "1"})
    link, saved = told_after(admin_browser, change(alice), data, settings, smtp_url="smtp://mail.example.org")
    assert "links sent: 1." in link
    assert "was changed successfully" in saved


def test_an_address_in_other_letter_case_is_the_same_one(post, alice, mailoutbox):
    EmailAddress.objects.create(user=alice, email=alice.email, primary=True, verified=True)
    post(change(alice), form_of(alice, email="Alice@Example.ORG"))
    assert EmailAddress.objects.get(user=alice).verified
    assert noted(alice) == []
    assert not mailoutbox


def test_a_changed_address_is_told_to_the_one_before(post, alice, mailoutbox):
    EmailAddress.objects.create(user=alice, email=alice.email, primary=True, verified=True)
    post(change(alice), form_of(alice, email="new@example.org"))
    assert noted(alice) == [("address", "alice@example.org", "ada@example.org")]
    [mail] = mailoutbox
    assert mail.to == ["alice@example.org"]
    assert "ada@example.org" in mail.body
    assert "It was alice@example.org before" in own_page(alice)


def test_removed_second_factors_are_told(post, alice, mailoutbox):
    Authenticator.objects.create(user=alice, type=Authenticator.Type.RECOVERY_CODES, data={})
    post(*act_on(alice, "remove_second_factors"))
    assert noted(alice) == [("factors", "", "ada@example.org")]
    assert [mail.to for mail in mailoutbox] == [[alice.email]]
    assert "Your second factors were removed." in own_page(alice)


@pytest.mark.parametrize("role", ["reviewer", "admin"])
def test_a_role_that_is_given_is_told(post, alice, mailoutbox, role):
    post(change(alice), form_of(alice, role=role))
    assert noted(alice) == [("role", role, "ada@example.org")]
    assert f"Your role was changed to {role}." in mailoutbox[0].body


def test_what_opens_nothing_is_not_told(post, alice, mailoutbox):
    post(change(alice), form_of(alice, name="Alice A."))
    assert noted(alice) == []
    assert not mailoutbox
    assert "Changed by an admin" not in own_page(alice)


def test_where_no_mail_is_sent_the_record_is_there_all_the_same(post, alice, settings, mailoutbox):
    settings.SMTP_URL = ""
    post(change(alice), form_of(alice, role="reviewer"))
    assert [kind for kind, *_ in noted(alice)] == ["role"]
    assert not mailoutbox


@pytest.mark.parametrize("values", [{"kind": "role"}, {"admin_email": "x@example.org"}, {"detail": "forged"}])
def test_the_database_lets_no_one_rewrite_it(post, alice, values):
    post(*act_on(alice, "remove_second_factors"))
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        AccountChange.objects.update(**values)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        AccountChange.objects.all().delete()
    assert noted(alice) == [("factors", "", "ada@example.org")]


def test_it_forgets_a_person_who_is_gone(post, alice):
    post(change(alice), form_of(alice, email="new@example.org"))
    alice.refresh_from_db()
    delete_account(alice)
    row = AccountChange.objects.get()
    assert (row.user, row.detail, row.kind) == (None, "", "address")


def test_admins_still_read_it_of_a_person_who_is_gone(post, alice, admin_browser):
    post(change(alice), form_of(alice, role="reviewer"))
    delete_account(alice)
    row = reverse("admin:accounts_accountchange_change", args=[AccountChange.objects.get().pk])
    assert [admin_browser.get(url).status_code for url in (CHANGES, row)] == [200, 200]


def test_it_outlives_the_admin_who_did_it(post, alice, superuser):
    post(*act_on(alice, "remove_second_factors"))
    superuser.delete()
    assert AccountChange.objects.get().admin is None
    assert "ada@example.org" in own_page(alice)


def test_admins_read_it_and_reviewers_do_not(post, alice, admin_browser, reviewer_browser):
    post(change(alice), form_of(alice, email="new@example.org"))
    page = admin_browser.get(CHANGES)
    assert "alice@example.org" in page.content.decode()
    row = reverse("admin:accounts_accountchange_change", args=[AccountChange.objects.get().pk])
    assert admin_browser.get(row).status_code == 200
    assert [reviewer_browser.get(url).status_code for url in (CHANGES, row)] == [403, 403]


def test_it_comes_with_what_the_person_takes_along(post, alice):
    post(change(alice), form_of(alice, role="reviewer"))
    [told] = account_data(alice)["changed_by_admins"]
    assert (told["kind"], told["detail"], told["admin_email"]) == ("role", "reviewer", "ada@example.org")

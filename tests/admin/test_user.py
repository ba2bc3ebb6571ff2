"""Accounts in the admin: what they use, and who may change them."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.urls import reverse

from chatsite.accounts.models import User
from tests.admin.conftest import signed_in
from tests.admin.stored import make_completion, make_conversation, make_person

from .user_form import ADD, LIST, NO_LIMITS, PASSWORD, change, form_of


def test_the_list_takes_the_same_queries_for_5_and_for_50(queries_for):
    for number in range(5):
        make_conversation(make_person(f"person{number}"))
    few = queries_for(LIST)
    for number in range(45):
        make_conversation(make_person(f"more{number}"))
    assert queries_for(LIST) == few <= 6


def test_the_list_says_what_everyone_uses(admin_browser, alice):
    make_conversation(alice, turns=2)
    make_completion(alice, cost_usd=None)
    row = next(each for each in admin_browser.get(LIST).context["cl"].result_list if each == alice)
    assert (row.owned_conversations, row.input_tokens, row.output_tokens, row.unknown_costs) == (1, 309, 21, 1)
    assert row.last_active_at == alice.conversations.get().last_active_at


def test_an_account_is_made_with_an_address_alone_and_its_password_chosen_by_a_mailed_link(
    admin_browser, mailoutbox, django_capture_on_commit_callbacks
):
    forged = {"password": PASSWORD, "password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    with django_capture_on_commit_callbacks(execute=True):
        added = admin_browser.post(ADD, {"email": "Bob@Example.org", "name": "Bob"} | forged)
    assert added.status_code == 302
    bob = User.objects.get(email="bob@example.org")
    assert not bob.has_usable_password()
    assert EmailAddress.objects.get(user=bob).primary
    assert [mail.to for mail in mailoutbox if "/password/reset/key/" in mail.body] == [[bob.email]]


def test_an_address_that_someone_has_is_refused_in_any_letter_case(admin_browser, alice):
    response = admin_browser.post(ADD, {"email": "ALICE@example.org"})
    assert "This address is already taken" in str(response.context["adminform"].form.errors["email"])


def test_a_changed_address_is_the_one_that_signs_in(admin_browser, alice):
    EmailAddress.objects.create(user=alice, email=alice.email, primary=True, verified=True)
    assert admin_browser.post(change(alice), form_of(alice, email="new@example.org")).status_code == 302
    (address,) = EmailAddress.objects.filter(user=alice)
    assert (address.email, address.primary, address.verified) == ("new@example.org", True, False)


def test_accounts_are_deactivated_and_activated_but_not_one_s_own(admin_browser, superuser, alice):
    keys = [alice.pk, superuser.pk]
    for action, is_active in (("deactivate", False), ("activate", True)):
        admin_browser.post(LIST, {"action": action, "_selected_action": keys})
        alice.refresh_from_db()
        superuser.refresh_from_db()
        assert alice.is_active is is_active
        assert superuser.is_active


def by_action(browser, user: User) -> None:
    for action in ("deactivate", "activate"):
        browser.post(LIST, {"action": action, "_selected_action": [user.pk]})


def by_form(browser, user: User) -> None:
    fields = form_of(user)
    browser.post(change(user), {name: value for name, value in fields.items() if name != "is_active"})
    browser.post(change(user), fields)


@pytest.mark.parametrize("deactivate_and_activate", [by_action, by_form])
def test_a_session_from_before_a_deactivation_is_not_valid_after_it(admin_browser, alice, deactivate_and_activate):
    browser = signed_in(alice)
    deactivate_and_activate(admin_browser, alice)
    alice.refresh_from_db()
    assert alice.is_active
    assert not alice.sessions.exists()
    assert not browser.get(reverse("account")).wsgi_request.user.is_authenticated


def test_a_deactivated_account_is_signed_out(admin_browser, alice):
    browser = signed_in(alice)
    admin_browser.post(LIST, {"action": "deactivate", "_selected_action": [alice.pk]})
    assert not alice.sessions.exists()
    assert not browser.get(reverse("account")).wsgi_request.user.is_authenticated


def test_no_account_is_deleted(admin_browser, alice):
    url = reverse("admin:accounts_user_delete", args=[alice.pk])
    assert admin_browser.post(url, {"post": "yes"}).status_code == 403
    admin_browser.post(LIST, {"action": "delete_selected", "_selected_action": [alice.pk], "post": "yes"})
    assert User.objects.filter(pk=alice.pk).exists()


def test_the_last_admin_can_not_lock_themselves_out(admin_browser, superuser):
    forged = {"email": superuser.email, "name": "Me", "role": "user"} | NO_LIMITS
    assert admin_browser.post(change(superuser), forged).status_code == 302
    superuser.refresh_from_db()
    assert superuser.name == "Me"
    assert superuser.is_active
    assert superuser.is_superuser


def test_an_admin_makes_a_reviewer(admin_browser, alice):
    assert admin_browser.post(change(alice), form_of(alice, role="reviewer")).status_code == 302
    alice.refresh_from_db()
    assert (alice.role, alice.is_staff, alice.is_superuser) == ("reviewer", True, False)


def test_a_reviewer_changes_no_one(reviewer_browser, alice):
    assert reviewer_browser.post(change(alice), form_of(alice, role="admin")).status_code == 403


def test_no_one_reads_a_hash(admin_browser, alice):
    alice.set_password(PASSWORD)
    alice.save()
    page = admin_browser.get(change(alice))
    assert page.status_code == 200
    assert alice.password.rsplit("$", 1)[1] not in page.content.decode()


def test_passwords_are_not_searched_for(admin_browser, alice):
    response = admin_browser.get(f"{LIST}?password__startswith=argon2", follow=True)
    assert response.status_code in (200, 400)
    assert response.status_code == 400 or "password__startswith" not in response.wsgi_request.GET


def test_hostile_names_are_text(admin_browser):
    person = make_person("bob")
    User.objects.filter(pk=person.pk).update(name="<script>alert(1)</script>")
    for url in (LIST, change(person)):
        assert "<script>alert" not in admin_browser.get(url).content.decode()

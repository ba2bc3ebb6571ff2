"""Roles: what each may do, at once, and that the site keeps an admin."""

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse

from chatsite.accounts.models import User
from tests.accounts.browsers import Browsers
from tests.accounts.conftest import PASSWORD
from tests.accounts.staff import browser_of, make_admin
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db
LIST = reverse("admin:accounts_user_changelist")
NO_LIMITS = {"limits-TOTAL_FORMS": "0", "limits-INITIAL_FORMS": "0"}


@pytest.fixture
def grace(db) -> User:
    return make_admin("grace@example.org")


@pytest.fixture
def hedy(db) -> User:
    return make_admin("hedy@example.org")


def change(client: Client, user: User, **fields: str):
    form = {"email": user.email, "name": user.name, "role": user.role, "gate_rule": user.gate_rule, "is_active": "on"}
    return client.post(reverse("admin:accounts_user_change", args=[user.pk]), form | NO_LIMITS | fields)


def deactivate(client: Client, *users: User):
    return client.post(LIST, {"action": "deactivate", "_selected_action": [user.pk for user in users]})


@pytest.mark.parametrize(("role", "status"), [("user", 302), ("reviewer", 200), ("admin", 200)])
def test_a_role_counts_at_once_in_a_session_that_is_open(ada, grace, role, status):
    browser = browser_of(ada)
    assert browser.get("/admin/").status_code == 302
    change(browser_of(grace), ada, role=role)
    assert browser.get("/admin/").status_code == status


def test_an_admin_who_is_demoted_changes_nothing_more(grace, hedy, ada):
    browser = browser_of(hedy)
    change(browser_of(grace), hedy, role="reviewer")
    assert change(browser, ada, role="admin").status_code == 403
    assert browser.get(LIST).status_code == 403


@pytest.mark.parametrize("forged", [{"role": "user"}, {"gate_rule": "blocked"}, {"is_active": ""}])
def test_no_one_changes_their_own_rights(grace, hedy, forged):
    change(browser_of(grace), grace, **forged)
    grace.refresh_from_db()
    assert (grace.role, grace.gate_rule, grace.is_active) == ("admin", "site", True)


@pytest.mark.parametrize("role", ["", "root", "ADMIN", "x" * 1000])
def test_there_is_no_other_role(grace, ada, role):
    assert "role" in change(browser_of(grace), ada, role=role).context["adminform"].form.errors


def test_with_a_second_admin_the_first_can_go(grace, hedy):
    change(browser_of(hedy), grace, role="user")
    deactivate(browser_of(hedy), grace)
    grace.refresh_from_db()
    assert (grace.role, grace.is_active) == ("user", False)


def demote(client: Client, user: User):
    return change(client, user, role="user")


def switch_off(client: Client, user: User):
    return change(client, user, is_active="")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", [demote, switch_off, deactivate])
@pytest.mark.parametrize("second", [demote, switch_off, deactivate])
def test_of_two_admins_who_take_each_other_s_rights_at_once_one_stays(first, second):
    grace, hedy = make_admin("grace@example.org"), make_admin("hedy@example.org")
    with Browsers() as browsers:
        by_grace, by_hedy = browser_of(grace), browser_of(hedy)
        with transaction.atomic():
            list(User.objects.admins().select_for_update())
            answers = [browsers.start(first, by_grace, hedy), browsers.start(second, by_hedy, grace)]
            wait_for_lock_waits(2)
        assert {answer.result().status_code for answer in answers} <= {200, 302}
    assert User.objects.admins().count() == 1


def test_an_admin_is_made_on_the_command_line(settings, monkeypatch, sign_in):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", email="Grace@Example.org", interactive=False, verbosity=0)
    client = Client()
    sign_in(client, "grace@example.org")
    assert client.get(LIST).status_code == 200


def test_the_admin_changes_passwords_on_the_account_page(grace):
    assert browser_of(grace).get("/admin/password_change/").headers["Location"] == "/accounts/password/change/"

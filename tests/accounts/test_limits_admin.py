"""Limits as admins set them: whatever is typed or forged, an answer and no broken page."""

import pytest
from django.db import DataError, IntegrityError, connection, transaction
from django.urls import reverse

from chatsite.accounts.limits import LIMITS
from chatsite.accounts.models import Limits, SiteBudget, User
from tests.accounts.staff import browser_of, make_admin

pytestmark = pytest.mark.django_db
ADD = reverse("admin:accounts_limits_add")
LIST = reverse("admin:accounts_limits_changelist")
BUDGET = reverse("admin:accounts_sitebudget_add")
STRANGE = ["-1", "NaN", "sNaN", "Infinity", "-Infinity", "1e30", "1e999999999", "9" * 5000, "0x10", "1,5", "²", "<b>"]
COUNTS = [name for name in LIMITS if not name.endswith("_usd")]
MONEY = ["money_per_day_usd", "money_per_month_usd"]


@pytest.fixture
def browser(db):
    return browser_of(make_admin("grace@example.org"))


def of_person(user: User) -> str:
    return reverse("admin:accounts_user_change", args=[user.pk])


def person_form(user: User, **limits: str) -> dict[str, str]:
    account = {"email": user.email, "name": "", "role": user.role, "gate_rule": user.gate_rule, "is_active": "on"}
    counts = {"limits-TOTAL_FORMS": "1", "limits-INITIAL_FORMS": str(Limits.objects.filter(user=user).count())}
    return account | counts | {f"limits-0-{name}": value for name, value in limits.items()}


@pytest.mark.parametrize("role", ["", "user", "reviewer", "admin"])
def test_limits_of_the_site_and_of_each_role_are_set(browser, role):
    assert browser.post(ADD, {"role": role, "messages_per_minute": "0", "money_per_day_usd": "0.25"}).status_code == 302
    limits = Limits.objects.get()
    assert (limits.user, limits.role or "", limits.messages_per_minute, limits.replies_at_once) == (None, role, 0, None)
    assert str(limits.money_per_day_usd) == "0.250000"


def test_limits_of_one_person_are_set_on_their_page(browser, ada):
    assert browser.post(of_person(ada), person_form(ada, replies_at_once="2")).status_code == 302
    assert Limits.objects.get().user == ada
    assert Limits.objects.get().replies_at_once == 2


def test_what_was_left_empty_stores_nothing(browser, ada):
    browser.post(of_person(ada), person_form(ada, replies_at_once=""))
    assert not Limits.objects.exists()


@pytest.mark.parametrize("value", [*STRANGE, "1.5", "1000000001"])
def test_a_strange_count_is_refused(browser, value):
    response = browser.post(ADD, dict.fromkeys(COUNTS, value))
    assert set(response.context["adminform"].form.errors) == set(COUNTS)
    assert not Limits.objects.exists()


@pytest.mark.parametrize("value", [*STRANGE, "0.0000001", "10000000000"])
@pytest.mark.parametrize("page", [ADD, BUDGET])
def test_a_strange_amount_is_refused(browser, page, value):
    response = browser.post(page, dict.fromkeys(MONEY, value))
    assert set(response.context["adminform"].form.errors) == set(MONEY)
    assert not Limits.objects.exists()
    assert not SiteBudget.objects.exists()


@pytest.mark.parametrize("value", STRANGE)
def test_a_strange_value_on_a_person_s_page_is_refused(browser, ada, value):
    response = browser.post(of_person(ada), person_form(ada, money_per_day_usd=value))
    assert response.status_code == 200
    assert not Limits.objects.exists()


@pytest.mark.parametrize("role", ["root", "x" * 1000, "USER"])
def test_a_forged_role_is_refused(browser, role):
    assert "role" in browser.post(ADD, {"role": role}).context["adminform"].form.errors


def test_a_person_is_none_of_the_roles(browser, ada):
    browser.post(ADD, {"user": ada.pk, "role": "user", "uploads_per_day": "1"})
    assert Limits.objects.get().user is None
    with pytest.raises(IntegrityError), transaction.atomic():
        Limits.objects.create(user=ada, role="user")


@pytest.mark.parametrize("owner", [{}, {"role": "user"}])
def test_there_is_one_row_for_each(browser, owner):
    Limits.objects.create(**owner)
    assert browser.post(ADD, {**owner, "messages_per_minute": "1"}).context["adminform"].form.errors
    assert Limits.objects.count() == 1


def test_whose_limits_they_are_stays(browser, ada):
    limits = Limits.objects.create(role="user")
    browser.post(reverse("admin:accounts_limits_change", args=[limits.pk]), {"user": ada.pk, "role": ""})
    limits.refresh_from_db()
    assert (limits.user, limits.role) == (None, "user")


def test_limits_of_someone_else_are_not_changed_on_a_person_s_page(browser, ada):
    foreign = Limits.objects.create(user=User.objects.create_user("bob@example.org"), uploads_per_day=1)
    Limits.objects.create(user=ada)
    browser.post(of_person(ada), person_form(ada, id=str(foreign.pk), uploads_per_day="9"))
    foreign.refresh_from_db()
    assert foreign.uploads_per_day == 1


def test_an_empty_field_shows_what_it_inherits_and_from_where(browser, ada, settings):
    settings.MESSAGES_PER_MINUTE = 1_200
    Limits.objects.create(money_per_day_usd="0.5")
    Limits.objects.create(role="user", replies_at_once=3)
    page = browser.get(of_person(ada)).content.decode()
    for words in ("1,200, from the settings", "0.5, from the site", "3, from the role", "no limit"):
        assert f'placeholder="{words}"' in page


def test_a_person_s_page_says_what_holds(browser, ada):
    Limits.objects.create(user=ada, uploads_per_day=7)
    page = browser.get(of_person(ada)).content.decode()
    assert "7, from this person" in page


def test_of_the_budget_there_is_one_form(browser):
    listed = reverse("admin:accounts_sitebudget_changelist")
    assert browser.get(listed).headers["Location"] == BUDGET
    assert browser.post(BUDGET, {"money_per_day_usd": "20", "money_per_month_usd": ""}).status_code == 302
    assert browser.get(listed).headers["Location"].endswith("/change/")
    assert browser.get(browser.get(listed).headers["Location"]).status_code == 200
    assert browser.get(BUDGET).headers["Location"] == browser.get(listed).headers["Location"]
    assert SiteBudget.objects.get().money_per_month_usd is None


def test_the_budget_is_changed(browser):
    SiteBudget.objects.create(money_per_day_usd=1)
    url = reverse("admin:accounts_sitebudget_change", args=[True])
    page = browser.get(url).content.decode()
    assert BUDGET not in page  # the only one can't be followed by another
    assert page.count(f'href="{url}"') == 0
    assert browser.post(url, {"money_per_day_usd": "0", "money_per_month_usd": "12.5"}).status_code == 302
    assert SiteBudget.objects.filter(money_per_day_usd=0, money_per_month_usd=12.5).exists()


def test_what_is_said_of_a_saved_budget_names_its_amounts(browser):
    page = browser.post(BUDGET, {"money_per_day_usd": "2.50", "money_per_month_usd": ""}, follow=True)
    assert "per day: $2.5, per month: no limit" in page.content.decode()


def test_a_list_is_called_by_what_is_in_it_and_an_empty_one_says_so(browser):
    page = browser.get(reverse("admin:accounts_invitation_changelist")).content.decode()
    assert "Invitations |" in page
    assert "None yet" in page


@pytest.mark.parametrize("table", ["accounts_limits", "accounts_sitebudget"])
@pytest.mark.parametrize("column", MONEY)
@pytest.mark.parametrize("value", ["-0.000001", "NaN", "Infinity", "-Infinity", "1e30"])
def test_the_database_refuses_what_is_no_amount(db, table, column, value):
    {"accounts_limits": Limits, "accounts_sitebudget": SiteBudget}[table].objects.create()
    with pytest.raises((IntegrityError, DataError)), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {column} = %s::text::numeric", [value])


def test_two_admins_who_save_at_once_are_told(browser, ada, monkeypatch):
    def save(limits, *args, **options):
        raise IntegrityError

    monkeypatch.setattr(Limits, "save", save)
    response = browser.post(of_person(ada), person_form(ada, uploads_per_day="1"))
    assert response.headers["Location"] == of_person(ada)


def test_a_reviewer_sets_nothing(db, ada):
    reviewer = browser_of(User.objects.create_user("rita@example.org", role="reviewer"))
    for url in (LIST, ADD, BUDGET, reverse("admin:accounts_sitebudget_changelist"), of_person(ada)):
        assert reviewer.get(url).status_code == reviewer.post(url, {"uploads_per_day": "9"}).status_code == 403
    assert not Limits.objects.exists()

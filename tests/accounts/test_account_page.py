import re

import pytest

from chatsite.accounts.models import User
from chatsite.version import product_version
from tests.support.inline_code import INLINE

pytestmark = pytest.mark.django_db
ENTRANCES = [
    "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/accounts/password/reset/done/",
    "/accounts/password/reset/key/done/", "/accounts/confirm-email/", "/accounts/inactive/", "/first-admin/",
]  # fmt: skip
OWN_PAGES = [
    "/account/", "/accounts/email/", "/accounts/password/change/", "/accounts/logout/", "/accounts/reauthenticate/",
]  # fmt: skip


def test_the_account_page_is_for_people_who_are_signed_in(client):
    assert client.get("/account/").headers["Location"] == "/accounts/login/?next=/account/"


def test_it_shows_the_address_and_saves_the_name(client, ada):
    client.force_login(ada)
    assert ada.email in client.get("/account/").content.decode()
    client.post("/account/", {"name": "Ada <b>L</b>"})
    assert User.objects.get().name == "Ada <b>L</b>"
    assert "<b>L" not in client.get("/account/").content.decode()


def test_it_tells_the_version_which_strangers_are_not_told(client, ada):
    assert product_version() not in client.get("/accounts/login/").content.decode()
    client.force_login(ada)
    assert f"Windowseat {product_version()}, under the MIT licence" in client.get("/account/").content.decode()


def test_it_changes_the_name_only(client, ada):
    client.force_login(ada)
    client.post("/account/", {"name": "Ada", "email": "eve@example.org", "role": "admin"})
    assert (User.objects.get().email, User.objects.get().is_staff) == (ada.email, False)


@pytest.mark.parametrize(("role", "is_staff"), [("user", False), ("reviewer", True), ("admin", True)])
def test_staff_find_the_admin_there(client, ada, role, is_staff):
    User.objects.update(role=role)
    client.force_login(ada)
    assert ('href="/admin/"' in client.get("/account/").content.decode()) is is_staff


@pytest.mark.parametrize("path", ENTRANCES + OWN_PAGES)
def test_every_page_has_our_look_a_heading_and_nothing_inline(client, ada, path):
    if path in OWN_PAGES:
        client.force_login(ada)
    page = client.get(path).content.decode()
    assert "css/tokens.css" in page or "bundles/conversation.css" in page
    assert page.count("<h1") == 1
    assert not re.search(INLINE, page)


@pytest.mark.parametrize("path", ENTRANCES + OWN_PAGES)
def test_every_field_has_its_label(client, ada, path):
    if path in OWN_PAGES:
        client.force_login(ada)
    page = client.get(path).content.decode()
    fields = re.findall(r'<(?:input|select)(?![^>]*type="hidden")[^>]*\sid="(\w+)"', page)
    assert set(fields) == set(re.findall(r'<label for="(\w+)"', page))


def test_a_page_that_does_not_exist_says_so_in_our_look(client):
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert "Page not found" in response.content.decode()

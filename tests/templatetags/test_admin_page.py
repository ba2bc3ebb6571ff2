"""A page of the admin as screen readers read it."""

from __future__ import annotations

import pytest
from django.utils.safestring import SafeString

from chatsite.accounts.models import User
from conversations.templatetags.admin_page import ELEMENT, ICON_CLASS, with_landmarks


def mended(html: str) -> str:
    return with_landmarks(SafeString(html))


def test_an_icon_beside_words_is_not_read():
    icon = """<span class="material-symbols-outlined md-18" x-bind:class="{'a': open > 1}">monitoring</span>"""
    hidden = icon.replace("<span", '<span aria-hidden="true"')
    assert mended(f"<a href='/'>{icon} Overview</a>") == f"<a href='/'>{hidden} Overview</a>"


def test_an_icon_that_is_hidden_already_stays_as_it_is():
    icon = '<span aria-hidden="true" class="material-symbols-outlined">add</span>'
    assert mended(icon) == icon


@pytest.mark.parametrize(("icon", "words"), [("search", "Search"), ("check_small", "Yes"), ("close_small", "No")])
def test_an_icon_alone_gets_words(icon, words):
    page = mended(f'<button type="submit">\n <span class="material-symbols-outlined">\n{icon}\n</span>\n</button>')
    assert f'<span class="visually-hidden">{words}</span>\n</button>' in page


@pytest.mark.parametrize("named", ['title="Go back"', 'aria-label="Go back"'])
def test_a_name_that_is_there_stays(named):
    assert "visually-hidden" not in mended(
        f'<a {named} href="/"><span class="material-symbols-outlined">search</span></a>'
    )


@pytest.mark.django_db
def test_a_page_of_the_admin_has_landmarks_and_no_icon_that_is_read(client):
    client.force_login(User.objects.create_superuser("ada@example.org"))
    for path in ("/admin/", "/admin/accounts/user/", "/admin/conversations/scenario/add/"):
        page = client.get(path, follow=True).text
        body = page[page.index('<div id="page"') :]
        assert body.count('role="main"') == body.count('role="banner"') == 1
        icons = [each["attributes"] for each in ELEMENT.finditer(body) if ICON_CLASS in each["attributes"]]
        assert len(icons) > 20
        assert sum("aria-hidden" not in attributes for attributes in icons) < 10  # of dialogs that stand outside

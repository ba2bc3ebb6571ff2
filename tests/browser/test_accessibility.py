"""axe-core finds nothing serious on any page, light or dark, wide or narrow."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.axe import find_faults

from .admin_rows import SET_UP
from .axe_faults import assert_none, faults_of
from .page_actions import composer, messages, open_menu, public_id_of, reload_until_current, say, session_of
from .share_actions import share

OWN_PAGES = (
    "/scenarios/",
    "/scenarios/new/",
    "/usage/",
    "/account/",
    "/account/readings/",
    "/account/delete/",
    "/account/prompts/",
    "/account/prompts/new/",
    "/account/shares/",
    "/account/about-me/",
    "/accounts/email/",
    "/accounts/password/change/",
    "/import/",
)
LIST_PAGES = tuple(f"/conversations/{name}/" for name in ("archived", "deleted", "folders", "select"))
# Wider than any page: a line of code, a table and two formulas.
WIDE = """
from conversations.models import Message
wide = "\\n\\n".join([
    "```\\n" + "a long line of code " * 40 + "\\n```",
    "\\n".join(["| column " * 40 + "|", "| --- " * 40 + "|", "| some words " * 40 + "|"]),
    "$$" + " + ".join(f"x_{{{{{{number}}}}}}" for number in range(200)) + "$$",
])
Message.objects.filter(conversation__public_id="{public_id}", role="assistant").update(content=wide)
"""
# What its menus lead to, as whole pages for those who have no scripts.
OF_A_CONVERSATION = ("rename/", "move/", "notes/", "documents/", "actions/", "export/")
OF_A_MESSAGE = ("menu/", "edit/")
OF_A_REPLY = ("rating/", "window/", "sources/")
MAKE_FOLDER = """
from conversations.models import Conversation, Folder
conversation = Conversation.objects.get(public_id="{public_id}")
conversation.folder = Folder.objects.create(owner=conversation.owner, name="Work")
conversation.save(update_fields=["folder"])
print(conversation.folder_id)
"""
# Too far to end within the test: one runs, the other was paused.
MAKE_IMPORTS = """
import datetime as dt
from django.utils import timezone
from conversations.models import ConversationImport, Conversation
owner = Conversation.objects.get(public_id="{public_id}").owner
facts = dict(owner=owner, total_bytes=1_000_000, read_bytes=400_000, started_at=timezone.now())
lease = timezone.now() + dt.timedelta(hours=1)
ConversationImport.objects.create(state="running", lease_until=lease, worker="elsewhere", **facts)
ConversationImport.objects.create(state="paused", **facts)
"""
WHO = """
from chatsite.accounts.sessions.session_store import SessionStore
print(SessionStore("{session}").get("_auth_user_id"))
"""
ASK_AT_THE_GATE = """
from chatsite.accounts.gate.passwords import set_password
from chatsite.accounts.models import User
user = User.objects.get(pk={pk})
user.gate_rule = "{rule}"
user.save(update_fields=["gate_rule"])
if {has_password}:
    set_password("a window seat, please", user=user)
"""
OUTSIDE = ("/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/no-such-page/")


def test_the_rules_find_what_is_wrong(page):
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any("button-name" in fault for fault in find_faults(page, "a button without a name"))


def test_a_new_conversation(page):
    assert_none(find_faults(page, "empty page"))


def test_a_conversation_with_pins_and_a_line(page):
    say(page, "My name is Andrew")
    open_menu(messages(page).first).get_by_role("menuitemcheckbox", name="Pin").click()
    say(page, "paint the hull " * 700)
    say(page, "and the deck " * 700)
    composer(page).fill("What is my name?")
    assert_none(find_faults(page, "conversation"))
    messages(page).first.evaluate("e => e.scrollIntoView()")
    assert_none(find_faults(page, "conversation, above the line"))


def test_what_is_wider_than_the_page(site, page):
    say(page, "My name is Andrew")
    site.run(WIDE.format(public_id=public_id_of(page)))
    reload_until_current(page)
    expect(messages(page).last.locator(":is(pre, .table-scroll, math)[tabindex='0']")).to_have_count(3)
    expect(messages(page).last.get_by_role("group", name="Code, wider than the page")).to_have_count(1)
    assert_none(find_faults(page, "wide parts of a message"))


def test_what_is_wide_can_be_reached_in_a_message_that_is_replaced(site, page):
    say(page, "My name is Andrew")
    site.run(WIDE.format(public_id=public_id_of(page)))
    page.reload()
    reached = messages(page).last.locator(":is(pre, .table-scroll, math)[tabindex='0']")
    expect(reached).to_have_count(3)
    stored = "article => {const copy = article.cloneNode(true); copy.querySelectorAll('[tabindex]')"
    messages(page).last.evaluate(
        stored + ".forEach(part => part.removeAttribute('tabindex')); article.replaceWith(copy)}"
    )
    expect(reached).to_have_count(3)


def test_the_window_of_a_reply_and_the_keys(page):
    say(page, "My name is Andrew").get_by_role("link", name="What the model saw").click()
    expect(page.get_by_role("dialog", name="What the model saw").locator(".row-newest")).to_be_visible()
    assert_none(find_faults(page, "inspector"))


def test_pages_of_ones_own(page):
    assert_none(faults_of(page, (*OWN_PAGES, *LIST_PAGES, "/import/")))


def test_pages_without_scripts_a_folder_and_imports(site, page):
    say(page, "My name is Andrew")
    public_id = public_id_of(page)
    [question, reply] = messages(page).evaluate_all("all => all.map(one => one.dataset.message)")
    folder = f"/conversations/folders/{site.run(MAKE_FOLDER.format(public_id=public_id))}/"
    site.run(MAKE_IMPORTS.format(public_id=public_id))
    addresses = (
        *(f"{page.url}{name}" for name in OF_A_CONVERSATION),
        *(f"{page.url}messages/{question}/{name}" for name in OF_A_MESSAGE),
        *(f"{page.url}replies/{reply}/{name}" for name in OF_A_REPLY),
        *(f"{folder}{name}" for name in ("", "documents/", "delete/")),
    )
    assert_none(faults_of(page, addresses))
    page.goto("/import/")
    expect(page.get_by_role("progressbar")).to_have_count(2)
    assert_none(find_faults(page, "imports that run"))


def test_the_gate(site, page):
    pk = site.run(WHO.format(session=session_of(page)))
    page.goto("about:blank")  # a page that is shut out goes to the gate by itself
    for rule, has_password in (("required", False), ("required", True), ("blocked", True)):
        site.run(ASK_AT_THE_GATE.format(pk=pk, rule=rule, has_password=has_password))
        assert_none(faults_of(page, ("/gate/",)))


def test_search_and_a_share(page):
    say(page, "My name is Andrew")
    form = f"{page.url}share/"
    link = share(page, "Names")
    assert_none(faults_of(page, (page.url, form, link, "/search/?q=name", "/search/?q=colour:lighthouse")))
    page.keyboard.press("Control+k")
    page.keyboard.type("name")
    expect(page.get_by_role("option").filter(has_text="Andrew")).to_have_count(3)  # the title, the question, the reply
    assert_none(find_faults(page, "palette"))
    page.get_by_role("option").filter(has_text="Andrew").last.click()
    expect(page.locator("[data-find-count]")).to_contain_text("of 2")
    assert_none(find_faults(page, "find in a conversation"))


def test_pages_outside(open_page):
    assert_none(faults_of(open_page("/accounts/login/"), OUTSIDE))


def test_the_admin(site, signed_in):
    page: Page = signed_in()
    say(page, "My name is Andrew")
    site.run(SET_UP.format(session=session_of(page)))
    page.goto("/admin/")
    addresses = page.locator("nav a[href^='/admin/']").evaluate_all("links => links.map(a => a.getAttribute('href'))")
    assert len(addresses) > 10
    assert_none(faults_of(page, ("/admin/", *dict.fromkeys(addresses))))


@pytest.mark.parametrize("width", [280, 320])
def test_nothing_is_lost_in_a_very_narrow_window(signed_in, width):
    page: Page = signed_in(viewport={"width": width, "height": 600})
    say(page, "show me markdown")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    composer(page).fill("still here")
    expect(page.get_by_role("button", name="Send")).to_be_in_viewport()


def test_half_of_the_thread_is_left_at_twice_the_size(signed_in):
    page: Page = signed_in(viewport={"width": 640, "height": 400})  # 1280 x 800 at 200 %
    say(page, "show me markdown")
    box = page.locator('[data-part="scroller"]').bounding_box()
    assert box
    assert box["height"] >= 200

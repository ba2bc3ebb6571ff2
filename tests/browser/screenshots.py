"""The pictures of the documents, made from a running site: `make pictures` writes them into docs/images.

The replies in them are written below and come from the tests' own provider. All around them is the product.

    python -m tests.browser.screenshots [FOLDER]
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.faults.databases import Database, new_database, prepare, server_address
from tests.support.sent_pictures import text_of
from tests.support.source import PROJECT
from tests.support.upstream import FAULTS, count_prompt, serve_upstream
from tests.support.upstream_answer import Answer

from .document_actions import add_documents, document_row
from .page_actions import begin_another, composer, replies, say
from .sites import Site, running_site

IMAGES = PROJECT / "docs" / "images"
MODEL = "cabin-1"
WINDOW_TOKENS, REPLY_TOKENS = 900, 300
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

ALLERGY = "We are four, two of them children, and Ida must not eat nuts. We leave Hamburg on 3 July."
ROUTE = "Which way to Lisbon would you take by train?"
TICKETS = "What do the tickets cost, and when do they go on sale?"
DAYS = "Plan our four days in Lisbon, please."
CODE = "Write me a function that adds up what we spend on each day."
PACKING = "And a packing list for the night train."
RECALLED = "We book a table for the second evening. What must Ida not eat, and how many children are we?"
LIBRARY = "When does the reading room close on Saturday?"
ANSWERS = {
    ALLERGY: "Noted: **four of you**, two children, **no nuts for Ida**, and you leave Hamburg on 3 July.\n\nShall we "
    "begin with the way there or with the days in Lisbon?",
    ROUTE: """\
By day to Paris, by night to the border, and along the river in the morning:

| Leg | Leaves | Arrives | Change |
| --- | --- | --- | --- |
| Hamburg – Paris | 06:46 | 15:12 | Karlsruhe |
| Paris – Hendaye | 16:04 | 20:43 | – |
| Irun – Lisbon | 22:05 | 07:20 | – |

The last leg has compartments for four, so the children can sleep. Sit on the **left** in the morning: that is where the
Tagus is.""",
    TICKETS: """\
For four, with the children's fares:

1. **Hamburg – Paris** about €190, on sale six months before
2. **Paris – Hendaye** about €150, four months before
3. **Irun – Lisbon** about €240 for a compartment, two months before

That makes about €580. Buy the night train first: its compartments are gone within days, the others can wait a week.""",
    DAYS: """\
**Friday.** Arrive, leave the bags at Santa Apolónia, breakfast in Alfama. The castle in the afternoon, when the school
groups have left.

**Saturday.** The aquarium takes all morning with children. Back along the river by bicycle; the way is flat and without
cars.

**Sunday.** Tram 28 before nine, while there is room to sit. The flea market, then the beach at Cascais: forty minutes
by train, and the water is calm.

**Monday.** Belém: the tower from outside, the monastery from inside. The train home leaves at 21:25.""",
    CODE: '''\
```python
from collections import defaultdict


def spent_by_day(receipts):
    """Return day → euros. A receipt is (day, euros)."""
    days = defaultdict(float)
    for day, euros in receipts:
        days[day] += euros
    return dict(days)
```

Call it with a list of pairs: `spent_by_day([("Friday", 12.5), ("Friday", 8)])` is `{"Friday": 20.5}`.''',
    PACKING: """\
- Earplugs and a scarf for each child: the corridor stays lit
- Breakfast for four, since the dining car opens after Lisbon's suburbs
- Slippers, water, a torch that shines red
- Tickets on paper too, for the border""",
    RECALLED: "Tell them that you are **four, two of them children**, and that **Ida must not eat nuts**: ask for a "
    "kitchen that keeps them apart, not only for a dish without them.",
    LIBRARY: "On Saturdays the reading room closes at **16:00** [1]; on other days at 20:00.",
}
LIBRARY_FILE = (
    "library.md",
    "# The town library\n\n## Hours\n\nThe reading room is open from 9:00 to 20:00, on Saturdays until 16:00.\n\n"
    "## Loans\n\nBooks are lent for four weeks, films for one.\n",
)
MAKE_ADMIN = """
from chatsite.accounts.models import User
from tests.support.sockets import sign_in
user = User.objects.create(email="ida@example.org", password="!", role="admin")
print(sign_in(user))
"""


async def answer_from_table(answer: Answer) -> None:
    """Answer the newest question with what is written for it."""
    newest = [text_of(each["content"]) for each in answer.exchange.body["messages"] if each["role"] == "user"][-1]
    text = next((reply for question, reply in ANSWERS.items() if newest.endswith(question)), "A trip to Lisbon")
    answer.prompt_tokens = count_prompt(answer.exchange.body)
    await answer.head()
    await answer.texts(re.findall(r"\s*\S+", text))
    await answer.finish()


@contextmanager
def pictured_site(database: Database, folder: Path) -> Iterator[Site]:
    """Serve the site that is shown, with a small window, so that messages leave it."""
    with (
        patch.dict(FAULTS, {MODEL: answer_from_table}),  # for other tests it is no model of the provider
        serve_upstream() as upstream,
        running_site(
            database,
            folder,
            OPENAI_BASE_URL=upstream.base_url,
            OPENAI_API_KEY="sk-test",
            LANGUAGE_MODELS=f"{MODEL} context_window={WINDOW_TOKENS} reply_reserve={REPLY_TOKENS} "
            "encoding=o200k_base input_usd=2 output_usd=8",
            MESSAGES_PER_MINUTE=0,
            SHARES="anyone",
        ) as site,
    ):
        yield site


def take_all(site: Site, browser: Browser, folder: Path) -> list[str]:
    """Play the tour and write a picture of each stop into *folder*; return their names."""
    session = site.run(MAKE_ADMIN)
    wide = open_page(site, browser, session, viewport=WIDE, color_scheme="light")
    phone = open_page(site, browser, session, viewport=PHONE, color_scheme="dark", has_touch=True, is_mobile=True)
    for page, stops in ((wide, STOPS), (phone, PHONE_STOPS)):
        for show in stops:
            show(page)
            page.screenshot(path=folder / f"{name_of(show)}.png", animations="disabled")
            page.keyboard.press("Escape")
            page.mouse.move(0, 0)
        page.context.close()
    return [name_of(show) for show in STOPS + PHONE_STOPS]


def open_page(site: Site, browser: Browser, session: str, **options: Any) -> Page:
    context = browser.new_context(base_url=site.address, reduced_motion="reduce", locale="en-GB", **options)
    context.add_cookies([{"name": "sessionid", "value": session, "url": site.address}])
    page = context.new_page()
    page.goto("/")
    return page


def name_of(show: Callable[[Page], None]) -> str:
    """Return the name of a stop's picture."""
    return show.__name__.removeprefix("show_").replace("_", "-")


def show_begin(page: Page) -> None:
    expect(composer(page)).to_be_focused()


def show_reply(page: Page) -> None:
    for question in (ALLERGY, ROUTE):
        say(page, question)


def show_before_sending(page: Page) -> None:
    composer(page).fill(TICKETS)
    page.get_by_role("button", name="What would be sent").locator(".meter-text").click()
    expect(page.get_by_role("dialog", name="What would be sent now")).to_be_visible()


def show_line(page: Page) -> None:
    composer(page).fill("")
    for question in (TICKETS, DAYS, CODE, PACKING):
        say(page, question)
    line = page.get_by_role("separator", name="no longer sees anything above")
    line.evaluate("line => line.scrollIntoView({ block: 'center' })")


def show_conversation(page: Page) -> None:
    reply = say(page, RECALLED)
    reply.locator(".window-link").click()
    expect(page.get_by_role("dialog", name="What the model saw")).to_be_visible()


def show_document(page: Page) -> None:
    begin_another(page)
    add_documents(page, LIBRARY_FILE)
    expect(document_row(page, "library.md")).to_contain_text("Ready", ignore_case=True)
    say(page, LIBRARY)
    replies(page).last.get_by_role("button", name="[1]", exact=True).click()
    expect(page.get_by_role("dialog", name="Passage")).to_contain_text("on Saturdays until")


def show_search(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("nuts")
    expect(page.get_by_role("option").nth(1)).to_be_visible()


def show_admin(page: Page) -> None:
    page.goto("/admin/")
    expect(page.locator("canvas").first).to_be_visible()


def show_phone(page: Page) -> None:
    page.locator('a[href^="/c/"]', has_text="We are four").first.evaluate("link => link.click()")
    line = page.get_by_role("separator", name="no longer sees anything above")
    line.evaluate("line => line.scrollIntoView({ block: 'center' })")


STOPS: list[Callable[[Page], None]] = [
    show_begin,
    show_reply,
    show_before_sending,
    show_line,
    show_conversation,
    show_document,
    show_search,
    show_admin,
]
PHONE_STOPS = [show_phone]


def main() -> None:
    import django

    django.setup()
    from tests.conftest import find_tool

    folder = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
    server = Database("postgres", server_address())
    with new_database(server) as database, tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        prepare(database)
        browser = playwright.chromium.launch(
            executable_path=find_tool("browser"), args=["--no-sandbox", "--disable-gpu"]
        )
        with pictured_site(database, Path(data)) as site:
            print(f"{folder}: {', '.join(take_all(site, browser, folder))}")
        browser.close()


if __name__ == "__main__":
    main()

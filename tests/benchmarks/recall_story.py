"""A fact of the first ten of 100,000 imported messages, asked for in Chromium: how long all of it takes.

The conversation is stored as its owner would import it and indexed as the run worker does, before the site starts. The
demo model answers, with 4,096 tokens. The reply must quote the message, which must be marked in the thread, and the way
to it from "What the model saw" must lead there.

    python -m tests.benchmarks.recall_story [--messages 100000] [--pictures FOLDER] [--json FILE]
"""

from __future__ import annotations

import datetime as dt
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.benchmarks._figures import Figures, arguments_for, percentile, write_json
from tests.benchmarks._processes import started
from tests.benchmarks._site import temporary_site
from tests.browser.conftest import ARGUMENTS
from tests.browser.page_actions import composer, messages, replies, streaming
from tests.conftest import find_tool
from tests.support.ports import free_port

MESSAGES = 100_000
LOOK_UPS = 20
PATIENCE_MS = 60_000
FACT = "By the way, my boat is named Kestrel and I painted her blue."
QUESTION = "What is the name of my boat?"
FACT_POSITION = 4
TOPICS = ["bread", "cheese", "gardens", "trains", "weather", "paint", "roofs", "bicycles", "chess", "films", "soup"]
# Where the text of the reply after so many others is no longer empty; looked for in every frame of the screen.
HAS_TEXT = """before => {
  const replies = document.querySelectorAll('[data-role="assistant"]');
  return replies.length > before && replies[replies.length - 1].querySelector("[data-content]")?.innerText.trim();
}"""


def measure(*, size: int, pictures: Path | None) -> Figures:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with temporary_site(PORT=str(port), SITE_URL=address, LANGUAGE_MODELS="", OPENAI_BASE_URL=""):
        imported, path, cookie = import_and_index(size)
        with started("manage.py", "serve", ready="Stop it with"), chromium_page(address, cookie) as page:
            asked = ask_in(page, path, pictures)
        return {"messages": size, **imported, **asked, "look_up_ms": look_up_ms(path)}


def import_and_index(size: int) -> tuple[Figures, str, str]:
    """Return what storing took, the path of the conversation's page, and the session of its owner."""
    from chatsite.accounts.models import User
    from conversations.services.message_index.index_messages import index_conversation
    from conversations.services.portability.chat_history import ChatHistory
    from tests.support.sockets import sign_in

    user = User.objects.create_user("story@example.org")
    messages = list(openai_messages(size))
    began = time.perf_counter()
    conversation = ChatHistory.from_openai(user=user, messages=messages).conversation
    stored = time.perf_counter()
    index_conversation(conversation.pk)
    indexing_seconds = time.perf_counter() - stored
    took = {
        "storing_seconds": stored - began,
        "indexing_seconds": indexing_seconds,
        "indexed_per_second": size / indexing_seconds,
    }
    return took, f"/c/{conversation.public_id}/", sign_in(user)


def openai_messages(size: int) -> Iterator[dict[str, str]]:
    chosen = random.Random(7)
    for turn in range(size // 2):
        one, two = chosen.sample(TOPICS, 2)
        ask = f"Tell me something about {one} and {two}, please, number {turn}."
        yield {"role": "user", "content": FACT if 2 * turn == FACT_POSITION else ask}
        said = f"About {one}: there is much to say of it. With {two} it goes well in autumn. "
        yield {"role": "assistant", "content": said * chosen.randint(1, 4)}


@contextmanager
def chromium_page(address: str, cookie: str) -> Iterator[Page]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_tool("browser"), args=ARGUMENTS)
        context = browser.new_context(base_url=address)
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": address}])
        context.set_default_timeout(PATIENCE_MS)
        yield context.new_page()
        browser.close()


def ask_in(page: Page, path: str, pictures: Path | None) -> Figures:
    """Open the conversation, ask, and go from the reply to what it quotes. Raises `AssertionError` if it does not."""
    page.goto("/account/")  # the server's own first page and the browser's are not what is measured
    began = time.perf_counter()
    page.goto(path)
    expect(messages(page).last).to_be_in_viewport()
    expect(composer(page)).to_be_editable()
    opened_seconds = time.perf_counter() - began
    take_picture(page, pictures, "opened")
    composer(page).fill(QUESTION)
    before = replies(page).count()
    began = time.perf_counter()
    composer(page).press("Enter")
    page.wait_for_function(HAS_TEXT, arg=before)
    first_token_seconds = time.perf_counter() - began
    expect(streaming(page)).to_have_count(0)
    expect(replies(page).last).to_contain_text(FACT)
    take_picture(page, pictures, "answered")
    jump_seconds = go_to_fact(page, pictures)
    return {"open_seconds": opened_seconds, "first_token_seconds": first_token_seconds, "jump_seconds": jump_seconds}


def go_to_fact(page: Page, pictures: Path | None) -> float:
    """Go from "What the model saw" to the recalled message. Returns how long the jump took."""
    replies(page).last.get_by_role("link", name="What the model saw").click()
    panel = page.get_by_role("dialog", name="What the model saw")
    row = panel.locator(".row-recall").filter(has_text=FACT).filter(has_text="You ·").first
    row.scroll_into_view_if_needed()
    expect(row.get_by_role("link", name="Go to")).to_be_in_viewport()
    take_picture(page, pictures, "seen-by-the-model")
    began = time.perf_counter()
    row.get_by_role("link", name="Go to").click()
    fact = fact_in(page)
    expect(fact).to_be_in_viewport()
    seconds = time.perf_counter() - began
    expect(fact).to_have_attribute("data-position", str(FACT_POSITION))
    expect(fact).to_have_attribute("data-mark", "recalled")
    expect(fact.locator(".mark")).to_have_attribute("title", "Recalled for your last question")
    take_picture(page, pictures, "jumped")
    return seconds


def fact_in(page: Page) -> Locator:
    return page.locator('[data-role="user"]').filter(has_text=FACT)


def take_picture(page: Page, folder: Path | None, name: str) -> None:
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png")


def look_up_ms(path: str) -> Figures:
    """Return the milliseconds of look-ups for the question in this process, once its caches are warm."""
    from conversations.grounding.recall.recall_passages import recall_passages
    from conversations.models import Completion, Conversation

    conversation = Conversation.objects.get(public_id=path.strip("/").rpartition("/")[2])
    window = Completion.objects.filter(conversation=conversation, window__isnull=False).latest("pk").window or {}
    before, limit = window["first_position"], window["recall"]["limit_tokens"]
    taken, now = [], dt.datetime.now(dt.UTC)
    for _ in range(LOOK_UPS + 1):
        began = time.perf_counter()
        recall_passages(conversation.pk, QUESTION, before_position=before, now=now, limit_tokens=limit)
        taken.append((time.perf_counter() - began) * 1e3)
    return {"p50": percentile(taken[1:], 0.5), "p95": percentile(taken[1:], 0.95), "first": taken[0]}


def report(result: Figures) -> None:
    print(f"{result['messages']:,} messages; {os.cpu_count()} processors")
    print("stored in {storing_seconds:.1f} s, indexed in {indexing_seconds:.1f} s".format(**result), end=" ")
    print(f"({result['indexed_per_second']:.0f} messages a second)")
    print("page open after {open_seconds:.2f} s".format(**result))
    print("first token {first_token_seconds:.2f} s after Send".format(**result))
    print("jump to the message {jump_seconds:.2f} s".format(**result))
    print("look-up {p50:.0f} ms (p50), {p95:.0f} ms (p95), {first:.0f} ms (first)".format(**result["look_up_ms"]))


def main() -> None:
    parser = arguments_for((__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=MESSAGES, help="messages of the conversation")
    parser.add_argument("--pictures", type=Path, help="save pictures of the page in this folder")
    arguments = parser.parse_args()
    result = measure(size=arguments.messages, pictures=arguments.pictures)
    report(result)
    write_json(result, arguments.json)


if __name__ == "__main__":
    main()

"""A fact of three hundred messages ago comes back when it is asked for, at 4,096 tokens."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .page_actions import replies, say

SAID = {
    "What is the name of my boat?": "By the way, my boat is named Kestrel and I painted her blue.",
    "When is the regatta in Lübeck?": "The regatta in Lübeck is on 14 March, at nine in the morning.",
    "What did we decide about the sails?": "We decided to buy the red sails from the maker in Kiel.",
}
OTHER_THINGS = """
import random
from conversations.models import Conversation
from conversations.services.portability.chat_history import ChatHistory
from conversations.services.message_index.index_messages import index_conversation
conversation = Conversation.objects.get(public_id="{public_id}")
history, chosen = ChatHistory(conversation), random.Random(7)
topics = "bread cheese gardens trains weather paint roofs bicycles chess films soup carpets lamps tax".split()
for number in range(150):
    one, two = chosen.sample(topics, 2)
    history.add("user", f"Tell me something about {{one}} and {{two}}, please, number {{number}}.")
    history.add("assistant", f"About {{one}}: there is much to say of it. With {{two}} it goes well in autumn. " * 3)
index_conversation(conversation.pk)
"""


def talk_of_other_things(page: Page, site) -> None:
    site.run(OTHER_THINGS.format(public_id=page.url.rstrip("/").rpartition("/")[2]))
    page.reload()


def test_three_facts_from_the_beginning_are_quoted_three_hundred_messages_later(page, site):
    for fact in SAID.values():
        say(page, fact)
    talk_of_other_things(page, site)
    for question, fact in SAID.items():
        reply = say(page, question)
        expect(reply).to_contain_text(fact)
        reply.get_by_role("link", name="What the model saw").click()
        panel = page.get_by_role("dialog", name="What the model saw")
        row = panel.locator(".row-recall").filter(has_text=fact).filter(has_text="· You ·").first
        row.get_by_role("link", name="Go to").click()
        message = page.locator('[data-role="user"]').filter(has_text=fact)
        expect(message).to_be_in_viewport()
        expect(message.locator(".mark")).to_have_attribute("title", "Recalled for your last question")
        page.get_by_role("button", name="Jump to the newest message").click()
    say(page, "Thanks, that helps!")
    replies(page).last.get_by_role("link", name="What the model saw").click()
    panel = page.get_by_role("dialog", name="What the model saw")
    expect(panel.get_by_role("heading", name="Settings")).to_be_visible()
    expect(panel.locator(".row-recall")).to_have_count(0)

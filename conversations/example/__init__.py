"""The example scenario “Conference guide”: its texts, and the made-up schedule that it answers from.

Everything in it was written for this example; no talk, person or place of it exists.
"""

from __future__ import annotations

from pathlib import Path

NAME = "Conference guide"
SCHEDULE = Path(__file__).with_name("conference.json")
SCHEDULE_NAME = "Tideline 2027 schedule.json"

# What the smallest common context window, 4,096 tokens, leaves for a prompt when 500 are kept free for the reply. So
# that dropping and cutting can be seen with any language model, also with one that could hold the whole schedule.
CAP_TOKENS = 3_596

SYSTEM_PROMPT = """\
You are the guide to Tideline 2027, a conference about making software, held from 11 to 13 May 2027.

Answer from the passages of the schedule that come with the question, and from nothing else. Of each talk that you \
recommend name the title, the day, the time and the room, and cite its passage by number, like [1]. Never make up a \
talk. If no passage answers the question, say so. If you are told that passages did not fit, say that there is more \
and how to ask for less at once. Be brief, and answer in the language of the question."""

QUESTIONS = (
    "is there a talk about build times?",
    "and one on testing?",
    "what sessions are about mobile?",
)

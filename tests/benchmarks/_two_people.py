"""A long conversation of two people, made up: its words say nothing, its lengths are those that people write.

Of 474,562 messages of an instant messaging service the letters were counted: they are log-normal, half of the messages
below 18 letters, 40 on average, the longest 35,079. https://www.process-one.net/blog/
message_archiving_benchmark_how_many_letters_are_in_messages/, checked 2026-11-21.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

LETTERS_MU, LETTERS_SIGMA = 2.83, 1.15
LETTERS_PER_WORD = 5  # of the words below, with a space
SENTENCE_WORDS = 12
ALL_WORDS = """
the a to of and in that it is was for on with as at by from this we you they have had not but what all were when your
can said there use each which she how their if will up other about out many then them these so some her would make like
him into time has look two more write go see number no way could people my than first water been call who oil its now
find long down day did get come made may part over new sound take only little work know place year live me back give
most very after thing our just name good sentence man think say great where help through much before line right too
mean old any same tell boy follow came want show also around form three small set put end does another well large must
big even such because turn here why ask went men read need land different home us move try kind hand picture again
change off play air away animal house point page letter mother answer found study still learn should world high every
near add food between own below country plant last school father keep tree never start city earth eye light thought
head under story saw left few while along might close something seem next hard open example begin life always those
both paper together got group often run important until children side feet car mile night walk white sea began grow
took river four carry state once book hear stop without second late miss idea enough eat face watch far really almost
let above girl sometimes mountain cut young talk soon list song being leave family
"""
WORDS = ALL_WORDS.split()


def two_people(*, tokens: int, seed: int) -> dict[str, list[dict[str, str]]]:
    """Return a conversation in OpenAI's message format of *tokens* tokens or more, the same for the same seed."""
    randomly = random.Random(seed)
    messages: list[dict[str, str]] = []
    words = 0
    while words < tokens:  # a word is a token at least
        length = message_words(randomly)
        role = ("user", "assistant")[len(messages) % 2]
        messages.append({"role": role, "content": text_of(length, randomly)})
        words += length
    return {"messages": messages}


def message_words(randomly: random.Random) -> int:
    """Return how many words the next message has."""
    return max(1, round(randomly.lognormvariate(LETTERS_MU, LETTERS_SIGMA) / LETTERS_PER_WORD))


def text_of(words: int, randomly: random.Random) -> str:
    """Return sentences of that many words together."""
    return " ".join(_sentences(randomly.choices(WORDS, k=words)))


def _sentences(words: list[str]) -> Iterator[str]:
    for start in range(0, len(words), SENTENCE_WORDS):
        yield " ".join(words[start : start + SENTENCE_WORDS]).capitalize() + "."

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tiktoken_ext import openai_public

from conversations.providers.tokens import tokenizer
from conversations.providers.tokens.tokenizer import ENCODINGS, count_text, encoding_for, is_counted_exactly
from tests.support.cpu_time import cpu_time_under

STRANGE_TEXTS = [
    "",
    "\x00",
    "\ud800",
    "a\udfffb",
    "<|endoftext|>",
    "‮abc",
    "e" + "\u0301" * 200,
    "👩‍👩‍👧",
    "\r",
]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_vocabulary_and_pattern_are_those_that_tiktoken_pins(encoding, monkeypatch):
    pinned = {}

    def note_the_hash(address, expected_hash):
        pinned["sha256"] = expected_hash
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", note_the_hash)
    pattern = openai_public.ENCODING_CONSTRUCTORS[encoding]()["pat_str"]

    assert ENCODINGS[encoding] == tokenizer.Vocabulary(sha256=pinned["sha256"], pattern=pattern)


@pytest.mark.parametrize(
    ("encoding", "tokens"),
    [("cl100k_base", 6), ("o200k_base", 6)],
)
def test_it_counts_the_cookbooks_first_example(encoding, tokens):
    assert count_text(encoding)("tiktoken is great!") == tokens


def test_it_counts_the_cookbooks_longer_words():
    count = count_text("cl100k_base")

    assert [count("antidisestablishmentarianism"), count("2 + 2 = 4"), count("お誕生日おめでとう")] == [
        6,
        7,
        9,
    ]


def test_counting_needs_no_network_and_no_cache_directory():
    program = """import socket
def refuse(*args, **kwargs): raise AssertionError("the network was tried")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from conversations.providers.tokens.tokenizer import ENCODINGS, count_text
print([count_text(encoding)("hello") for encoding in ENCODINGS])
"""
    with tempfile.TemporaryDirectory() as empty:
        environment = {"TMPDIR": empty, "PATH": "", "PYTHONPATH": str(Path.cwd())}
        result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert list(Path(empty).iterdir()) == []

    assert result.stdout.strip() == "[1, 1]", result.stderr


def test_a_damaged_vocabulary_is_refused(tmp_path, monkeypatch):
    (tmp_path / "o200k_base.tiktoken").write_bytes(b"YQ== 0\n")
    monkeypatch.setattr(tokenizer, "VOCABULARIES", tmp_path)

    with pytest.raises(ValueError, match=r"o200k_base\.tiktoken is damaged"):
        tokenizer._load("o200k_base")


@pytest.mark.parametrize("text", STRANGE_TEXTS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_text_is_refused(encoding, text):
    assert (count_text(encoding)(text) > 0) == bool(text)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_special_token_in_a_text_counts_as_its_characters(encoding):
    assert count_text(encoding)("<|endoftext|>") == 7


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_every_role_is_one_token(encoding, role):
    assert count_text(encoding)(role) == 1


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("character", ["a", " ", "\n", "的", "[", "\u00a0"])
def test_a_million_of_one_character_is_counted_quickly(encoding, character):
    count = count_text(encoding)

    with cpu_time_under(20):
        assert 0 < count(character * 1_000_000) <= 1_000_000


def test_cutting_a_very_long_text_adds_hardly_anything():
    count = count_text("o200k_base")
    sentence = "The quick brown fox jumps over the lazy dog. "

    assert 0 <= count(sentence * 20_000) - 10 * 20_000 <= 5


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_remembered_count_is_that_of_the_text(encoding, monkeypatch):
    """Texts that hardly differ, more than are remembered, each counted twice: the second time most are known."""
    monkeypatch.setattr(tokenizer, "MOST_REMEMBERED", 3)
    count, encode = count_text(encoding), tokenizer._load(encoding).encode_ordinary
    words = "some words " * (tokenizer.REMEMBERED_CHARACTERS // 10)
    texts = [words + end for end in ("", "x", " x", "\ud800", "\udfff", "?")]
    for text in [*texts, *reversed(texts)]:
        assert count(text) == len(encode(text))


async def test_the_event_loop_goes_on_while_a_thread_counts_a_long_text():
    text = "的" * 1_000_000 + " counted by no other test"
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.001)

    heart = asyncio.create_task(beat())
    tokens = await asyncio.to_thread(count_text("o200k_base"), text)
    heart.cancel()

    assert tokens == count_text("o200k_base")(text)
    assert beats > 5


@pytest.mark.parametrize(
    ("language_model", "encoding", "exact"),
    [
        ("gpt-4o-mini", "o200k_base", True),
        ("gpt-3.5-turbo", "cl100k_base", True),
        ("openai/gpt-4", "cl100k_base", True),
        ("gpt-oss-20b", "o200k_base", False),
        ("qwen3:8b", "o200k_base", False),
        ("text-davinci-003", "o200k_base", False),
    ],
)
def test_the_encoding_comes_from_openais_table_or_is_the_newest(language_model, encoding, exact):
    assert (encoding_for(language_model), is_counted_exactly(language_model)) == (encoding, exact)


def test_an_unknown_encoding_is_an_error():
    with pytest.raises(KeyError):
        count_text("p50k_base")

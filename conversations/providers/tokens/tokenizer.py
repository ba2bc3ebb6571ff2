"""The tokenizer: counts tokens of texts as OpenAI does. The only importer of tiktoken.

No count ever uses the network: the vocabularies lie in `vocabularies/`, with their provenance.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path

import tiktoken
from tiktoken.model import encoding_name_for_model

from conversations.core.window.budget import CountText

VOCABULARIES = Path(__file__).parent / "vocabularies"
DEFAULT_ENCODING = "o200k_base"


# tiktoken panics, past `except Exception`, on a million white-space characters in a row: its regular expressions may
# keep a million backtracking steps (https://github.com/openai/tiktoken/issues/15). Cutting costs a token at most.
LONGEST_PART_CHARACTERS = 250_000


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary as tiktoken publishes it: *pattern* splits a text into the pieces that are then merged."""

    sha256: str
    pattern: str


# https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py, checked 2026-11-21 with tiktoken 0.14
ENCODINGS = {
    "cl100k_base": Vocabulary(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
            r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
    ),
    "o200k_base": Vocabulary(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern="|".join(
            (
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
    ),
}


@functools.cache
def count_text(encoding: str) -> CountText:
    """Return the function that counts the tokens of a text in *encoding*, one of `ENCODINGS`.

    It accepts any string: `<|endoftext|>` counts as the characters it is made of, a lone surrogate as the
    replacement character.
    """
    encode = _load(encoding).encode_ordinary

    def count(text: str) -> int:
        if len(text) <= LONGEST_PART_CHARACTERS:
            return len(encode(text))
        starts = range(0, len(text), LONGEST_PART_CHARACTERS)
        return sum(len(encode(text[start : start + LONGEST_PART_CHARACTERS])) for start in starts)

    return count


def encoding_for(language_model_name: str) -> str:
    """Return the encoding of a model by OpenAI's table; the others are estimated with the newest encoding.

    A prefix such as OpenRouter's `openai/` is left out of the look-up.
    """
    encoding = _published_encoding(language_model_name)
    return encoding if encoding in ENCODINGS else DEFAULT_ENCODING


def is_counted_exactly(language_model_name: str) -> bool:
    """Tell whether the model's encoding is published and ships with this package."""
    return _published_encoding(language_model_name) in ENCODINGS


def _published_encoding(language_model_name: str) -> str | None:
    try:
        return encoding_name_for_model(language_model_name.rpartition("/")[2])
    except KeyError:
        return None


def _load(encoding: str) -> tiktoken.Encoding:
    """Build the encoding without special tokens: no text that a user writes can ever become one."""
    vocabulary = ENCODINGS[encoding]
    # Read here, because tiktoken's own loader leaves a copy of the file in the system's temporary folder.
    content = (VOCABULARIES / f"{encoding}.tiktoken").read_bytes()
    if hashlib.sha256(content).hexdigest() != vocabulary.sha256:
        raise ValueError(f"{encoding}.tiktoken is damaged: its SHA-256 is not {vocabulary.sha256}")
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, content.splitlines())}
    return tiktoken.Encoding(encoding, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={})

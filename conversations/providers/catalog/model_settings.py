"""Parse settings that name models: each a name and options such as context_window=8192; commas between models."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from conversations.core.money.unit_prices import LARGEST_PRICE_USD, PRICE_DECIMALS
from conversations.providers.tokens.tokenizer import ENCODINGS, encoding_for


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model as *setting* names it. Its methods parse options and raise `ValueError` saying what to write."""

    setting: str
    name: str
    given: Mapping[str, str]

    def whole_number(self, word: str, *, of: str = "tokens") -> int | None:
        """Return a whole number above 0, None if it is not given. *of* says what is counted."""
        if word not in self.given:
            return None
        try:
            number = int(self.given[word])
        except ValueError:
            number = 0
        if number < 1:
            raise self.error(f"has {word}={self.given[word]}, which is not a whole number of {of} above 0")
        return number

    def yes_or_no(self, word: str) -> bool | None:
        """Return whether the answer is yes, None if none is given."""
        if word not in self.given:
            return None
        if self.given[word] not in ("yes", "no"):
            raise self.error(f"has {word}={self.given[word]}, which is neither yes nor no")
        return self.given[word] == "yes"

    def fraction(self, word: str) -> float | None:
        """Return a number from 0 to 1, None if it is not given."""
        if word not in self.given:
            return None
        try:
            if 0 <= (number := float(self.given[word])) <= 1:
                return number
        except ValueError:
            pass
        raise self.error(f"has {word}={self.given[word]}, which is not a number from 0 to 1")

    def one_of(self, word: str, values: Collection[str]) -> str | None:
        """Return one of *values*, None if none is given."""
        if (value := self.given.get(word)) is None or value in values:
            return value
        raise self.error(f"has {word}={value}, which is none of {', '.join(values)}")

    def some_of(self, word: str, values: Collection[str]) -> frozenset[str] | None:
        """Return those of *values* that are given, as `several` splits them; None if none is."""
        if word not in self.given:
            return None
        given = self.several(word)
        if unknown := [each for each in given if each not in values]:
            raise self.error(f"has {word}={self.given[word]}, in which {unknown[0]} is none of {', '.join(values)}")
        return frozenset(given)

    def several(self, word: str) -> tuple[str, ...]:
        """Return the values that are given with | between them, or with commas within quotation marks."""
        if word not in self.given:
            return ()
        values = tuple(each.strip() for each in self.given[word].replace(",", "|").split("|"))
        if not all(values):
            raise self.error(f"has {word}={self.given[word]}, in which a value is missing")
        return tuple(dict.fromkeys(values))

    def price_usd(self, word: str) -> Decimal:
        """Return a price that is given, as the ledger can keep it."""
        try:
            price = Decimal(self.given[word])
            if 0 <= price <= LARGEST_PRICE_USD and price == round(price, PRICE_DECIMALS):
                return price
        except InvalidOperation:  # also that of comparing NaN
            pass
        raise self.error(
            f"has {word}={self.given[word]}, which is not a price in US dollars for a million tokens: from 0 to "
            f"{LARGEST_PRICE_USD:,}, with at most {PRICE_DECIMALS} decimals"
        )

    def encoding(self) -> str:
        """Return the encoding that is given, or else the one that suits the name."""
        encoding = self.given.get("encoding") or encoding_for(self.name)
        if encoding not in ENCODINGS:
            raise self.error(f"has encoding={encoding}, known are {' and '.join(ENCODINGS)}")
        return encoding

    def error(self, message: str) -> ValueError:
        return setting_error(self.setting, f"{self.name} {message}")


def parse_models(setting: str, spec: str, *, words: Collection[str]) -> Iterator[NamedModel]:
    """Yield the models that *spec* names, each with options among *words*. Raises `ValueError`."""
    return (_named_model(setting, each, words) for each in _split(setting, spec))


def setting_error(setting: str, message: str) -> ValueError:
    return ValueError(f"{setting}: {message}.")


def _split(setting: str, spec: str) -> Iterator[list[str]]:
    """Yield the words of each model. Quotes keep blanks and commas together."""
    lexer = shlex.shlex(spec, posix=True, punctuation_chars=",")
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
    words: list[str] = []
    try:
        for word in lexer:
            if word.strip(","):
                words.append(word)
            elif words:
                yield words
                words = []
    except ValueError as exc:
        raise setting_error(setting, "a quotation mark is not closed") from exc
    if words:
        yield words


def _named_model(setting: str, written: list[str], words: Collection[str]) -> NamedModel:
    name, *options = written
    if "=" in name:
        message = f"{name!r} stands where a model's name is expected; only models are separated by commas"
        raise setting_error(setting, message)
    given: dict[str, str] = {}
    for option in options:
        word, equals, value = option.partition("=")
        if word not in words or not equals:
            message = f"{name} has {option!r}, which is none of {', '.join(f'{each}=' for each in words)}"
            raise setting_error(setting, message)
        given[word] = value
    return NamedModel(setting, name, given)

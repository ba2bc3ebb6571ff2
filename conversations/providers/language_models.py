"""The language models that this site offers, as the setting LANGUAGE_MODELS names them.

    gpt-4o-mini, qwen3:8b context_window=40960 reply_reserve=4096 input_usd=0 output_usd=0 label="Qwen, at home"

Models are separated by commas; the first is the default. After a name come words: context_window and reply_reserve in
tokens, encoding, input_usd, output_usd, cached_input_usd and cache_write_usd for a million tokens, label. A context
window that the price data does not know has to be given: a made-up limit is worse than a site that does not start.

Without a base URL and a key there is no provider, and the demo model answers.
"""

from __future__ import annotations

import datetime as dt
import functools
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any

from django.conf import settings

from conversations.core.budget import LanguageModel
from conversations.core.usage import LARGEST_PRICE_USD, PRICE_DECIMALS, PRICE_NAMES, UnitPrices

from .demo import DEMO_LANGUAGE_MODELS, DEMO_PRICES
from .dialects import OPENAI_BASE_URL
from .prices import known_context_window, unit_prices
from .prompt_tokens import chat_format
from .tokenizer import ENCODINGS, encoding_for

LARGEST_DEFAULT_RESERVE_TOKENS = 4_096
WORDS = ("context_window", "reply_reserve", "encoding", *PRICE_NAMES, "label")


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """A language model on offer, with the prices that the settings give for it, if they do."""

    language_model: LanguageModel
    base_url: str
    given_prices: UnitPrices | None = None

    @property
    def name(self) -> str:
        return self.language_model.name

    @property
    def label(self) -> str:
        """What people read."""
        return self.language_model.label or self.name

    def unit_prices(self, at: dt.datetime) -> UnitPrices | None:
        """Return the prices at that time; None where nobody knows them."""
        return self.given_prices or unit_prices(self.name, base_url=self.base_url, at=at)


def demo_is_used() -> bool:
    """Tell whether no provider is configured, so that the demo model answers."""
    return not settings.OPENAI_BASE_URL and not settings.OPENAI_API_KEY


def language_models() -> Mapping[str, ConfiguredModel]:
    """Return the models on offer by their names, the default first. Raises `ValueError` saying what to write."""
    if demo_is_used():
        return _DEMO_MODELS
    return _by_name(settings.LANGUAGE_MODELS, settings.OPENAI_BASE_URL or OPENAI_BASE_URL)


def default_language_model() -> ConfiguredModel:
    """Return the model that a scenario has when nobody chose one."""
    return next(iter(language_models().values()))


@functools.lru_cache(maxsize=8)
def _by_name(spec: str, base_url: str) -> Mapping[str, ConfiguredModel]:
    models = parse_language_models(spec, base_url=base_url)
    by_name = {model.name: model for model in models}
    if len(by_name) < len(models):
        raise _error("a language model is named twice")
    return MappingProxyType(by_name)


def parse_language_models(spec: str, *, base_url: str = OPENAI_BASE_URL) -> tuple[ConfiguredModel, ...]:
    """Return the models that *spec* names, at the provider at *base_url*. Raises `ValueError`."""
    models = tuple(_parse_model(words, base_url) for words in _split(spec))
    if not models:
        raise _error("name at least one language model, such as gpt-4o-mini or qwen3:8b context_window=40960")
    return models


def _split(spec: str) -> Iterator[list[str]]:
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
        raise _error("a quotation mark is not closed") from exc
    if words:
        yield words


def _parse_model(words: list[str], base_url: str) -> ConfiguredModel:
    name, *options = words
    if "=" in name:
        raise _error(f"{name!r} stands where a model's name is expected; only models are separated by commas")
    given = _parse_options(name, options)
    window_tokens = _whole(name, given, "context_window") or known_context_window(name, base_url=base_url)
    if window_tokens is None:
        raise _error(f"the context window of {name} is not known; write: {name} context_window=N (in tokens)")
    reserve_tokens = _whole(name, given, "reply_reserve")
    language_model = LanguageModel(
        name=name,
        context_window_tokens=window_tokens,
        reply_reserve_tokens=reserve_tokens or min(LARGEST_DEFAULT_RESERVE_TOKENS, window_tokens // 4),
        encoding=_encoding(name, given),
        chat_format=chat_format(name),
        label=given.get("label", ""),
    )
    return ConfiguredModel(language_model, base_url, _prices(name, given))


def _parse_options(name: str, options: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for option in options:
        word, equals, value = option.partition("=")
        if word not in WORDS or not equals:
            raise _error(f"{name} has {option!r}, which is none of {', '.join(f'{each}=' for each in WORDS)}")
        given[word] = value
    return given


def _encoding(name: str, given: Mapping[str, str]) -> str:
    encoding = given.get("encoding") or encoding_for(name)
    if encoding not in ENCODINGS:
        raise _error(f"{name} has encoding={encoding}, known are {' and '.join(ENCODINGS)}")
    return encoding


def _prices(name: str, given: Mapping[str, str]) -> UnitPrices | None:
    prices: dict[str, Any] = {word: _dollars(name, word, given[word]) for word in PRICE_NAMES if word in given}
    if not prices:
        return None
    if not {"input_usd", "output_usd"} <= prices.keys():
        raise _error(f"{name} needs both input_usd= and output_usd= when it has one of the prices")
    return UnitPrices(**prices, source="LANGUAGE_MODELS")


def _whole(name: str, given: Mapping[str, str], word: str) -> int | None:
    if word not in given:
        return None
    try:
        number = int(given[word])
    except ValueError:
        number = 0
    if number < 1:
        raise _error(f"{name} has {word}={given[word]}, which is not a whole number of tokens above 0")
    return number


def _dollars(name: str, word: str, value: str) -> Decimal:
    """Return a price as the ledger can keep it. Raises `ValueError`."""
    try:
        price = Decimal(value)
        if 0 <= price <= LARGEST_PRICE_USD and price == round(price, PRICE_DECIMALS):
            return price
    except InvalidOperation:  # also that of comparing NaN
        pass
    raise _error(
        f"{name} has {word}={value}, which is not a price in US dollars for a million tokens: from 0 to "
        f"{LARGEST_PRICE_USD:,}, with at most {PRICE_DECIMALS} decimals"
    )


def _error(message: str) -> ValueError:
    return ValueError(f"LANGUAGE_MODELS: {message}.")


_DEMO_MODELS: Mapping[str, ConfiguredModel] = MappingProxyType(
    {model.name: ConfiguredModel(model, "", DEMO_PRICES) for model in DEMO_LANGUAGE_MODELS}
)

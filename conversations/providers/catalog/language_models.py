"""The language models that this site offers, as the setting LANGUAGE_MODELS names them.

    gpt-4o-mini, qwen3:8b context_window=40960 reply_reserve=4096 input_usd=0 output_usd=0 label="Qwen, at home"

Models are separated by commas; the first is the default. After a name come options: context_window and reply_reserve in
tokens, encoding, input_usd, output_usd, cached_input_usd and cache_write_usd for a million tokens, label, vision=yes or
no, and picture_tokens, what each picture takes; tools=yes or no, and efforts=low|medium|high, which correct what is
known of its abilities; for=reviewer|example.org, the roles and the domains of email addresses that it is offered to;
and what corrects the dialect of its server (`known_dialects.DIALECT_WORDS`, docs/providers.md). The default is offered
to all. A context window that the price data does not know has to be given: a made-up limit is worse than a site that
does not start.

Without a base URL and a key there is no provider, and the demo model answers.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from chatsite.accounts.sign_up.domains import ascii_domain
from conversations.core.money.unit_prices import PRICE_NAMES, UnitPrices
from conversations.core.window.budget import LanguageModel
from conversations.core.window.picture_tokens import FixedTokens, ModelPictures
from conversations.providers.demo import DEMO_LANGUAGE_MODELS, DEMO_PICTURES, DEMO_PRICES
from conversations.providers.openai_api.completion_request import OPENAI_BASE_URL
from conversations.providers.openai_api.dialect import PLAIN_DIALECT, Dialect
from conversations.providers.tokens.tokenizer import chat_format

from .known_abilities import ABILITY_WORDS, DEMO_ABILITIES, UNKNOWN_ABILITIES, Abilities, configured_abilities
from .known_dialects import DIALECT_WORDS, configured_dialect
from .model_settings import NamedModel, parse_models, setting_error
from .picture_rules import CAUTIOUS, known_pictures
from .published_prices import known_context_window, unit_prices

SETTING = "LANGUAGE_MODELS"
LARGEST_DEFAULT_RESERVE_TOKENS = 4_096
WORDS = (
    *("context_window", "reply_reserve", "encoding", *PRICE_NAMES, "label", "vision", "picture_tokens"),
    *(*ABILITY_WORDS, "for", *DIALECT_WORDS),
)
ROLES = ("user", "reviewer", "admin")


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """A language model on offer: the *dialect* of its server, and the prices that the settings give, if they do.

    *pictures* is how it counts pictures; None is a model that sees none. *offered_for* are the roles and the domains of
    email addresses that it is offered to; empty is everyone.
    """

    language_model: LanguageModel
    base_url: str
    given_prices: UnitPrices | None = None
    pictures: ModelPictures | None = None
    dialect: Dialect = PLAIN_DIALECT
    abilities: Abilities = UNKNOWN_ABILITIES
    offered_for: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.language_model.name

    @property
    def label(self) -> str:
        """The name on pages: the demo model's in the user's language, the others' as the settings say."""
        label = self.language_model.label or self.name
        return gettext(label) if self.language_model in DEMO_LANGUAGE_MODELS else label

    @property
    def sees_pictures(self) -> bool:
        return self.pictures is not None

    def unit_prices(self, at: dt.datetime) -> UnitPrices | None:
        """Return the prices at that time; None where they are unknown."""
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
    """Return the model that a scenario has by default."""
    return next(iter(language_models().values()))


@functools.lru_cache(maxsize=8)
def _by_name(spec: str, base_url: str) -> Mapping[str, ConfiguredModel]:
    models = parse_language_models(spec, base_url=base_url)
    by_name = {model.name: model for model in models}
    if len(by_name) < len(models):
        raise setting_error(SETTING, "a language model is named twice")
    return MappingProxyType(by_name)


def parse_language_models(spec: str, *, base_url: str = OPENAI_BASE_URL) -> tuple[ConfiguredModel, ...]:
    """Return the models that *spec* names, at the provider at *base_url*. Raises `ValueError`."""
    models = tuple(_configured(named, base_url) for named in parse_models(SETTING, spec, words=WORDS))
    if not models:
        message = "name at least one language model, such as gpt-4o-mini or qwen3:8b context_window=40960"
        raise setting_error(SETTING, message)
    if models[0].offered_for:
        raise setting_error(SETTING, f"{models[0].name} is the default, the first; it is for all and has no for=")
    return models


def _configured(named: NamedModel, base_url: str) -> ConfiguredModel:
    if named.name in ROLES:
        message = f"{named.name} is a role, no language model; commas separate models, so write for=reviewer|admin"
        raise setting_error(SETTING, message)
    window_tokens = named.whole_number("context_window") or known_context_window(named.name, base_url=base_url)
    if window_tokens is None:
        message = f"the context window of {named.name} is not known; write: {named.name} context_window=N (in tokens)"
        raise setting_error(SETTING, message)
    dialect = configured_dialect(named, base_url=base_url)
    default_reserve_tokens = min(LARGEST_DEFAULT_RESERVE_TOKENS, window_tokens // 4)
    language_model = LanguageModel(
        name=named.name,
        context_window_tokens=window_tokens,
        reply_reserve_tokens=named.whole_number("reply_reserve") or default_reserve_tokens,
        encoding=named.encoding(),
        chat_format=chat_format(named.name),
        label=named.given.get("label", ""),
        prompt_format=dialect.prompt_format,
    )
    return ConfiguredModel(
        language_model,
        base_url,
        _prices(named),
        _pictures(named),
        dialect,
        abilities=configured_abilities(named),
        offered_for=frozenset(_offered_for(named)),
    )


def _pictures(named: NamedModel) -> ModelPictures | None:
    """Return how the model counts pictures: as the settings say, or else as its name is known for."""
    vision, tokens = named.yes_or_no("vision"), named.whole_number("picture_tokens")
    known = known_pictures(named.name)
    if vision is False or (known is None and tokens is None and not vision):
        return None
    pictures = known or CAUTIOUS
    return pictures if tokens is None else replace(pictures, rule=FixedTokens(tokens))


def _offered_for(named: NamedModel) -> Iterator[str]:
    for written in named.several("for"):
        domain = ascii_domain(written)
        if written not in ROLES and domain is None:
            raise named.error(f"has for={written}, which is neither a role ({', '.join(ROLES)}) nor a domain")
        yield written if written in ROLES else str(domain)


def _prices(named: NamedModel) -> UnitPrices | None:
    prices: dict[str, Any] = {word: named.price_usd(word) for word in PRICE_NAMES if word in named.given}
    if not prices:
        return None
    if not {"input_usd", "output_usd"} <= prices.keys():
        raise named.error("needs both input_usd= and output_usd= when it has one of the prices")
    return UnitPrices(**prices, source=SETTING)


_DEMO_MODELS: Mapping[str, ConfiguredModel] = MappingProxyType(
    {
        model.name: ConfiguredModel(model, "", DEMO_PRICES, DEMO_PICTURES, abilities=DEMO_ABILITIES)
        for model in DEMO_LANGUAGE_MODELS
    }
)

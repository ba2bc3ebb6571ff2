"""The embeddings model that OPENAI_EMBEDDING_MODEL names, or the folder of LOCAL_EMBEDDINGS, if there is one.

    text-embedding-3-small
    nomic-embed-text context_window=2048 input_usd=0 floor=0.5
    /models/all-MiniLM-L6-v2 floor=0.3

After the name come options: context_window in tokens, encoding, input_usd for a million tokens, dimensions to ask for,
and floor, the cosine similarity with a question below which a passage is no answer to it. What similarity means differs
from model to model, so a floor that suits one is wrong for another.
"""

from __future__ import annotations

import datetime as dt
import functools
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from django.conf import settings

from conversations.core.money.unit_prices import UnitPrices
from conversations.providers.local_embeddings.model_folder import ModelFolderError, read_model_folder
from conversations.providers.openai_api.completion_request import OPENAI_BASE_URL

from .language_models import demo_is_used
from .model_settings import NamedModel, parse_models, setting_error
from .published_prices import known_context_window, unit_prices

SETTING = "OPENAI_EMBEDDING_MODEL"
LOCAL_SETTING = "LOCAL_EMBEDDINGS"
LOCAL_ENCODING = "o200k_base"  # texts are cut by it first, and then by the model's own tokenizer
WORDS = ("context_window", "encoding", "input_usd", "dimensions", "floor")
# The limit of small models, where none is given; longer texts are truncated, for their vectors alone.
CONTEXT_WINDOW_TOKENS = 512
MOST_DIMENSIONS = (
    16_000  # of a vector of pgvector, checked 2026-11-21: https://github.com/pgvector/pgvector#vector-type
)
FLOOR = 0.3


@dataclass(frozen=True, slots=True)
class ConfiguredEmbeddingModel:
    """An embeddings model, with the price that the settings give for it, if they do.

    Texts above *context_window_tokens*, counted in *encoding*, are cut. *dimensions* are asked for, None is the model's
    own number. Passages whose cosine similarity with a question is below *floor* are no answer.
    """

    name: str
    base_url: str
    encoding: str
    context_window_tokens: int = CONTEXT_WINDOW_TOKENS
    dimensions: int | None = None
    floor: float = FLOOR
    given_prices: UnitPrices | None = None
    folder: str = ""  # of a model on this machine, which has no address

    @property
    def label(self) -> str:
        """The key that distinguishes its vectors from another model's or length's; documents store it."""
        return f"{self.name} {self.dimensions}" if self.dimensions else self.name

    def unit_prices(self, at: dt.datetime) -> UnitPrices | None:
        """Return the prices at that time; None where they are unknown."""
        return self.given_prices or unit_prices(self.name, base_url=self.base_url, at=at)


def embedding_model() -> ConfiguredEmbeddingModel | None:
    """Return the model that passages and questions get their vectors from; None where search is lexical alone.

    Raises `ValueError` saying what to write.
    """
    if settings.LOCAL_EMBEDDINGS:
        return parse_local_model(settings.LOCAL_EMBEDDINGS)
    if not settings.OPENAI_EMBEDDING_MODEL or not has_endpoint():
        return None
    return parse_embedding_model(settings.OPENAI_EMBEDDING_MODEL, base_url=embedding_base_url())


def has_endpoint() -> bool:
    """Tell whether there is an embeddings endpoint: the demo model has none."""
    return bool(settings.OPENAI_EMBEDDING_BASE_URL) or not demo_is_used()


def embedding_base_url() -> str:
    return settings.OPENAI_EMBEDDING_BASE_URL or settings.OPENAI_BASE_URL or OPENAI_BASE_URL


def embedding_api_key() -> str | None:
    """Return the key for the embeddings endpoint. The chat provider's is sent to no other address than its own."""
    if settings.OPENAI_EMBEDDING_API_KEY:
        return str(settings.OPENAI_EMBEDDING_API_KEY)
    return None if settings.OPENAI_EMBEDDING_BASE_URL else settings.OPENAI_API_KEY


@functools.lru_cache(maxsize=8)
def parse_embedding_model(spec: str, *, base_url: str = OPENAI_BASE_URL) -> ConfiguredEmbeddingModel:
    """Return the model that *spec* names, at the endpoint at *base_url*. Raises `ValueError`."""
    models = list(parse_models(SETTING, spec, words=WORDS))
    if len(models) != 1:
        raise setting_error(SETTING, "name one model, such as text-embedding-3-small floor=0.3")
    return _configured(models[0], base_url)


@functools.lru_cache(maxsize=8)
def parse_local_model(spec: str) -> ConfiguredEmbeddingModel:
    """Return the model in the folder that *spec* names, whose tokens cost nothing. Raises `ValueError`."""
    models = list(parse_models(LOCAL_SETTING, spec, words=("floor",)))
    if len(models) != 1:
        raise setting_error(LOCAL_SETTING, "name one folder, such as /models/all-MiniLM-L6-v2 floor=0.3")
    [named] = models
    try:
        folder = read_model_folder(Path(named.name))
    except ModelFolderError as error:
        raise setting_error(LOCAL_SETTING, str(error)) from error
    floor = named.fraction("floor")
    return ConfiguredEmbeddingModel(
        name=folder.label,
        base_url="",
        encoding=LOCAL_ENCODING,
        context_window_tokens=folder.most_tokens,
        floor=FLOOR if floor is None else floor,
        given_prices=UnitPrices(input_usd=Decimal(0), output_usd=Decimal(0), source=LOCAL_SETTING),
        folder=str(folder.path),
    )


def _configured(named: NamedModel, base_url: str) -> ConfiguredEmbeddingModel:
    dimensions, floor = named.whole_number("dimensions", of="dimensions"), named.fraction("floor")
    if dimensions and dimensions > MOST_DIMENSIONS:
        raise named.error(f"has dimensions={dimensions}, more than the {MOST_DIMENSIONS:,} that can be kept")
    window_tokens = named.whole_number("context_window") or known_context_window(named.name, base_url=base_url)
    return ConfiguredEmbeddingModel(
        name=named.name,
        base_url=base_url,
        encoding=named.encoding(),
        context_window_tokens=window_tokens or CONTEXT_WINDOW_TOKENS,
        dimensions=dimensions,
        floor=FLOOR if floor is None else floor,
        given_prices=_prices(named),
    )


def _prices(named: NamedModel) -> UnitPrices | None:
    if "input_usd" not in named.given:
        return None
    return UnitPrices(input_usd=named.price_usd("input_usd"), output_usd=Decimal(0), source=SETTING)

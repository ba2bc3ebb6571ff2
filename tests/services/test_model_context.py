"""What counting takes is there before the first message comes."""

from __future__ import annotations

from conversations.providers.catalog.language_models import language_models
from conversations.providers.tokens import tokenizer
from conversations.services.language_models.model_context import load_tokenizers


def test_every_vocabulary_on_offer_is_loaded_at_the_start(settings):
    settings.OPENAI_API_KEY = "x"
    settings.LANGUAGE_MODELS = "gpt-4, letters context_window=8192 encoding=o200k_base"
    tokenizer.count_text.cache_clear()
    load_tokenizers()
    assert tokenizer.count_text.cache_info().misses == 2
    for configured in language_models().values():
        tokenizer.count_text(configured.language_model.encoding)
    assert tokenizer.count_text.cache_info().misses == 2

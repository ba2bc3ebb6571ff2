"""Each row is a shape that a provider sends, with where it is described; all were looked at on 2026-11-21."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.money.usage import Usage
from conversations.providers.openai_api.reported_usage import MOST_TOKENS, parse_usage


def usage(prompt, completion, total=None, **more):
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total, **more}


def cached(tokens, **more):
    return {"prompt_tokens_details": {"cached_tokens": tokens, **more}}


def reasoned(tokens):
    return {"completion_tokens_details": {"reasoning_tokens": tokens}}


AS_PROVIDERS_SAY_IT = {
    # https://platform.openai.com/docs/guides/prompt-caching: cached tokens are part of the prompt
    "OpenAI": (usage(2006, 300, 2306, **cached(1920), **reasoned(64)), Usage(2006, 300, 1920, 64)),
    # the same page, from GPT-5.6 on: those written are part of it too, and apart from those read
    "OpenAI, written": (
        usage(2600, 300, 2900, **cached(2000, cache_write_tokens=400)),
        Usage(2600, 300, 2000, cache_write_tokens=400),
    ),
    # https://api-docs.deepseek.com/guides/kv_cache: hit + miss = prompt
    "DeepSeek": (usage(100, 20, 120, prompt_cache_hit_tokens=64, prompt_cache_miss_tokens=36), Usage(100, 20, 64)),
    "DeepSeek, twice": (usage(100, 20, 120, prompt_cache_hit_tokens=64, **cached(64)), Usage(100, 20, 64)),
    # https://docs.x.ai/docs/key-information/consumption-and-rate-limits: reasoning is only in the total
    "xAI": (usage(10120, 1499, 14428, **cached(128), **reasoned(2809)), Usage(10120, 4308, 128, 2809)),
    "xAI, without a total": (usage(32, 9, **reasoned(94)), Usage(32, 103, reasoning_tokens=94)),
    # https://docs.x.ai/developers/advanced-api-usage/prompt-caching/usage-and-pricing
    "xAI, no reasoning": (usage(125, 48, 173, **cached(98, text_tokens=125), **reasoned(0)), Usage(125, 48, 98)),
    # https://github.com/mozilla-ai/any-llm/issues/1290: thoughts are only in the total, and not named
    "Gemini": (usage(20, 198, 623), Usage(20, 603)),
    # https://github.com/router-for-me/CLIProxyAPI/issues/5733
    "Gemini, nothing but thoughts": (usage(21, 0, 81, **reasoned(60)), Usage(21, 60, reasoning_tokens=60)),
    # https://github.com/pydantic/genai-prices, prices/providers/anthropic.yml, flavor "chat"
    "Anthropic's OpenAI endpoint": (usage(100, 20, 120, cached_tokens=64), Usage(100, 20, 64)),
    # https://github.com/BerriAI/litellm/issues/39505: Anthropic's counts beside the same in OpenAI's words
    "LiteLLM": (
        usage(4420, 20, 4440, **cached(4000), cache_read_input_tokens=4000, cache_creation_input_tokens=409),
        Usage(4420, 20, 4000, cache_write_tokens=409),
    ),
    # https://github.com/future-agi/future-agi/pull/1122: Anthropic's input is without what the cache held
    "a gateway that passes Anthropic's counts on": (
        usage(11, 20, 4440, cache_read_input_tokens=4000, cache_creation_input_tokens=409),
        Usage(4420, 20, 4000, cache_write_tokens=409),
    ),
    "such a gateway with a total of its own": (usage(11, 20, 31, cache_read_input_tokens=4000), Usage(4011, 20, 4000)),
    # https://openrouter.ai/docs/use-cases/usage-accounting: with a cost in credits
    "OpenRouter": (
        usage(194, 2, 196, cost=0.95, **cached(0, cache_write_tokens=100)),
        Usage(194, 2, 0, cache_write_tokens=100, reported_cost_usd=Decimal("0.95")),
    ),
    # https://docs.ollama.com/api/openai-compatibility: no details, so that none were cached is not reported
    "Ollama": ({"prompt_tokens": 26, "completion_tokens": 298, "total_tokens": 324}, Usage(26, 298)),
    # https://docs.vllm.ai/en/latest/serving/openai_compatible_server: details are null unless asked for
    "vLLM": (usage(26, 298, 324, prompt_tokens_details=None, completion_tokens_details=None), Usage(26, 298)),
    "vLLM with --enable-prompt-tokens-details": (usage(26, 298, 324, **cached(0)), Usage(26, 298, 0)),
    "DeepSeek, nothing was cached": (usage(5, 2, 7, prompt_cache_hit_tokens=0), Usage(5, 2, 0)),
    "details without numbers": (usage(5, 2, 7, **cached(None), **reasoned(None)), Usage(5, 2)),
    "no total": (usage(5, 2), Usage(5, 2)),
    "a total of 0, not filled in": (usage(5, 2, 0), Usage(5, 2)),
    "only the total says what came": (usage(5, None, 9), Usage(5, 4)),
    "whole numbers written as floats": (usage(5.0, 2.0, 7.0), Usage(5, 2)),
    "the most": (usage(MOST_TOKENS, 0), Usage(MOST_TOKENS, 0)),
    "nothing came": (usage(5, 0, 5), Usage(5, 0)),
    "all of it cached": (usage(5, 1, 6, **cached(5)), Usage(5, 1, 5)),
}

NOT_TO_BE_BELIEVED = {
    "nothing": {},
    "not numbers at all": [5, 2],
    "no prompt": usage(None, 2),
    "an empty prompt": usage(0, 2, 2),
    "no output and no total": usage(5, None),
    "more cached than there was": usage(5, 2, 7, **cached(9)),
    "more cached and written than there was": usage(5, 2, 7, **cached(3, cache_write_tokens=3)),
    "a total below its parts": usage(5, 2, 6),
    "a total below the prompt": usage(5, None, 4),
    "too many together": usage(MOST_TOKENS, 2, cache_read_input_tokens=MOST_TOKENS, cache_creation_input_tokens=1),
    "details that are none": usage(5, 2, 7, prompt_tokens_details=[3]),
}
NO_NUMBERS = [-1, -0.5, 2.5, True, False, "5", "many", "", [], {}, 2**31, 10**400, 1e30, float("nan"), float("inf")]


@pytest.mark.parametrize(("reported", "read"), AS_PROVIDERS_SAY_IT.values(), ids=AS_PROVIDERS_SAY_IT)
def test_usage_is_read_as_each_provider_reports_it(reported, read):
    assert parse_usage(reported) == read


@pytest.mark.parametrize("reported", NOT_TO_BE_BELIEVED.values(), ids=NOT_TO_BE_BELIEVED)
def test_what_contradicts_itself_is_no_usage(reported):
    assert parse_usage(reported) is None


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens", "total_tokens", "prompt_cache_hit_tokens"])
def test_what_is_no_number_of_tokens_is_no_usage(name, value):
    assert parse_usage(usage(5, 2, 7) | {name: value}) is None


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_details_that_are_no_numbers_are_no_usage(value):
    assert parse_usage(usage(5, 2, 7, **cached(value))) is None
    assert parse_usage(usage(5, 2, 7, **reasoned(value))) is None


# https://github.com/ggml-org/llama.cpp/pull/15827
@pytest.mark.parametrize(("timings", "cached_tokens"), [({"cache_n": 236, "prompt_n": 1}, 236), ({"cache_n": 0}, 0)])
def test_the_timings_of_a_chunk_say_what_was_cached(timings, cached_tokens):
    assert parse_usage(usage(237, 35, 272), timings) == Usage(237, 35, cached_tokens)


def test_what_the_usage_says_is_cached_goes_before_the_timings():
    assert parse_usage(usage(237, 35, 272, **cached(200)), {"cache_n": 236}) == Usage(237, 35, 200)


@pytest.mark.parametrize("timings", [None, [], {}, *({"cache_n": value} for value in [*NO_NUMBERS, 238])], ids=repr)
def test_timings_without_such_a_number_report_nothing_and_leave_the_usage(timings):
    assert parse_usage(usage(237, 35, 272), timings) == Usage(237, 35)


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.lists(st.integers())
NAMES = st.sampled_from(
    [
        *("prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "reasoning_tokens"),
        *("prompt_cache_hit_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    ]
)
FEW = st.none() | st.integers(0, 20)
DETAILS = st.fixed_dictionaries(
    {},
    optional={
        "prompt_tokens_details": ANYTHING
        | st.dictionaries(st.sampled_from(["cached_tokens", "cache_write_tokens"]), FEW),
        "completion_tokens_details": ANYTHING | st.dictionaries(st.just("reasoning_tokens"), FEW),
    },
)


@given(st.dictionaries(NAMES, FEW | ANYTHING), DETAILS, st.dictionaries(st.just("cache_n"), FEW | ANYTHING))
def test_whatever_is_reported_the_parts_are_parts(plain, details, timings):
    read = parse_usage(plain | details, timings)
    if read is not None:
        assert 0 < read.input_tokens <= MOST_TOKENS
        assert 0 <= read.known_cached_tokens + read.cache_write_tokens <= read.input_tokens
        assert 0 <= read.reasoning_tokens <= read.output_tokens <= MOST_TOKENS

"""What the known language models can do, by their names: data with sources, to be read, and corrected by a setting.

The first row whose pattern fits decides; of a model in none of them nothing is known, and tools are sent all the same.
What a row says is from documents alone: no provider was asked. Options of LANGUAGE_MODELS correct it for one model:
`tools=yes`, `efforts=low|medium|high`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from .model_settings import NamedModel

ABILITY_WORDS: Final = ("tools", "efforts")
EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")  # from the least to the most
NO_EFFORTS: Final = "none"  # what `efforts=` says of a model that accepts none of them


@dataclass(frozen=True, slots=True)
class Abilities:
    """Whether a language model calls *tools*, and whether it *thinks* before it answers; None where it is not known.

    *efforts* are the values of `reasoning_effort` that it accepts, from the least to the most.
    """

    tools: bool | None = None
    thinks: bool | None = None
    efforts: tuple[str, ...] = ()

    @property
    def may_take_tools(self) -> bool:
        """Whether tools may be sent to it: also where it is not known."""
        return self.tools is not False

    def first_accepted(self, *efforts: str) -> str:
        """Return the first of *efforts* that it accepts; blank is what it does unasked."""
        return next((effort for effort in efforts if effort in self.efforts), "")


@dataclass(frozen=True, slots=True)
class KnownAbilities:
    """The *abilities* of the models whose names *models* matches, at their beginning or after a slash."""

    models: str
    abilities: Abilities
    source: str
    checked: str = "2026-11-23"

    def fits(self, language_model: str) -> bool:
        return bool(re.search(rf"(^|/)~?({self.models})", language_model, re.IGNORECASE))


UNKNOWN_ABILITIES: Final = Abilities()
DEMO_ABILITIES: Final = Abilities(tools=True, thinks=True, efforts=("none", "low", "high"))
_PLAIN: Final = Abilities(tools=True, thinks=False)
_THINKS: Final = Abilities(tools=True, thinks=True)
_LOW_TO_HIGH: Final = ("low", "medium", "high")

_OPENAI_MODELS: Final = "https://platform.openai.com/docs/models"
_OPENAI_EFFORT: Final = "https://platform.openai.com/docs/guides/reasoning"
_GEMINI: Final = "https://ai.google.dev/gemini-api/docs/openai"
_CLAUDE: Final = (
    "https://openrouter.ai/docs/use-cases/reasoning-tokens https://docs.claude.com/en/docs/build-with-claude"
)

KNOWN: Final = (
    # OpenAI, and its open weights
    KnownAbilities(r"gpt-oss", replace(_THINKS, efforts=_LOW_TO_HIGH), "https://github.com/openai/gpt-oss"),
    KnownAbilities(r"gpt-5[\d.]*-chat", Abilities(thinks=False), _OPENAI_MODELS),
    KnownAbilities(r"gpt-5-pro", replace(_THINKS, efforts=("high",)), _OPENAI_MODELS),
    KnownAbilities(r"gpt-5\.\d+-pro", replace(_THINKS, efforts=("medium", "high", "xhigh")), _OPENAI_MODELS),
    KnownAbilities(r"gpt-5\.1\b", replace(_THINKS, efforts=("none", *_LOW_TO_HIGH)), _OPENAI_EFFORT),
    KnownAbilities(
        r"gpt-(5\.([2-9]|\d\d)|[6-9]|\d\d)", replace(_THINKS, efforts=("none", *_LOW_TO_HIGH, "xhigh")), _OPENAI_EFFORT
    ),
    KnownAbilities(r"gpt-5-codex", replace(_THINKS, efforts=_LOW_TO_HIGH), _OPENAI_MODELS),
    KnownAbilities(r"gpt-5\b", replace(_THINKS, efforts=("minimal", *_LOW_TO_HIGH)), _OPENAI_EFFORT),
    KnownAbilities(r"o1-mini|o1-preview", Abilities(tools=False, thinks=True), _OPENAI_MODELS),
    KnownAbilities(r"o[134]\b", replace(_THINKS, efforts=_LOW_TO_HIGH), _OPENAI_EFFORT),
    KnownAbilities(r"gpt-(3\.5|4)|chatgpt-4o", _PLAIN, _OPENAI_MODELS),
    # Google
    KnownAbilities(r"gemini-3[\d.]*-pro", replace(_THINKS, efforts=("low", "high")), _GEMINI),
    KnownAbilities(r"gemini-3", replace(_THINKS, efforts=("minimal", *_LOW_TO_HIGH)), _GEMINI),
    KnownAbilities(r"gemini-2\.5-flash", replace(_THINKS, efforts=("none", *_LOW_TO_HIGH)), _GEMINI),
    KnownAbilities(r"gemini-2\.5", replace(_THINKS, efforts=_LOW_TO_HIGH), _GEMINI),
    KnownAbilities(r"gemini-", _PLAIN, _GEMINI),
    KnownAbilities(r"gemma-?[123]\b", Abilities(thinks=False), "https://ai.google.dev/gemma/docs"),
    # Anthropic: the efforts are OpenRouter's; its own compatible address ignores them.
    KnownAbilities(r"anthropic/claude-(3\.7|[a-z]+-[4-9]|[4-9])", replace(_THINKS, efforts=_LOW_TO_HIGH), _CLAUDE),
    KnownAbilities(r"claude-(3[.-]7|[a-z]+-[4-9])", _THINKS, _CLAUDE),
    KnownAbilities(r"claude-", _PLAIN, _CLAUDE),
    # Others
    KnownAbilities(
        r"grok-3-mini", replace(_THINKS, efforts=("low", "high")), "https://docs.x.ai/docs/guides/reasoning"
    ),
    KnownAbilities(r"grok-4", _THINKS, "https://docs.x.ai/docs/guides/reasoning"),
    KnownAbilities(r"deepseek-r1", Abilities(thinks=True), "https://api-docs.deepseek.com/guides/reasoning_model"),
    KnownAbilities(r"deepseek-reasoner", _THINKS, "https://api-docs.deepseek.com/guides/thinking_mode"),
    KnownAbilities(r"deepseek-chat", _PLAIN, "https://api-docs.deepseek.com/guides/thinking_mode"),
    KnownAbilities(
        r"kimi-k2[\d.]*-thinking", _THINKS, "https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model"
    ),
    KnownAbilities(r"kimi-k2", _PLAIN, "https://platform.moonshot.ai/docs"),
    KnownAbilities(r"magistral", _THINKS, "https://docs.mistral.ai/capabilities/reasoning"),
    KnownAbilities(
        r"mistral-|ministral|codestral|devstral", _PLAIN, "https://docs.mistral.ai/capabilities/function_calling"
    ),
    KnownAbilities(r"qwen3[\w.:-]*(instruct|coder)", _PLAIN, "https://qwen.readthedocs.io/en/latest/"),
    KnownAbilities(r"qwen3", _THINKS, "https://qwen.readthedocs.io/en/latest/"),
    KnownAbilities(r"(qwen/)?qwq", _THINKS, "https://qwen.readthedocs.io/en/latest/"),
    KnownAbilities(r"qwen2\.5", _PLAIN, "https://qwen.readthedocs.io/en/latest/"),
    KnownAbilities(r"(meta-)?llama-?3\.[123]", _PLAIN, "https://ollama.com/library/llama3.1 (tools)"),
)


def known_abilities(language_model: str) -> Abilities:
    """Return what is known of the model with that name."""
    return next((known.abilities for known in KNOWN if known.fits(language_model)), UNKNOWN_ABILITIES)


def configured_abilities(named: NamedModel) -> Abilities:
    """Return the abilities of a model as the settings name it, with what they correct. Raises `ValueError`."""
    abilities = known_abilities(named.name)
    if (tools := named.yes_or_no("tools")) is not None:
        abilities = replace(abilities, tools=tools)
    if not (given := named.some_of("efforts", EFFORTS)):
        return abilities
    efforts = tuple(effort for effort in EFFORTS if effort in given)
    if efforts == (NO_EFFORTS,):
        return replace(abilities, efforts=())
    return replace(abilities, efforts=efforts, thinks=True)

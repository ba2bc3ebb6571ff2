"""Token budget: how many tokens a prompt may have, and how many a message takes.

    budget = min(context window − reply reserve, policy's own cap) ÷ calibration
    message = overhead per message + 1 for its role + content (+ name) (+ tool calls) (+ pictures)
    prompt = priming + tool schemas + sum of its messages

*count_text* defines what a token is; in the tests one character is one token.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.prompt_format import PLAIN_FORMAT, PromptFormat

from .picture_tokens import ModelPictures, message_picture_tokens

CountText = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """The tokens that a chat format adds to the texts. Providers publish estimates; usage corrects them."""

    tokens_per_message: int = 3
    tokens_per_role: int = 1
    tokens_per_name: int = 1
    tokens_per_tool_call: int = 3
    priming_tokens: int = 3

    @property
    def overhead_tokens(self) -> int:
        """Tokens of a message whose content is empty."""
        return self.tokens_per_message + self.tokens_per_role


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A provider's model, as configured. All limits are tokens; *prompt_format* is how its prompts are written."""

    name: str
    context_window_tokens: int
    reply_reserve_tokens: int
    encoding: str
    chat_format: ChatFormat = ChatFormat()
    label: str = ""
    prompt_format: PromptFormat = PLAIN_FORMAT

    def __post_init__(self) -> None:
        if not 0 < self.reply_reserve_tokens < self.context_window_tokens:
            raise ValueError(
                f"{self.name}: the reply reserve ({self.reply_reserve_tokens} tokens) must be above 0 and below "
                f"the context window ({self.context_window_tokens} tokens)"
            )


def budget_tokens(
    language_model: LanguageModel,
    *,
    reply_reserve_tokens: int | None = None,
    cap_tokens: int | None = None,
    calibration: Decimal = Decimal(1),
) -> int:
    """Return how many tokens the prompt may have; 0 or less if the reply reserve leaves none.

    *reply_reserve_tokens* replaces the language model's own; *calibration* ≥ 1 is reported ÷ estimated input tokens.
    """
    if calibration < 1:
        raise ValueError(f"calibration must not be below 1, got {calibration}")
    limit_tokens = language_model.context_window_tokens - (reply_reserve_tokens or language_model.reply_reserve_tokens)
    if cap_tokens is not None:
        limit_tokens = min(limit_tokens, cap_tokens)
    return int((limit_tokens / calibration).to_integral_value(ROUND_FLOOR))


def whole_share(tokens: int, share: Fraction) -> int:
    """Return the whole tokens of that *share* of *tokens*, of which there are 0 or more.

    Multiplying by the fraction itself takes ten times as long, and each window does it.
    """
    return tokens * share.numerator // share.denominator


def content_tokens(message: PromptMessage, *, count_text: CountText, chat_format: ChatFormat) -> int:
    """Count what *message* adds to the fixed overhead: the number that is stored with a message's row.

    Reasoning that is kept for the provider is counted where it is sent, and not in that number.
    """
    tokens = count_text(message.content)
    if message.name is not None:
        tokens += count_text(message.name) + chat_format.tokens_per_name
    if message.tool_call_id is not None:
        tokens += count_text(message.tool_call_id)
    for call in message.tool_calls:
        tokens += chat_format.tokens_per_tool_call + count_text(call.id)
        tokens += count_text(call.name) + count_text(call.arguments)
    if message.kept is not None:
        tokens += message.kept.tokens
    return tokens


def message_tokens(
    message: PromptMessage,
    *,
    count_text: CountText,
    chat_format: ChatFormat,
    pictures: ModelPictures | None = None,
) -> int:
    """Count *message* as it is rendered, overhead and pictures included."""
    tokens = content_tokens(message, count_text=count_text, chat_format=chat_format)
    return chat_format.overhead_tokens + tokens + message_picture_tokens(message, pictures)

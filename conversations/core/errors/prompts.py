"""Errors of prompts: what must be in the window does not fit, and nothing was sent."""

from __future__ import annotations

from .base import ConversationError


class PromptError(ConversationError):
    """The window can't hold what must be in it; *tokens_over* says by how much."""

    code = "prompt_too_long"
    counted = "tokens_over"
    singular = "The request is %(tokens_over)s token too long for this language model."
    template = "The request is %(tokens_over)s tokens too long for this language model."

    def __init__(self, *, tokens_over: int, **params: object) -> None:
        self.tokens_over = tokens_over
        super().__init__(tokens_over=f"{tokens_over:,}", **params)


class SystemPromptTooLong(PromptError):
    code = "system_prompt_too_long"
    singular = "The scenario’s system prompt is %(tokens_over)s token too long for its language model."
    template = "The scenario’s system prompt is %(tokens_over)s tokens too long for its language model."


class AboutMeTooLong(PromptError):
    code = "about_me_too_long"
    singular = "Your notes about yourself are %(tokens_over)s token too long here. Shorten them on your account page."
    template = "Your notes about yourself are %(tokens_over)s tokens too long here. Shorten them on your account page."


class NotesTooLong(PromptError):
    code = "notes_too_long"
    singular = "Your notes on this conversation are %(tokens_over)s token too long. Shorten them."
    template = "Your notes on this conversation are %(tokens_over)s tokens too long. Shorten them."


class PinsTooLong(PromptError):
    code = "pins_too_long"
    singular = "Together, the pinned messages are %(tokens_over)s token too long. Unpin some of them."
    template = "Together, the pinned messages are %(tokens_over)s tokens too long. Unpin some of them."


class ToolSchemasTooLong(PromptError):
    code = "tool_schemas_too_long"
    singular = "The scenario’s tools take %(tokens_over)s token too many. Switch some of them off."
    template = "The scenario’s tools take %(tokens_over)s tokens too many. Switch some of them off."


class ToolStepsTooLong(PromptError):
    code = "tool_steps_too_long"
    singular = "The tool calls of this reply take %(tokens_over)s token too many."
    template = "The tool calls of this reply take %(tokens_over)s tokens too many."


class TextSoFarTooLong(PromptError):
    """Not even the end of a reply that is to be continued has room beside what must be sent."""

    code = "text_so_far_too_long"
    singular = "There is no room to continue this reply: %(tokens_over)s token is missing. You can try again."
    template = "There is no room to continue this reply: %(tokens_over)s tokens are missing. You can try again."


class ConversationTooLong(PromptError):
    """The policy `full` refuses rather than drops."""

    code = "conversation_too_long"
    singular = (
        "The conversation is at least %(tokens_over)s token too long, and its scenario or the "
        "request does not allow leaving messages out."
    )
    template = (
        "The conversation is at least %(tokens_over)s tokens too long, and its scenario or the "
        "request does not allow leaving messages out."
    )


class MessageTooLong(PromptError):
    code = "message_too_long"
    singular = "Your message is %(tokens_over)s token too long. Shorten it and send it again."
    template = "Your message is %(tokens_over)s tokens too long. Shorten it and send it again."


class MessageTooLongForScenario(MessageTooLong):
    """The message alone would fit the budget, but not beside what is always sent with it."""

    code = "message_too_long_for_scenario"
    singular = (
        "Your message is %(tokens_over)s token too long to fit beside the system prompt and "
        "everything else that is always sent. Shorten it and send it again."
    )
    template = (
        "Your message is %(tokens_over)s tokens too long to fit beside the system prompt and "
        "everything else that is always sent. Shorten it and send it again."
    )


class PicturesTooLong(MessageTooLong):
    """The message would fit without its pictures, or with fewer of them; they can't be made smaller."""

    code = "pictures_too_long"
    singular = (
        "With its pictures your message is %(tokens_over)s token too long: at their smallest they take "
        "%(picture_tokens)s tokens, and %(free_tokens)s are free. Remove one, or shorten the message."
    )
    template = (
        "With its pictures your message is %(tokens_over)s tokens too long: at their smallest they take "
        "%(picture_tokens)s tokens, and %(free_tokens)s are free. Remove one, or shorten the message."
    )

    def __init__(self, *, tokens_over: int, picture_tokens: int = 0) -> None:
        free_tokens = max(picture_tokens - tokens_over, 0)
        super().__init__(tokens_over=tokens_over, picture_tokens=f"{picture_tokens:,}", free_tokens=f"{free_tokens:,}")


class PolicyFailed(ConversationError):
    """A window policy raised, or chose what may not be sent. *detail* is for the log, never for the page."""

    code = "window_policy_failed"
    template = (
        "The scenario’s window policy chose something that can’t be sent. Choose another policy for the scenario."
    )

    def __init__(self, detail: str = "") -> None:
        self.detail = detail
        super().__init__()

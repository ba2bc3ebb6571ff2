"""Errors of tool calls. The reply goes on: the model gets the sentence, with its detail, as the call's result."""

from __future__ import annotations

from .base import ConversationError


class ToolError(ConversationError):
    """*detail* is for the language model, which may call again in another way; people read the sentence."""

    code = "tool_failed"
    template = "The tool failed."

    def __init__(self, *, detail: str = "", **params: object) -> None:
        self.detail = detail
        super().__init__(**params)

    @property
    def for_the_model(self) -> str:
        return " ".join(filter(None, (self.template % self.params, self.detail)))


class ToolUnknown(ToolError):
    code = "tool_unknown"
    template = "There is no such tool here."


class ArgumentsNotJson(ToolError):
    code = "tool_arguments_not_json"
    template = "The arguments were not valid JSON."


class ArgumentsInvalid(ToolError):
    code = "tool_arguments_invalid"
    template = "The arguments do not match the tool’s schema."


class TooManyCalls(ToolError):
    code = "tool_too_many_calls"
    template = "Too many tools were called at once, so this call was skipped."


class ToolTimedOut(ToolError):
    code = "tool_timed_out"
    template = "The tool did not answer in time."


class ToolBusy(ToolError):
    """Earlier calls of it hang."""

    code = "tool_busy"
    template = "The tool is still busy with earlier calls."


class ToolUnreachable(ToolError):
    code = "tool_unreachable"
    template = "The tool’s server could not be reached."


class ToolChanged(ToolError):
    """It is no longer the tool that was described to the language model, or whose call the user approved."""

    code = "tool_changed"
    template = "The tool has changed since this call was made, so it was not run."


class ToolResultTooLarge(ToolError):
    code = "tool_result_too_large"
    template = "The tool’s answer was too large."


class CallRefused(ToolError):
    code = "tool_refused"
    template = "This call was not allowed, so it was not run."

"""The request for a completion, and its JSON body for Chat Completions or the Responses API.

On the Responses API nothing is stored at the provider (`store: false`) and no state of it is used: the window that we
chose is the whole input. So what a tool loop needs of the model's reasoning comes back encrypted, and is sent again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conversations.core.prompt.messages import Prompt
from conversations.core.prompt.pictures import fill_in_pictures
from conversations.core.prompt.prompt_format import Wire
from conversations.core.prompt.written_prompt import write_prompt, write_tools

from .dialect import PLAIN_DIALECT, Dialect

OPENAI_BASE_URL = "https://api.openai.com/v1"
PATHS: Final[Mapping[Wire, str]] = {"chat": "/chat/completions", "responses": "/responses"}
# Sampling parameters that the Responses API does not know and answers with 400, checked 2026-11-22 in openai 3.52.
UNKNOWN_TO_RESPONSES: Final = frozenset({"frequency_penalty", "presence_penalty", "logit_bias", "n", "seed", "stop"})


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One request. *sampling* holds fields such as temperature, *tools* the tool schemas of Chat Completions.

    *effort* is how hard the model is asked to think, in place of what the sampling says of it; empty leaves that.

    With *may_call* false the tools are sent all the same: providers want to know those that a prompt has calls of.
    *data_urls* are the pictures of the prompt by their digests: only what leaves has them.
    """

    language_model: str
    prompt: Prompt
    max_output_tokens: int | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Mapping[str, Any]] = ()
    may_call: bool = True
    cache_key: str | None = None
    effort: str = ""
    data_urls: Mapping[str, str] = field(default_factory=dict)
    dialect: Dialect = PLAIN_DIALECT

    @property
    def path(self) -> str:
        """The path of the request below the provider's base URL."""
        return PATHS[self.dialect.prompt_format.wire]

    def to_send(self) -> dict[str, Any]:
        """Return the JSON body as it leaves: what `to_json` returns, with the pictures themselves."""
        body = self.to_json()
        if self.data_urls:
            field = self.dialect.prompt_format.prompt_field
            body[field] = fill_in_pictures(body[field], self.data_urls)
        return body

    def to_json(self) -> dict[str, Any]:
        """Return the JSON body, in the dialect of its server. Sampling overrides nothing else.

        Pictures are named by their digests: this is what the ledger keeps.
        """
        dialect, wire = self.dialect, self.dialect.prompt_format.wire
        sampling = dict(self.sampling)
        if self.effort:
            field = "reasoning" if dialect.effort and wire == "responses" else dialect.effort
            place_effort(sampling, self.effort, field=field)
        body = sampling if wire == "chat" else _responses_sampling(sampling)
        body |= {"model": self.language_model, "stream": True}
        body[dialect.prompt_format.prompt_field] = write_prompt(self.prompt, dialect.prompt_format)
        if wire == "responses":
            body |= {"store": False, "include": ["reasoning.encrypted_content"]}
        elif dialect.takes_stream_options:
            body["stream_options"] = {"include_usage": True}
        if self.max_output_tokens is not None:
            body[dialect.output_limit_field] = self.max_output_tokens
        if self.tools:
            body["tools"] = write_tools(self.tools, self.prompt, dialect.prompt_format)
            if not self.may_call:
                body["tool_choice"] = "none"
        if self.cache_key and dialect.takes_cache_key:
            body["prompt_cache_key"] = self.cache_key
        if dialect.prompt_format.breakpoints == "openai":
            body["prompt_cache_options"] = {"mode": "explicit"}
        return body


def _responses_sampling(sampling: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sampling parameters of Chat Completions as the Responses API has them; it knows fewer."""
    body = {name: value for name, value in sampling.items() if name not in UNKNOWN_TO_RESPONSES}
    effort, verbosity = body.pop("reasoning_effort", None), body.pop("verbosity", None)
    answer_format, choice = body.pop("response_format", None), body.get("tool_choice")
    reasoning = {"summary": "auto", **_object_of(body, "reasoning")}
    if effort is not None:
        reasoning["effort"] = effort
    body["reasoning"] = reasoning
    if verbosity is not None:
        body["text"] = {"verbosity": verbosity, **_object_of(body, "text")}
    if isinstance(answer_format, Mapping):
        schema = _object_of(answer_format, "json_schema")
        body["text"] = {**_object_of(body, "text"), "format": {"type": answer_format.get("type"), **schema}}
    if isinstance(choice, Mapping):
        body["tool_choice"] = {"type": "function", "name": _object_of(choice, "function").get("name")}
    return body


def _object_of(body: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """Return what *field* holds; sampling parameters may be anything, and what is no object is left out."""
    given = body.get(field)
    return given if isinstance(given, Mapping) else {}


def place_effort(body: dict[str, Any], effort: str, *, field: str) -> None:
    """Write how hard to think into *field* of the body, in place of what its sampling parameters say of it."""
    body.pop("reasoning_effort", None)
    if field == "reasoning":
        kept = _object_of(body, "reasoning")
        # A number of tokens to think with says the same in another way; both are refused.
        body["reasoning"] = {name: value for name, value in kept.items() if name != "max_tokens"} | {"effort": effort}
    elif field:
        body[field] = effort


def texts_of(prompt: Prompt) -> Iterator[str]:
    """Yield the words of the conversation that are sent with *prompt*."""
    for message in prompt:
        yield message.content
        yield from (call.arguments for call in message.tool_calls)

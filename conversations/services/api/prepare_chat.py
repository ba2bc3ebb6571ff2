"""Prepare a chat completion of a program: choose its window by the engine that chooses those of conversations.

    history of the request ─▶ core.window.compute_window ─▶ prompt and record

A history that is too long is windowed by the policy of the key's scenario, or by the default policy. Nothing of it is
stored, so nothing can be recalled, and no summary is kept: all of the room is for the newest messages.

The key's scenario sets the bounds: its system prompt comes before the request's own, its sampling parameters can't be
replaced, and a reply gets no more room than its reply reserve.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from chatsite.accounts.limits import effective_limits
from chatsite.postgres.pool import release_connection
from conversations.core.api.chat_request import ChatRequest
from conversations.core.errors import ContextTooLong, ParameterInvalid, PromptError, SystemPromptTooLong
from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.pictures import digests_in
from conversations.core.window.calibration import RefusedPrompt
from conversations.core.window.compute_window import Turn, Window, compute_window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import WindowPolicy
from conversations.models import ApiKey, Scenario
from conversations.providers.catalog.language_models import ConfiguredModel
from conversations.providers.openai_api.completion_request import UNKNOWN_TO_RESPONSES, CompletionRequest
from conversations.providers.openai_api.context_length import says_context_too_long
from conversations.providers.tokens.tokenizer import count_tool_schemas
from conversations.services.language_models.calibration import learn_limit, learn_refused
from conversations.services.language_models.effective_policy import effective_policy
from conversations.services.language_models.model_context import LONG_CHARACTERS, ModelContext, named_model_context
from conversations.services.language_models.reply_reserve import largest_own_reserve_tokens
from conversations.services.language_models.run_parameters import without_dropping
from conversations.services.limits.message_checks import check_message_length

from .chat_pictures import ChatPictures, ShownPictures, check_model_sees
from .key_access import find_model_of_key, scenario_of_key

# Of the body: words of the program's user. The ledger keeps the numbers, and which fields there were.
WORDS = ("stop", "response_format")


@dataclass(frozen=True, slots=True)
class PreparedChat:
    """A chat completion to be made, with its window. *tightening* divides the budget.

    *scenario* is that of the key, None for a key without one.
    """

    key: ApiKey
    request: ChatRequest
    scenario: Scenario | None
    context: ModelContext
    sampling: Mapping[str, Any]
    effort: str
    window: Window
    pictures: ChatPictures
    tightening: Decimal = Decimal(1)

    @property
    def may_call(self) -> bool:
        return self.request.may_call and self.window.record.may_call

    def completion_request(self) -> CompletionRequest:
        record = self.window.record
        return CompletionRequest(
            language_model=record.language_model,
            prompt=self.window.prompt,
            max_output_tokens=record.reply_reserve_tokens,
            sampling=self.sampling,
            tools=self.request.tools,
            may_call=self.may_call,
            dialect=self.context.configured.dialect,
            effort=self.effort,
        )

    def request_with_pictures(self) -> CompletionRequest:
        """Return the request as it leaves, with the bytes of its pictures."""
        request = self.completion_request()
        return replace(request, data_urls=self.pictures.data_urls(digests_in(request.prompt)))

    def body_for_ledger(self) -> dict[str, Any]:
        """Return the body without the words in it beside the messages, which the ledger leaves out itself."""
        body = self.completion_request().to_json()
        return {name: "…" if name in WORDS else value for name, value in body.items()}


def prepare_chat(
    key: ApiKey,
    request: ChatRequest,
    *,
    tightening: Decimal = Decimal(1),
    most_reserve_tokens: int | None = None,
    pictures: ChatPictures | None = None,
) -> PreparedChat:
    """Choose the window of *request*. Nothing is stored. *pictures* are its own, where some were opened before.

    Raises `LanguageModelNotOffered`, `ParameterInvalid`, `MessageTooLong` or another `PromptError`.
    """
    configured = find_model_of_key(key, request.language_model)
    context = named_model_context(configured.name)
    scenario = scenario_of_key(key)
    settings_of = scenario or Scenario(owner=key.owner, language_model=configured.name)
    check_abilities(request, configured)
    check_model_sees(configured, request.messages.pictures)
    sampling, effort = bounded_sampling(request, settings_of, configured)
    policy = _policy(request, settings_of, context, is_bound=scenario is not None)
    if most_reserve_tokens is not None:
        reserve_tokens = policy.reply_reserve_tokens or context.language_model.reply_reserve_tokens
        policy = replace(policy, reply_reserve_tokens=min(reserve_tokens, most_reserve_tokens))
    pictures = pictures or ChatPictures(key.owner, request.messages.pictures)
    shown = ShownPictures(pictures, context, policy)
    limits = effective_limits(key.owner)
    if request.messages.characters >= LONG_CHARACTERS:
        release_connection()  # others need it more than what is counted for a while
    turn = _turn(request, settings_of.system_prompt, context, shown)
    check_message_length(turn.newest.content_tokens, limits)
    window = compute_window(
        turn,
        map(shown.of_older, _older(request, context)),
        language_model=context.language_model,
        policy=policy,
        count_text=context.count_text,
        calibration=context.calibration * tightening,
    )
    window = replace(window, prompt=pictures.scaled(window.prompt))
    return PreparedChat(key, request, scenario, context, sampling, effort, window, pictures, tightening)


def prepare_tighter_chat(refused: PreparedChat, error: ContextTooLong) -> PreparedChat:
    """Choose a smaller window than that of *refused*, by the numbers that the provider named.

    Raises the provider's own *error* where there is no room for what must be sent. What the provider named is learned
    for all, but not where the request itself speaks of a limit: providers quote what they can't make sense of.
    """
    record, language_model = refused.window.record, refused.context.language_model
    if not _may_be_quoted(refused):
        if error.names_a_number:
            learn_limit(refused.context.configured, error.limit_tokens)
        else:
            learn_refused(refused.context.configured, record.prompt_tokens + record.reply_reserve_tokens)
    prompt = RefusedPrompt(record.prompt_tokens, record.reply_reserve_tokens, error.prompt_tokens)
    context = named_model_context(language_model.name)
    limit_tokens = context.language_model.context_window_tokens
    tightening = prompt.tightening(
        limit_tokens=limit_tokens,
        room_tokens=max(limit_tokens - record.reply_reserve_tokens, 1),
        calibration=context.calibration,
    )
    most_reserve_tokens = None if error.names_a_number else prompt.reserve_to_try_tokens
    try:
        return prepare_chat(
            refused.key,
            refused.request,
            tightening=tightening,
            most_reserve_tokens=most_reserve_tokens,
            pictures=refused.pictures,
        )
    except (PromptError, ParameterInvalid):
        raise error from None


def check_abilities(request: ChatRequest, configured: ConfiguredModel) -> None:
    if request.tools and not configured.abilities.may_take_tools:
        raise ParameterInvalid("tools", "this language model can't call tools")
    if request.effort and not configured.abilities.first_accepted(request.effort):
        taken = ", ".join(configured.abilities.efforts) or "none at all"
        raise ParameterInvalid("reasoning_effort", f"this language model takes {taken}")
    if configured.dialect.prompt_format.wire == "responses":
        for name in request.sampling:
            if name in UNKNOWN_TO_RESPONSES:  # it would be left out of the request, and no one be told
                raise ParameterInvalid(name, "this language model does not take it")


def bounded_sampling(
    request: ChatRequest, scenario: Scenario, configured: ConfiguredModel
) -> tuple[dict[str, Any], str]:
    """Return the sampling parameters and the effort: the scenario's, and the request's beside them."""
    for name, value in request.sampling.items():
        if name in scenario.sampling and scenario.sampling[name] != value:
            raise ParameterInvalid(name, "the scenario sets it to another value")
    effort = configured.abilities.first_accepted(scenario.effort)
    if request.effort and effort and request.effort != effort:
        raise ParameterInvalid("reasoning_effort", "the scenario sets it to another value")
    return {**scenario.sampling, **request.sampling}, request.effort or effort


def _policy(request: ChatRequest, scenario: Scenario, context: ModelContext, *, is_bound: bool) -> WindowPolicy:
    """Return the window policy, with the room for the reply that was asked for: never more than there may be."""
    scenario = scenario if request.truncates else without_dropping(scenario)
    policy = replace(effective_policy(scenario, context), recall_share=0.0)
    asked_tokens = reserve_asked_for(request, policy, context, is_bound=is_bound)
    return policy if asked_tokens is None else replace(policy, reply_reserve_tokens=asked_tokens)


def reserve_asked_for(
    request: ChatRequest, policy: WindowPolicy, context: ModelContext, *, is_bound: bool
) -> int | None:
    """Return the room for the reply that *request* asks for, None where it asks for none. Raises `ParameterInvalid`.

    A key that *is_bound* to a scenario gives no more than that does.
    """
    if (asked_tokens := request.most_output_tokens) is None:
        return None
    own_tokens = policy.reply_reserve_tokens or context.language_model.reply_reserve_tokens
    most_tokens = own_tokens if is_bound else max(own_tokens, largest_own_reserve_tokens(context))
    if asked_tokens > most_tokens:
        reason = f"at most {most_tokens} fit here, with {request.language_model}"
        raise ParameterInvalid(request.most_output_field, reason)
    return asked_tokens


def _turn(request: ChatRequest, system_prompt: str, context: ModelContext, shown: ShownPictures) -> Turn:
    messages = request.messages
    newest = shown.of_newest(_counted(messages.newest, messages.newest_place, context))
    steps = tuple(
        _counted(step, place, context) for place, step in enumerate(messages.steps, start=messages.newest_place + 1)
    )
    system_text = "\n\n".join(filter(None, (system_prompt, messages.system_prompt)))
    _check_it_may_fit(system_text, context)
    schema_tokens = count_tool_schemas(request.tools, language_model=context.language_model)
    return Turn(
        newest,
        system_prompt=system_text,
        steps=steps,
        tool_schema_tokens=schema_tokens + context.count_text(request.extra_prompt),
        has_tools=bool(request.tools),
        with_smaller_pictures=shown.smaller(newest),
    )


def _check_it_may_fit(system_text: str, context: ModelContext) -> None:
    """Raise `SystemPromptTooLong` for a text of megabytes without counting it to its end."""
    limit_tokens = context.language_model.context_window_tokens
    tokens = context.draft_tokens(PromptMessage("system", system_text))
    if tokens > limit_tokens:
        raise SystemPromptTooLong(tokens_over=tokens - limit_tokens)


def _older(request: ChatRequest, context: ModelContext) -> Iterator[HistoryMessage]:
    """Yield the history, newest first, each message counted only when it is looked at."""
    history, first_place = request.messages.history, request.messages.first_place
    for place in reversed(range(len(history))):
        yield _counted(history[place], first_place + place, context)


def _counted(message: PromptMessage, place: int, context: ModelContext) -> HistoryMessage:
    return HistoryMessage(place, message, context.draft_tokens(message))


def _may_be_quoted(refused: PreparedChat) -> bool:
    written = json.dumps([refused.sampling, refused.request.tools], ensure_ascii=False)
    return any(map(says_context_too_long, (written, *(message.content for message in refused.window.prompt))))

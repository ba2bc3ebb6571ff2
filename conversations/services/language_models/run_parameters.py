"""What a program has asked for, for one reply alone: stored with its run, and laid over the conversation in hand.

    language_model, effort           who makes the reply, and how hard it thinks
    system_prompt, instructions      behind the scenario's system prompt; the first is carried to the next response
    sampling                         sampling parameters beside the scenario's
    reply_reserve_tokens             the largest reply
    refuses_to_drop                  nothing may be left out of the window
    tools                            functions of the program, in place of the scenario's tools
    may_not_call                     they are described, and not to be called

Beside these stands what the response repeats of its request, which changes nothing of it: `echo`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from typing import Any

from conversations.models import Conversation, Scenario

WHOLE = "full"


def use_parameters_of_run(conversation: Conversation, parameters: Mapping[str, Any]) -> None:
    """Have *conversation*, as it is in hand and not as it is stored, ask for a reply with *parameters*."""
    conversation.parameters_of_run = parameters or None
    if not parameters:
        return
    conversation.language_model = parameters.get("language_model") or conversation.language_model
    conversation.effort = parameters.get("effort") or conversation.effort
    scenario = copy(conversation.scenario)
    texts = (scenario.system_prompt, parameters.get("system_prompt"), parameters.get("instructions"))
    scenario.system_prompt = "\n\n".join(filter(None, texts))
    scenario.sampling = {**scenario.sampling, **parameters.get("sampling", {})}
    scenario.reply_reserve_tokens = parameters.get("reply_reserve_tokens") or scenario.reply_reserve_tokens
    conversation.scenario = without_dropping(scenario) if parameters.get("refuses_to_drop") else scenario


def without_dropping(scenario: Scenario) -> Scenario:
    """Return *scenario*, not to be stored, with the window policy that sends everything or nothing."""
    scenario = copy(scenario)
    scenario.policy_name = WHOLE
    return scenario


def schema_of_answer(conversation: Conversation) -> str:
    """Return what the provider adds to the prompt for the form of the answer that was asked for, to be counted."""
    sampling = (conversation.parameters_of_run or {}).get("sampling", {})
    schema = sampling.get("response_format", {}).get("json_schema")
    return json.dumps(schema, ensure_ascii=False) if schema else ""

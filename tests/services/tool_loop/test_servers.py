"""A tool loop with each kind of server that demands no reasoning back: what it thinks, calls, answers and reports."""

from __future__ import annotations

import pytest

from conversations.models import Completion
from tests.support.server_dialogues import ANSWER, OUTPUT_TOKENS, REASONING_TOKENS, SERVERS, THOUGHTS
from tests.support.waiting import in_thread

from .tools import NotedTool

# What corrects the dialect where the server is not known by its address.
OPTIONS = {"mistral": "stream_options=no", "anthropic": "effort_field=none"}
CACHED_TOKENS = {"vllm": 16, "llama.cpp": 24, "anthropic": 8}  # the others do not say


@pytest.mark.parametrize("server", SERVERS)
async def test_a_loop_is_thought_called_answered_and_billed(talk_to, server):
    talk = await talk_to(f"serves-{server}", OPTIONS.get(server, ""))
    for question in ("Look around.", "And again?"):  # the second one has the first one's calls before it
        reply = await talk.ask(question, tool := NotedTool())
        assert (reply.state, reply.content, reply.error_params) == ("complete", "".join(ANSWER), {})
        assert tool.ran == ["{}"]

    thought = "" if SERVERS[server].thought == "none" else "".join(THOUGHTS)
    said = [message.reasoning for message in await talk.path() if message.role == "assistant"]
    assert said == [thought] * 4
    rows = await in_thread(list, Completion.objects.order_by("pk"))
    reasoning_tokens = REASONING_TOKENS if server == "lm-studio" else 0
    assert [
        (row.usage_estimated, row.input_tokens, row.output_tokens, row.cached_input_tokens, row.reasoning_tokens)
        for row in rows
    ] == [(False, 30, OUTPUT_TOKENS, CACHED_TOKENS.get(server), reasoning_tokens)] * 4


async def test_a_refused_field_names_the_option_with_which_the_same_server_answers(talk_to):
    talk = await talk_to("serves-mistral")
    reply = await talk.ask("Look around.", NotedTool())
    assert (reply.state, reply.error_code, reply.error_params) == (
        "failed", "dialect_rejected", {"word": "stream_options"}
    )  # fmt: skip

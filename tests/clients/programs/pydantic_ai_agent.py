"""An agent of pydantic-ai: an answer, a stream, a history, a tool in a loop. Prints what came, as JSON.

INTERFACE says over which: `chat` or `responses`.
"""

import asyncio
import json
import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=os.environ["BASE_URL"], api_key=os.environ["KEY"])
model = OpenAIResponsesModel if os.environ["INTERFACE"] == "responses" else OpenAIChatModel
called = []


def agent(name: str) -> Agent:
    return Agent(model(name, provider=provider), system_prompt="Be brief.")


def get_time() -> str:
    """Return the time."""
    called.append("get_time")
    return "noon"


async def main() -> None:
    whole = await agent("ok").run("Say hello.")
    async with agent("ok").run_stream("Say hello.") as stream:
        streamed = await stream.get_output()
    again = await agent("ok").run("And again?", message_history=whole.all_messages())
    looping = agent("tools-script")
    looping.tool_plain(get_time)
    looped = await looping.run("What time is it?")
    told = {
        "whole": whole.output,
        "tokens": whole.usage().total_tokens,
        "streamed": streamed,
        "again": again.output,
        "called": called,
        "looped": looped.output,
    }
    print(json.dumps(told))


asyncio.run(main())

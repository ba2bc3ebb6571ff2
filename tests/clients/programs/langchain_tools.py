"""LangChain's ChatOpenAI: an answer, a stream, and a tool whose result goes back. Prints what came, as JSON."""

import json
import os

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def get_time(zone: str = "UTC") -> str:
    """Return the time."""
    return "noon"


def model(name: str) -> ChatOpenAI:
    return ChatOpenAI(model=name, base_url=os.environ["BASE_URL"], api_key=os.environ["KEY"])


whole = model("ok").invoke("Say hello.")
streamed = "".join(chunk.content for chunk in model("ok").stream("Say hello."))
messages = [HumanMessage("What time is it?")]
asked = model("tools-script").bind_tools([get_time]).invoke(messages)
[call] = asked.tool_calls
result = ToolMessage(get_time.invoke(call["args"]), tool_call_id=call["id"])
answered = model("tools-script").bind_tools([get_time]).invoke([*messages, asked, result])
print(
    json.dumps(
        {
            "whole": whole.content,
            "tokens": whole.usage_metadata["total_tokens"],
            "streamed": streamed,
            "called": call["name"],
            "answered": answered.content,
        }
    )
)

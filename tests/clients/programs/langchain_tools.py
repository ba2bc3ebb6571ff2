"""LangChain's ChatOpenAI: an answer, a stream, a tool whose result goes back, a history. Prints what came, as JSON.

INTERFACE says over which: `chat` or `responses`.
"""

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
    return ChatOpenAI(
        model=name,
        base_url=os.environ["BASE_URL"],
        api_key=os.environ["KEY"],
        use_responses_api=os.environ["INTERFACE"] == "responses",
    )


whole = model("ok").invoke("Say hello.")
streamed = "".join(chunk.text for chunk in model("ok").stream("Say hello."))
again = model("ok").invoke([HumanMessage("Say hello."), whole, HumanMessage("And again?")])
messages = [HumanMessage("What time is it?")]
asked = model("tools-script").bind_tools([get_time]).invoke(messages)
[call] = asked.tool_calls
result = ToolMessage(get_time.invoke(call["args"]), tool_call_id=call["id"])
answered = model("tools-script").bind_tools([get_time]).invoke([*messages, asked, result])
print(
    json.dumps(
        {
            "whole": whole.text,
            "tokens": whole.usage_metadata["total_tokens"],
            "streamed": streamed,
            "again": again.text,
            "called": call["name"],
            "answered": answered.text,
        }
    )
)

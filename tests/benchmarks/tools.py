"""What tools cost a window: calls and results among 10,000 older messages, and counting the schemas of 500 tools.

Three conversations end alike but for this: in the second, every second reply has called a tool for a small result, and
in the third for one of 40,000 characters, which is read and left out. The window is made as for a request, by
`build_window`; figures are medians of rounds in which all take turns.

    python -m tests.benchmarks.tools [--json FILE]
"""

from __future__ import annotations

from typing import Any

from tests.benchmarks._figures import Figures, run_benchmark, verdict
from tests.benchmarks._site import temporary_site
from tests.benchmarks._turns import Work, take_turns, time_work

MESSAGES = 10_002
ROUNDS = 300
WARM_UP_ROUNDS = 20
LANGUAGE_MODEL = "fake context_window=8192 reply_reserve=1024 encoding=o200k_base"
RESULTS = {"small results": "It is noon in Lisbon. ", "large results": "It is noon in Lisbon. " * 1_800}
PLAIN = "plain"
WITHIN_PLAIN = 2.0
SCHEMAS = 500
AGAIN_WITHIN_MS = 20.0


def measure() -> Figures:
    with temporary_site(OPENAI_BASE_URL="http://127.0.0.1:9/v1", LANGUAGE_MODELS=LANGUAGE_MODEL):
        return {"messages": MESSAGES, "rounds": ROUNDS, "windows": _windows(), "schemas": _schemas()}


def _windows() -> dict[str, dict[str, float]]:
    from tests.benchmarks._long_conversations import make_long_conversation, settle_all
    from tests.benchmarks._tool_turns import call_tools

    conversations = {name: make_long_conversation(MESSAGES) for name in (PLAIN, *RESULTS)}
    for name, result in RESULTS.items():
        call_tools(conversations[name], result)
    settle_all(conversations.values())
    works: dict[str, Work] = {name: conversation.window for name, conversation in conversations.items()}
    taken = take_turns(works, rounds=ROUNDS, warm_up_rounds=WARM_UP_ROUNDS)
    return {
        name: {
            "window_us": taken[name].wall_us,
            "to_plain": taken[name].wall_us / taken[PLAIN].wall_us,
            "older_messages": sum(entry.kind == "older" for entry in conversation.window().record.entries),
        }
        for name, conversation in conversations.items()
    }


def _schemas() -> dict[str, Any]:
    from conversations.providers.catalog.language_models import default_language_model
    from conversations.providers.tokens.tokenizer import count_tool_schemas

    tools, language_model = [_schema(number) for number in range(SCHEMAS)], default_language_model().language_model
    count_tool_schemas(tools[:1], language_model=language_model)  # the vocabulary is loaded by now
    first, again = (time_work(lambda: count_tool_schemas(tools, language_model=language_model)) for _ in range(2))
    tokens = count_tool_schemas(tools, language_model=language_model)
    return {"tools": SCHEMAS, "tokens": tokens, "first_ms": first.cpu_us / 1e3, "again_ms": again.cpu_us / 1e3}


def _schema(number: int) -> dict[str, Any]:
    words = "What is looked for, in as few words as will do, and in the language of the archive."
    place = {"type": "object", "properties": {"city": {"type": "string"}, "country": {"type": "string"}}}
    properties = {
        "query": {"type": "string", "description": words},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        "order": {"type": "string", "enum": ["newest", "oldest", "best"]},
        "places": {"type": "array", "items": place},
    }
    parameters = {"type": "object", "properties": properties, "required": ["query"]}
    function = {"name": f"archive__search_{number}", "description": f"Search part {number}.", "parameters": parameters}
    return {"type": "function", "function": function}


def report(result: Figures) -> None:
    print(f"{result['messages']:,} messages, medians of {result['rounds']} rounds")
    for name, row in result["windows"].items():
        print(f"{name:>14} {row['window_us']:>7.0f} µs, {row['older_messages']} older messages in the window")
    print(
        "slowest : plain window  ",
        verdict(max(row["to_plain"] for row in result["windows"].values()), at_most=WITHIN_PLAIN),
    )
    schemas = result["schemas"]
    print(f"{schemas['tools']} schemas of {schemas['tokens']:,} tokens: counted in {schemas['first_ms']:.0f} ms of CPU")
    print("counted again, ms       ", verdict(schemas["again_ms"], at_most=AGAIN_WITHIN_MS))


if __name__ == "__main__":
    run_benchmark(__doc__.splitlines()[0], measure, report)

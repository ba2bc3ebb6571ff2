"""kani, which keeps its own history and counts tokens: two rounds. Prints what came, as JSON."""

import asyncio
import json
import os

from kani import Kani
from kani.engines.openai import OpenAIEngine


class Words:
    """Counts words: the tokenizer that kani takes otherwise is fetched from the network."""

    def encode(self, text: str, **options: object) -> list[str]:
        return text.split()


async def main() -> None:
    engine = OpenAIEngine(
        api_key=os.environ["KEY"],
        api_base=os.environ["BASE_URL"],
        model="ok",
        max_context_size=8_000,
        tokenizer=Words(),
    )
    chat = Kani(engine, system_prompt="Be brief.")
    first = await chat.chat_round_str("Say hello.")
    stream = chat.chat_round_stream("And again?")
    second = "".join([token async for token in stream])
    await engine.close()
    print(json.dumps({"whole": first, "streamed": second, "messages": len(chat.chat_history)}))


asyncio.run(main())

"""A conversation over `/v1/responses` that outgrows its window many times: no error, a memory, and a bill that agrees.

The openai package, synchronous and asynchronous, whole and as a stream, with functions of the program in every tenth
turn. It has 500 turns in `make faults`, else as many as CONVERSATION_TURNS says.
"""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from collections import Counter

import openai
import pytest

from tests.support.api_clients import TOOL, client_of, make_key, rows_of, sent_messages
from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT
from tests.support.upstream import count_prompt

from .conftest import REPEATS_ALL, checked

TURNS = int(os.environ.get("CONVERSATION_TURNS", "500" if REPEATS_ALL else "40"))
WINDOW_TOKENS = 4_096
FACT_TURN, QUESTION_TURN = 3, TURNS * 24 // 25
FACT = "By the way, my boat is named Kestrel, and I painted her blue."
QUESTION = "What is the name of my boat?"
TOPICS = ("bread", "gardens", "trains", "weather", "roofs", "bicycles", "chess", "films", "soup", "stamps", "rivers")
MODEL = f"context_window={WINDOW_TOKENS} reply_reserve=%d encoding=o200k_base input_usd=1 output_usd=2"
RESERVES = {"words-80": 256, "tools-script": 256, "echo": 1_280}  # the echo of a question has what is recalled for it


@pytest.fixture
def small_site(make_site):
    models = ", ".join(f"{name} {MODEL % reserve_tokens}" for name, reserve_tokens in RESERVES.items())
    with make_site(LANGUAGE_MODELS=models) as site:
        site.serve()
        with checked(site):
            yield site


class Program:
    """Asks one turn after the other in one conversation, each in another of the ways there are."""

    def __init__(self, site, key):
        self.site = site
        self.client = client_of(site, key, max_retries=0)
        self.waiting = openai.AsyncOpenAI(
            base_url=f"{site.address}/v1", api_key=key, max_retries=0, timeout=PATIENCE_SECONDS
        )
        self.conversation = self.client.conversations.create().id
        self.newest = ""

    async def ask(self, turn, content, model):
        fields = {"model": model, "input": content, "instructions": "Be brief.", **self._place(turn)}
        response = await self._answered(turn, fields)
        self.newest = response.id
        return response

    async def call(self, turn):
        """Ask in a loop of one function of the program's own."""
        asked = await self.ask_with_tools(turn, f"What time is it, at turn {turn}?")
        [call] = asked.output
        output = {"type": "function_call_output", "call_id": call.call_id, "output": "noon " * 20}
        return await self.ask_with_tools(turn, [output])

    async def ask_with_tools(self, turn, content):
        response = await self._answered(
            turn, {"model": "tools-script", "input": content, "tools": [TOOL], "conversation": self.conversation}
        )
        self.newest = response.id
        return response

    def _place(self, turn):
        """Go on by the id of the conversation, or by that of the newest response: it is the same."""
        by_response = self.newest and turn % 3 == 0
        return {"previous_response_id": self.newest} if by_response else {"conversation": self.conversation}

    async def _answered(self, turn, fields):
        if turn % 4 == 0:
            return self.client.responses.create(**fields)
        if turn % 4 == 1:
            with self.client.responses.stream(**fields) as stream:
                return stream.get_final_response()
        if turn % 4 == 2:
            return await self.waiting.responses.create(**fields)
        async with self.waiting.responses.stream(**fields) as stream:
            return await stream.get_final_response()


def said(turn):
    """Return what the user says in a turn: some forty words that no other turn has all of."""
    topic, other = TOPICS[turn % len(TOPICS)], TOPICS[turn * 7 % len(TOPICS)]
    return f"Turn {turn}. " + " ".join(f"About {topic} {number} and {other}." for number in range(turn, turn + 10))


async def test_a_conversation_goes_on_and_remembers(small_site, tmp_path):
    site = small_site
    key = make_key(site, scopes=("chat", "read"))
    program = Program(site, key)
    for turn in range(1, TURNS + 1):
        if turn == QUESTION_TURN:
            response = await program.ask(turn, QUESTION, "echo")
            assert "Kestrel" in response.output_text  # it says what it was sent with the question
            assert not any("Kestrel" in content for _, content in sent_messages(site)[:-1])
        elif turn % 10 == 0:
            response = await program.call(turn)
        else:
            response = await program.ask(turn, FACT if turn == FACT_TURN else said(turn), "words-80")
        assert response.status == "completed"
        assert response.output_text
    items = list(program.client.conversations.items.list(program.conversation, limit=100))
    assert sum(item.type == "message" and item.role == "user" for item in items) == TURNS
    log = site.upstream.log()
    check_windows(log)
    check_bill(site, key, log, tmp_path)


def check_windows(log):
    assert all(exchange["ended"] == "complete" for exchange in log)
    sizes = [count_prompt(exchange["body"]) + exchange["body"]["max_tokens"] for exchange in log]
    assert max(sizes) <= WINDOW_TOKENS
    print(f"{TURNS} turns, {len(sizes)} requests, the largest with its reply {max(sizes)} tokens")
    assert max(sizes) > WINDOW_TOKENS * 0.7  # they were full: the conversation is longer than any


def check_bill(site, key, log, folder):
    """Compare the ledger with what the provider says of each request: by number, and by `manage.py reconcile`."""
    rows = rows_of(site, key)
    asked = [exchange for exchange in log if exchange["usage"]]
    told = Counter()
    for exchange in asked:
        day = dt.datetime.fromtimestamp(exchange["began_at"], dt.UTC).date()
        usage = exchange["usage"]
        told[day, exchange["model"], "requests"] += 1
        told[day, exchange["model"], "input"] += usage["prompt_tokens"]
        told[day, exchange["model"], "cached"] += usage["prompt_tokens_details"]["cached_tokens"]
        told[day, exchange["model"], "output"] += usage["completion_tokens"]
    assert sum(row["input_tokens"] for row in rows) == sum(exchange["usage"]["prompt_tokens"] for exchange in asked)
    lines = ["day,model,requests,input_tokens,cached_input_tokens,output_tokens,cost_usd"]
    for day, model in sorted({(day, model) for day, model, _ in told}):
        requests, given, cached, output = (told[day, model, what] for what in ("requests", "input", "cached", "output"))
        lines.append(f"{day},{model},{requests},{given},{cached},{output},{(given + 2 * output) / 1_000_000:.6f}")
    export = folder / "usage.csv"
    export.write_text("\n".join(lines) + "\n")
    ran = subprocess.run(
        [sys.executable, "manage.py", "reconcile", str(export)],
        env=os.environ | site.settings,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr

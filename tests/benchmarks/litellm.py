"""A LiteLLM proxy between the product's client and the fake provider: does the same arrive through it as without?

It is installed from its package, in a fixed release, into an environment of its own that is deleted afterwards. It runs
without this machine's environment variables, because two releases stole secrets (BerriAI/litellm#24518), and listens on
the loopback. Each case is asked directly and through the proxy. A loop is a call of a tool, then a second request with
the call, its result and the reasoning that its dialect demands back: the fake provider compares it byte for byte.

    python -m tests.benchmarks.litellm [--release N] [--environment FOLDER] [--json FILE]
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import hashlib
import http.client
import json
import os
import secrets
import subprocess
import tempfile
import time
import venv
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from conversations.core.errors import CompletionError
from conversations.core.prompt.kept_reasoning import KeptReasoning
from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.pictures import PromptPicture
from conversations.core.prompt.prompt_format import PromptFormat
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.completion_stream import (
    CompletionEnd,
    ReasoningDelta,
    TextDelta,
    TextWasReasoning,
    ToolCallCollector,
    ToolCallDelta,
)
from conversations.providers.openai_api.dialect import PLAIN_DIALECT, Dialect
from tests.benchmarks._figures import Figures, arguments_for, write_json
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port
from tests.support.sent_pictures import picture_digests
from tests.support.upstream import Upstream, serve_upstream

RELEASE = "1.108.7"
START_SECONDS = 10 * PATIENCE_SECONDS
PICTURE = b"\x89PNG\r\n\x1a\n the bytes of a picture"
LOOK = {"name": "look", "description": "Look around.", "parameters": {"type": "object", "properties": {}}}
THOUGHT_IN_TAGS = "<think>They greet me.</think>Hello."


@dataclass(frozen=True, slots=True)
class Case:
    """A *model* of the fake provider that is asked, and what it is about."""

    about: str
    model: str
    dialect: Dialect = PLAIN_DIALECT
    words: int = 2
    has_picture: bool = False
    is_loop: bool = False


def sending_back(*fields: str) -> Dialect:
    return dataclasses.replace(PLAIN_DIALECT, sent_back=frozenset(fields))


RESPONSES: Final = dataclasses.replace(
    PLAIN_DIALECT, prompt_format=PromptFormat("responses"), output_limit_field="max_output_tokens"
)
CACHED: Final = dataclasses.replace(PLAIN_DIALECT, prompt_format=PromptFormat("chat", "anthropic"))
CASES: Final = (
    Case("chat", "ok"),
    Case("chat, Unicode in pieces", "utf8-split"),
    Case("chat, cut off by length", "length"),
    Case("chat, cut off by a filter", "filtered"),
    Case("usage", "usage-7-9"),
    Case("cache breakpoints", "ok", CACHED),
    Case("tools, one call", "tool-calls"),
    Case("tools, a loop", "thinks-plain", is_loop=True),
    Case("reasoning_content", "reasoning-twice"),
    Case("<think> in the text", f"says-{THOUGHT_IN_TAGS.encode().hex()}"),
    Case("a megabyte of reasoning", "thinking-megabyte"),
    Case("reasoning back: reasoning_content", "thinks-deepseek", sending_back("reasoning_content"), is_loop=True),
    Case("reasoning back: reasoning_details", "thinks-openrouter", is_loop=True),
    Case("reasoning back: thinking_blocks", "thinks-litellm", is_loop=True),
    Case("reasoning back: signature of a call", "thinks-gemini", is_loop=True),
    Case("a picture", "ok", has_picture=True),
    Case("a picture for a model that sees none", "blind", has_picture=True),
    Case("Responses API, chat", "ok", RESPONSES),
    Case("Responses API, reasoning", "reasoning", RESPONSES),
    Case("Responses API, a loop", "thinks-responses", RESPONSES, is_loop=True),
    Case("Responses API, a picture", "ok", RESPONSES, has_picture=True),
    Case("error: wrong key", "status-401"),
    Case("error: busy", "status-429-after-2"),
    Case("error: no money left", "quota-429"),
    Case("error: no such model", "no-such-model"),
    Case("error: prompt too long, with the limit", "context-limit-2048", words=3_000),
    Case("error: the server failed", "status-500"),
    Case("error in the stream", "error-in-stream-after-2"),
    Case("stream cut", "cut-after-2"),
)


async def ask(client: CompletionClient, upstream: Upstream, case: Case) -> Figures:
    """Return what arrives of the case: what is shown of the reply, and what the provider was sent."""
    upstream.reset()
    picture = PromptPicture(hashlib.sha256(PICTURE).hexdigest(), "image/png", 512, 512)
    question = PromptMessage("user", " ".join(["word"] * case.words), pictures=(picture,) if case.has_picture else ())
    prompt = [PromptMessage("system", "Be brief."), question]
    arrived = await stream(client, case, prompt)
    if case.is_loop and not arrived["error"]:
        prompt += [
            called(arrived, case),
            *(PromptMessage("tool", "A room.", tool_call_id=c.id) for c in arrived["calls"]),
        ]
        arrived = await stream(client, case, prompt)
    arrived["calls"] = [(call.name, call.arguments) for call in arrived["calls"]]
    del arrived["kept"]
    newest = next(iter(upstream.log()[-1:]), None)
    arrived["pictures"] = picture_digests(newest["body"]) if newest and case.has_picture else []
    arrived["breakpoints"] = json.dumps(newest["body"]).count('"cache_control"') if newest else 0
    return arrived


async def stream(client: CompletionClient, case: Case, prompt: list[PromptMessage]) -> Figures:
    request = CompletionRequest(
        case.model,
        tuple(prompt),
        max_output_tokens=500,
        tools=[{"type": "function", "function": LOOK}] if case.is_loop or case.model == "tool-calls" else (),
        dialect=case.dialect,
        data_urls={hashlib.sha256(PICTURE).hexdigest(): f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"},
    )
    text: list[str] = []
    thoughts: list[str] = []
    calls, end, error = ToolCallCollector(), None, None
    try:
        async for event in client.stream(request):
            match event:
                case TextDelta():
                    text.append(event.text)
                case ReasoningDelta():
                    thoughts.append(event.text)
                case TextWasReasoning():
                    thoughts, text = thoughts + text, []
                case ToolCallDelta():
                    calls.take(event)
                case CompletionEnd():
                    end = event
    except CompletionError as failed:
        error = failed
    return {
        "text": "".join(text),
        "reasoning": hashlib.sha256("".join(thoughts).encode()).hexdigest() if thoughts else "",
        "calls": calls.calls(step=1),
        "kept": {"fields": end.kept.get("fields", {}), "items": end.kept.get("items"), "calls": calls.kept}
        if end
        else {},
        "finish": end.finish_reason if end else None,
        "input_tokens": end.usage.input_tokens if end and end.usage else None,
        "output_tokens": end.usage.output_tokens if end and end.usage else None,
        "cached_tokens": end.usage.cached_input_tokens if end and end.usage else None,
        "error": type(error).__name__ if error else "",
        "error_limit_tokens": getattr(error, "limit_tokens", None),
        "retry_after_seconds": error.retry_after_seconds if error else None,
        "error_detail": error.detail if error else "",
    }


def called(arrived: Figures, case: Case) -> PromptMessage:
    """Return the step that was made, with the reasoning that its dialect sends back."""
    told, sent_back = arrived["kept"], case.dialect.sent_back
    content: dict[str, Any] = {"items": told["items"]} if told["items"] else {}
    content["fields"] = {name: value for name, value in told["fields"].items() if name in sent_back}
    content["calls"] = [
        {name: call[name] for name in call if name in sent_back} for call in map(dict, filter(None, told["calls"]))
    ]
    kept = KeptReasoning.from_content(
        content, language_model=case.model, wire=case.dialect.prompt_format.wire, tokens=0
    )
    return PromptMessage("assistant", arrived["text"], tool_calls=arrived["calls"], kept=kept)


@asynccontextmanager
async def client_of(base_url: str, key: str) -> AsyncIterator[CompletionClient]:
    client = CompletionClient(base_url, key)
    try:
        yield client
    finally:
        await client.aclose()


async def compare(upstream: Upstream, proxy_url: str, key: str) -> list[Figures]:
    rows = []
    async with client_of(upstream.base_url, key) as direct, client_of(proxy_url, key) as through:
        for case in CASES:
            alone, proxied = await ask(direct, upstream, case), await ask(through, upstream, case)
            differs = {
                name: [alone[name], proxied[name]]
                for name in alone
                if alone[name] != proxied[name] and name != "error_detail"
            }
            rows.append(
                {"case": case.about, "model": case.model[:40], "differs": differs, "direct": alone, "through": proxied}
            )
    return rows


def install(folder: Path, release: str) -> Path:
    """Install the proxy into an environment in *folder*, unless it is there; return its program."""
    program = folder / "bin" / "litellm"
    if not program.exists():
        venv.create(folder, with_pip=True)
        install_named = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", f"litellm[proxy]=={release}"]
        subprocess.run(install_named, check=True)
    return program


@contextmanager
def proxy(
    program: Path, folder: Path, upstream_url: str, key: str, names: Collection[str]
) -> Iterator[tuple[psutil.Process, str]]:
    """Run the proxy in front of the provider's models of these *names*; yield its process and its base URL."""
    settings = {
        "model_list": [
            {
                "model_name": name,
                "litellm_params": {"model": f"openai/{name}", "api_base": upstream_url, "api_key": "sk-test"},
                # Without it a model that it does not know is asked over the Responses API for a whole answer.
                "model_info": {"supports_native_streaming": True},
            }
            for name in names
        ],
        "litellm_settings": {"telemetry": False, "num_retries": 0},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }
    (folder / "config.yaml").write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
    port = free_port()
    environment = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "LITELLM_MASTER_KEY": key,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it asks for its price list over the network
    }
    command = [program, "--config", folder / "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "proxy.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            wait_until_alive(process, port)
            yield psutil.Process(process.pid), f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait()


def wait_until_alive(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
        try:
            connection.request("GET", "/health/liveliness")
            if connection.getresponse().status == http.HTTPStatus.OK:
                return
        except OSError:
            time.sleep(0.2)
        finally:
            connection.close()
    raise RuntimeError("the proxy has not started; see proxy.log in its folder")


def measure(release: str, environment: Path | None) -> Figures:
    with tempfile.TemporaryDirectory() as folder, serve_upstream() as upstream:
        key = f"sk-{secrets.token_hex(24)}"
        program = install(environment or Path(folder) / "environment", release)
        names = {case.model for case in CASES}
        with proxy(program, Path(folder), upstream.base_url, key, names) as (_, proxy_url):
            rows = asyncio.run(compare(upstream, proxy_url, key))
    return {"release": release, "cases": rows, "same": sum(not row["differs"] for row in rows)}


def report(result: Figures) -> None:
    print(
        f"LiteLLM {result['release']}: {result['same']} of {len(result['cases'])} cases arrive as they do without it\n"
    )
    for row in result["cases"]:
        ended = row["direct"]["error"] or row["direct"]["finish"]
        print(f"{row['case']:<42} {ended:<22} {'same' if not row['differs'] else 'differs'}")
        for name, (direct, through) in row["differs"].items():
            print(f"    {name:<20} {shown(direct)} → {shown(through)}")
        if row["differs"].keys() & {"error"} and row["through"]["error"]:
            print(f"    {shown(row['through']['error_detail'])}")


def shown(value: object) -> str:
    said = str(value)
    return said if len(said) <= 160 else f"{said[:160]}… ({len(said):,} characters)"


def main() -> None:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("--release", default=RELEASE, help="of LiteLLM (%(default)s)")
    parser.add_argument("--environment", type=Path, help="where it is installed, or is to be, and is left")
    arguments = parser.parse_args()
    result = measure(arguments.release, arguments.environment)
    report(result)
    write_json(result, arguments.json)


if __name__ == "__main__":
    main()

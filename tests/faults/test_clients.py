"""Clients that others have written, at `/v1` over a real port: `make clients` installs them, pinned, and runs this.

They stand in `.clients/`, apart from what the site and its tests need, and are processes of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from tests.support.api_clients import make_key, rows_of
from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT

from .conftest import checked
from .sites import configured

CLIENTS = PROJECT / ".clients"
PROGRAMS = PROJECT / "tests/clients/programs"
PYTHON = CLIENTS / "venv/bin/python"
HELLO = "Hello from the upstream."
needs_python = pytest.mark.skipif(not PYTHON.exists(), reason="needs clients from PyPI: make clients")
needs_node = pytest.mark.skipif(
    not (shutil.which("node") and (CLIENTS / "node_modules/ai").exists()),
    reason="needs npm: make clients",
)


both_interfaces = pytest.mark.parametrize("interface", ["chat", "responses"])


@pytest.fixture
def key(site):
    return make_key(site)


def run(site, key, *command, **environment):
    """Run a client and return what it printed."""
    given = {"BASE_URL": f"{site.address}/v1", "KEY": key, "OPENAI_API_KEY": "", **environment}
    ran = subprocess.run(
        [str(part) for part in command],
        env={**{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}, **given},
        cwd=CLIENTS,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def told(*arguments, **environment):
    return json.loads(run(*arguments, **environment).splitlines()[-1])


def check_history_was_sent(site):
    """Look for the answer before "And again?" in what the provider was sent."""
    sent = [exchange["body"]["messages"] for exchange in site.upstream.log()]
    [again] = [messages for messages in sent if messages[-1]["content"] == "And again?"]
    assert [message["content"] for message in again[-3:]] == ["Say hello.", HELLO, "And again?"]


@needs_python
@both_interfaces
def test_langchain_answers_streams_and_calls_tools(site, key, interface):
    answers = told(site, key, PYTHON, PROGRAMS / "langchain_tools.py", INTERFACE=interface)
    rows = rows_of(site, key)
    assert (answers["whole"], answers["streamed"], answers["again"]) == (HELLO, HELLO, HELLO)
    assert answers["tokens"] == rows[0]["input_tokens"] + rows[0]["output_tokens"]
    assert (answers["called"], answers["answered"]) == ("get_time", "That is what the tools say.")
    check_history_was_sent(site)
    assert len(rows) == 5


@needs_python
@both_interfaces
def test_pydantic_ai_answers_streams_and_loops(site, key, interface):
    answers = told(site, key, PYTHON, PROGRAMS / "pydantic_ai_agent.py", INTERFACE=interface)
    rows = rows_of(site, key)
    assert (answers["whole"], answers["streamed"], answers["again"]) == (HELLO, HELLO, HELLO)
    assert answers["tokens"] == rows[0]["input_tokens"] + rows[0]["output_tokens"]
    assert (answers["called"], answers["looped"]) == (["get_time"], "That is what the tools say.")
    check_history_was_sent(site)
    assert len(rows) == 5


@needs_python
def test_the_cases_of_open_responses_pass(make_site):
    models = ", ".join(
        f"{configured(name)} vision=yes picture_tokens=300" for name in ("ok", "reasoning", "tools-script")
    )
    with make_site(LANGUAGE_MODELS=models) as site:
        site.serve()
        with checked(site):
            wrong = told(site, make_key(site), PYTHON, PROGRAMS / "open_responses.py")
    assert len(wrong) == 11
    assert not {case: errors for case, errors in wrong.items() if errors}


@needs_python
def test_kani_keeps_a_history(site, key):
    answers = told(site, key, PYTHON, PROGRAMS / "kani_chat.py")
    assert (answers["whole"], answers["streamed"], answers["messages"]) == (HELLO, HELLO, 4)
    assert len(rows_of(site, key)) == 2


@needs_python
def test_the_llm_command_answers_and_goes_on(site, key, tmp_path):
    models = (PROGRAMS / "llm_models.yaml").read_text().replace("BASE_URL", f"{site.address}/v1")
    (tmp_path / "extra-openai-models.yaml").write_text(models)
    llm = [CLIENTS / "venv/bin/llm", "-m", "windowseat", "--key", key]
    user = {"LLM_USER_PATH": str(tmp_path)}
    for more in ([], ["--no-stream"], ["-c"]):
        assert run(site, key, *llm, *more, "Say hello.", **user).strip() == HELLO
    assert len(site.upstream.log()[-1]["body"]["messages"]) == 3
    assert len(rows_of(site, key)) == 3


@needs_node
@both_interfaces
def test_the_ai_sdk_answers_streams_and_loops(site, key, interface):
    program = shutil.copy(PROGRAMS / "ai_sdk.mjs", CLIENTS)  # modules are looked for where it stands
    answers = told(site, key, "node", program, INTERFACE=interface)
    rows = rows_of(site, key)
    assert (answers["whole"], answers["streamed"], answers["again"]) == (HELLO, HELLO, HELLO)
    assert answers["tokens"] == rows[0]["input_tokens"] + rows[0]["output_tokens"]
    assert (answers["called"], answers["looped"]) == (["get_time"], "That is what the tools say.")
    check_history_was_sent(site)
    assert len(rows) == 5

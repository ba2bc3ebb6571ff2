"""OpenAI's Codex command line at `/v1/responses`: `make codex` installs it, pinned, and runs this. It takes 424 MB."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.support.api_clients import make_key, rows_of
from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT

CODEX = PROJECT / ".clients/codex/node_modules/.bin/codex"
ANSWER = "Codex has seen what the command says."
# What Codex has beside functions is switched off: docs/api.md says so to people.
SETTINGS = {
    "model_provider": "windowseat",
    "web_search": "disabled",
    "features.multi_agent": False,
    "model_providers.windowseat.name": "Windowseat",
    "model_providers.windowseat.env_key": "KEY",
    "model_providers.windowseat.wire_api": "responses",
    "model_providers.windowseat.supports_websockets": False,
    "model_providers.windowseat.request_max_retries": 0,
    "model_providers.windowseat.stream_max_retries": 0,
}
pytestmark = pytest.mark.skipif(not CODEX.exists(), reason="needs Codex from npm: make codex")


def run_codex(site, key, folder, prompt, model):
    settings = {**SETTINGS, "model_providers.windowseat.base_url": f"{site.address}/v1"}
    given = [part for name, value in settings.items() for part in ("-c", f"{name}={json.dumps(value)}")]
    command = [CODEX, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", *given]
    (folder / "home").mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": folder / "home", "CODEX_HOME": folder / "home", "KEY": key}
    ran = subprocess.run(
        [*command, "-m", model, prompt],
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_codex_answers(site, tmp_path):
    key = make_key(site)
    assert run_codex(site, key, tmp_path, "Say hello.", "ok").strip() == "Hello from the upstream."
    assert len(rows_of(site, key)) == 1


def test_codex_runs_a_command_and_goes_on(site, tmp_path):
    key = make_key(site)
    call = {"name": "exec_command", "arguments": {"cmd": "echo seen > seen.txt; cat seen.txt"}}
    prompt = json.dumps({"calls": [[call]], "answer": ANSWER})
    assert run_codex(site, key, tmp_path, prompt, "tools-script").strip() == ANSWER
    assert (tmp_path / "seen.txt").read_text() == "seen\n"
    result = site.upstream.log()[-1]["body"]["messages"][-1]
    assert (result["role"], "seen" in result["content"]) == ("tool", True)
    assert len(rows_of(site, key)) == 2

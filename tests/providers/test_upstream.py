"""The fake provider does what its table says, for everyone whose tests stand on it."""

import re
import subprocess
import sys

import pytest

import tests.support.upstream
from conversations.core.errors import ProviderUnavailable
from tests.support.upstream import FAULTS, Upstream, fault_of


def test_the_table_names_every_model():
    rows = [line.split("|")[1] for line in tests.support.upstream.__doc__.splitlines() if line.startswith("| `")]
    documented = {re.sub(r"CODE|MS", "N", name) for row in rows for name in re.findall("`(.+?)`", row)}

    assert documented >= FAULTS.keys()
    for name in documented - FAULTS.keys():
        assert fault_of(name.replace("-times-N", "").replace("HEX", "6f6b").replace("N", "7")), name


async def test_a_fault_with_times_heals(ask, upstream):
    upstream.reset()
    for _ in range(2):
        with pytest.raises(ProviderUnavailable):
            await ask("status-503-times-2")

    assert (await ask("status-503-times-2"))[-1].finish_reason == "stop"


async def test_the_log_has_what_was_sent_and_what_was_said(ask, upstream):
    upstream.reset()
    await ask("tokens-2", max_output_tokens=9)
    (exchange,) = upstream.log()

    assert exchange["body"]["messages"] == [{"role": "user", "content": "hi there"}]
    assert exchange["body"]["max_tokens"] == 9
    assert exchange["emitted"] == ["word0", " word1"]
    assert exchange["ended"] == "complete"


def test_it_runs_as_a_process_of_its_own():
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.upstream"], stdout=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().strip().removesuffix("/v1")
        log = Upstream(address).log()
        process.terminate()

    assert log == []

"""Streams of `/v1/chat/completions` to 50 programs, against a bare HTTP relay and LiteLLM's proxy in the same run.

The product checks the key, chooses the window, reserves the money and settles the ledger for each request; the relay
passes the events on, and LiteLLM's proxy does what it does with one key and no database. All read from the same fake
provider, in turns, and serve the same programs. The figure is chunks of the provider whose text arrived, for each
second of CPU time of the server, PostgreSQL's processes left out; the relay's is 1.0.

    python -m tests.benchmarks.api_streaming [--replies 50] [--tokens 600] [--pace 25] [--within 1] [--pairs 3]
                                             [--litellm FOLDER] [--json F]

*litellm* is a folder in which its proxy is installed, or is to be, and is left; without it there is no such contender.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks._clients import Program
from tests.benchmarks._figures import Figures, verdict, write_json
from tests.benchmarks._processes import started
from tests.benchmarks._site import temporary_site
from tests.benchmarks.litellm import RELEASE, install, proxy
from tests.benchmarks.streaming import (
    Contender,
    Load,
    load_arguments,
    load_of,
    report_contender,
    site_settings,
    summary,
    take_rounds,
)

RELAY_AT_LEAST = 0.9
LITELLM_AT_LEAST = 4.0


def measure(load: Load, litellm: Path | None) -> Figures:
    with (
        started("-m", "tests.benchmarks._provider", ready="http") as (_, base_url),
        temporary_site(**site_settings(base_url, load.language_model)) as postgres,
        started("manage.py", "serve", ready="Stop it with") as (site, _),
        started("-m", "tests.benchmarks._relay", base_url, ready="ws") as (relay, relay_address),
        ExitStack() as stack,
    ):
        relay_url = relay_address.replace("ws", "http", 1).rstrip("/")
        contenders = [
            Contender("product", site, postgres, None, programs(make_keys(load.replies), load)),
            Contender("relay", relay, None, None, [Program(relay_url, load.language_model)] * load.replies),
        ]
        if litellm is not None:
            contenders.append(stack.enter_context(litellm_contender(litellm, base_url, load)))
        rounds = take_rounds(contenders, load)
        verify_ledger(load)
    by_name = {name: summary(taken, load.replies) for name, taken in rounds.items()}
    rate = {name: row["chunks_per_cpu_second"] for name, row in by_name.items()}
    return {
        **asdict(load),
        "product_to_relay": rate["product"] / rate["relay"],
        "product_to_litellm": rate["product"] / rate["litellm"] if litellm is not None else None,
        **by_name,
    }


def make_keys(count: int) -> list[str]:
    """Return the texts of keys of as many people."""
    from chatsite.accounts.models import User
    from conversations.services.api.api_keys import make_key

    users = (User.objects.create_user(f"program{number}@example.org") for number in range(count))
    return [make_key(user, name="streaming").text for user in users]


def programs(keys: Sequence[str], load: Load) -> list[Program]:
    return [Program(f"{os.environ['SITE_URL']}/v1", load.language_model, key) for key in keys]


@contextmanager
def litellm_contender(environment: Path, base_url: str, load: Load) -> Iterator[Contender]:
    key, names = f"sk-{secrets.token_hex(24)}", [load.language_model]
    program = install(environment, RELEASE)
    with tempfile.TemporaryDirectory() as folder, proxy(program, Path(folder), base_url, key, names) as (process, url):
        yield Contender("litellm", process, None, None, [Program(url, load.language_model, key)] * load.replies)


def verify_ledger(load: Load) -> None:
    """Every request of a program is settled, by the usage that the provider told."""
    from conversations.models import Completion

    settled = Completion.objects.filter(purpose="api", ended_at__isnull=False, usage_estimated=False).count()
    if settled != load.replies * (load.pairs + 1):
        raise RuntimeError(f"{settled} requests are settled")


def report(result: Figures) -> None:
    print("{replies} answers of {tokens} tokens, one each {pace_milliseconds} ms; {pairs} rounds".format(**result))
    for name in ("product", "relay", "litellm"):
        if name in result:
            report_contender(name, result[name])
    print("product : relay  ", verdict(result["product_to_relay"], at_least=RELAY_AT_LEAST))
    if result["product_to_litellm"] is not None:
        print("product : LiteLLM", verdict(result["product_to_litellm"], at_least=LITELLM_AT_LEAST))


def main() -> None:
    arguments = load_arguments(__doc__.splitlines()[0])
    arguments.add_argument("--litellm", type=Path, help="where its proxy is installed, or is to be")
    chosen = arguments.parse_args()
    result = measure(load_of(chosen), chosen.litellm)
    report(result)
    write_json(result, chosen.json)


if __name__ == "__main__":
    main()

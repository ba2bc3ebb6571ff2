"""The running site next to its description of the API, asked by schemathesis.

For each method of each address: what the description allows is answered as it says, what it does not allow is refused,
and no other method is answered. The same is asked in each run: FUZZ_EXAMPLES requests of each kind.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from tests.support.api_clients import HELLO, client_of, make_key
from tests.support.api_rules import RULES

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "4"))
CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
BODIES = ("ChatCompletionRequest", "ResponseRequest", "InputTokensRequest")
MAY_BE_EMPTY = "POST /v1/conversations"
# Messages that keep the rules which no schema has: these hide what becomes of the other fields.
PLAIN = {"messages": HELLO, "input": "Hello"}
# What is refused beside those rules: by what the site, its models or its conversations are.
OF_THE_SITE = re.compile(
    "there are no figures of that day|it is after the last day|more than 366 days"
    "|this language model (takes|does not take)|at most [0-9]+ fit here|the scenario of the conversation sets it"
    "|only a response that was made with background|There is no such item"
    "|This Idempotency-Key was sent before with another request|The request could not be understood"  # NUL in a query
)


@pytest.fixture(scope="module")
def key(shared_site):
    return make_key(shared_site, scopes=("chat", "read", "manage"))


@pytest.fixture(scope="module")
def description(shared_site, key):
    """The description as it is served, with a model and ids that are there in place of all others."""
    client = client_of(shared_site, key)
    described = requests.get(f"{shared_site.address}/v1/openapi.json", timeout=60).json()
    del described["security"]  # the tests of rights have keys that are none
    window = client.chat.completions.with_raw_response.create(model="ok", messages=HELLO).headers["x-windowseat-window"]
    kept = stored_response(client)
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            is_ended = method == "delete" or path.endswith("/cancel")
            response = stored_response(client, background=path.endswith("/cancel")) if is_ended else kept
            ids = ids_of(client, response) | {"name": "ok", "window_id": window}
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter["schema"] = {"enum": [ids[parameter["name"]]]}
    schemas = described["components"]["schemas"]
    for name in BODIES:
        schemas[name]["properties"]["model"] = {"const": "ok"}
    for name in (*BODIES[1:], "RecallRequest"):
        schemas[name]["properties"]["conversation"] = {"const": kept.conversation.id}
        schemas[name]["properties"].pop("previous_response_id", None)
    return described


def stored_response(client, **options):
    return client.responses.create(model="ok", input="Hello", **options)


def ids_of(client, response):
    conversation = response.conversation.id
    item = client.conversations.items.list(conversation).data[0]
    return {"conversation_id": conversation, "response_id": response.id, "item_id": item.id}


def operations(description):
    return [found.ok() for found in schemathesis.openapi.from_dict(description).get_all_operations()]


def ask(site, key, operation, mode) -> Counter:
    """Send what schemathesis makes for *operation*, check the answers, and return how many had which status."""
    statuses: Counter = Counter()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def is_answered(case: schemathesis.Case) -> None:
        if mode is GenerationMode.POSITIVE and isinstance(case.body, dict):
            case.body |= {name: value for name, value in PLAIN.items() if name in case.body}
        answer = case.call(base_url=site.address, headers={"Authorization": f"Bearer {key}"}, timeout=60)
        statuses[answer.status_code] += 1
        case.validate_response(answer, checks=CHECKS)
        if mode is GenerationMode.NEGATIVE:
            assert answer.status_code >= 400 or says_nothing_wrong(case, answer), f"not described, but taken: {case!r}"
        elif answer.status_code >= 300:
            reason = answer.json()["error"]["message"]
            is_rule = RULES.search(reason) or OF_THE_SITE.search(reason)
            assert is_rule or answer.status_code == 409, f"described, but refused: {reason}"

    is_answered()
    return statuses


def says_nothing_wrong(case: schemathesis.Case, answer: requests.Response) -> bool:
    """Whether what is wrong was not sent: a body that need not be there, or a parameter with no values at all."""
    is_left_out = case.operation.label == MAY_BE_EMPTY and answer.request.body is None
    return is_left_out or [] in (case.query or {}).values()


def test_what_is_described_is_answered_as_described(site, key, description):
    ended = ("delete", "/cancel")
    for operation in sorted(operations(description), key=lambda each: each.label.lower().endswith(ended)):
        statuses = ask(site, key, operation, GenerationMode.POSITIVE)
        assert statuses[200], f"{operation.label}: {statuses}"


def test_what_is_not_described_is_refused(site, key, description):
    refused = 0
    for operation in operations(description):
        try:
            refused += ask(site, key, operation, GenerationMode.NEGATIVE).total()
        except Unsatisfiable:
            assert not operation.body, operation.label  # it has nothing that could be wrong
    assert refused >= EXAMPLES * 10


def test_no_other_method_is_answered(site, key, description):
    for path, methods in description["paths"].items():
        answered = {method.upper() for method in methods}
        for method in METHODS - answered:
            address = f"{site.address}{re.sub('{[^}]+}', '00000000-0000-0000-0000-000000000000', path)}"
            answer = requests.request(method, address, headers={"Authorization": f"Bearer {key}"}, timeout=60)
            assert (answer.status_code, set(answer.headers["Allow"].split(", "))) == (405, answered), path
            assert answer.json()["error"]["code"] == "method_not_allowed"

"""`GET /v1/openapi.json`: the description of the API (OpenAPI 3.1), made from what the requests are read by.

Addresses, methods and scopes come from the views, schemas of requests from `core/api`, the rest from `operations`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, get_resolver

from conversations.core.api.fields import JsonSchema

from .answer_schemas import ERROR
from .api_view import api_view_without_key
from .operations import ALWAYS, ERRORS, EVENTS, HEADERS, JSON, OF_BODIES, OPERATIONS, TOLD, Operation

OPENAPI = "3.1.0"
VERSION = "1"
PREFIX = "v1/"
CONVERTED = re.compile(r"<(?:(\w+):)?(\w+)>")
KINDS_OF_IDS: Mapping[str, JsonSchema] = {"uuid": {"type": "string", "format": "uuid"}}
ID: JsonSchema = {"type": "string", "minLength": 1}
ABOUT = (
    "What programs ask a Windowseat: OpenAI's Chat Completions, Responses and Conversations, and what only this server "
    "has. A parameter that is not described is refused by its name. NUL and lone surrogates are taken out of messages, "
    "and refused elsewhere. In a body, a field whose value is null says nothing."
)
KEY = "A key of the account page. Each address says which scopes open it: one of them is needed."


class Described(NamedTuple):
    """One operation with its address, its method and the scopes of which one opens it."""

    name: str
    path: str
    method: str
    scopes: tuple[str, ...]
    operation: Operation
    ids: Mapping[str, JsonSchema]


def described_operations() -> Iterator[Described]:
    """Yield what can be asked, in the order of the addresses. Raises `KeyError` for what `OPERATIONS` does not have."""
    for pattern in _patterns():
        route = str(pattern.pattern)
        scopes_of = getattr(pattern.callback, "scopes_of_methods", None)
        if not route.startswith(PREFIX) or scopes_of is None:
            continue
        ids = {name: KINDS_OF_IDS.get(kind, ID) for kind, name in CONVERTED.findall(route)}
        path = "/" + CONVERTED.sub(r"{\2}", route)
        for method, scopes in scopes_of.items():
            name = str(pattern.name)
            yield Described(name, path, method, tuple(map(str, scopes)), OPERATIONS[name, method], ids)


def _patterns() -> Iterator[URLPattern]:
    waiting = list(get_resolver().url_patterns)
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, URLPattern):
            yield each
        elif not str(each.pattern):  # nothing of the API is included under a prefix
            waiting[:0] = each.url_patterns


@lru_cache(maxsize=1)
def describe_api() -> dict[str, Any]:
    """Return the description as one JSON object."""
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, JsonSchema] = {}
    for each in described_operations():
        described = _describe(each)
        paths.setdefault(each.path, {})[each.method.lower()] = _name_schemas(described, schemas)
    groups = dict.fromkeys(operation.group for operation in OPERATIONS.values())
    return {
        "openapi": OPENAPI,
        "info": {"title": "Windowseat", "version": VERSION, "description": ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"key": []}],
        "tags": [{"name": group} for group in groups],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": KEY}},
            "schemas": dict(sorted(schemas.items())),
        },
    }


@lru_cache(maxsize=1)
def _written() -> bytes:
    return json.dumps(describe_api(), ensure_ascii=False, separators=(",", ":")).encode()


@api_view_without_key("GET")
async def openapi(request: HttpRequest) -> HttpResponse:
    """Nothing in it is secret, and tools that read it have no key yet."""
    return HttpResponse(_written(), content_type=JSON)


def scopes_in_words(scopes: tuple[str, ...]) -> str:
    return f"Scope: {' or '.join(f'`{scope}`' for scope in scopes)}."


def _describe(each: Described) -> dict[str, Any]:
    operation = each.operation
    described: dict[str, Any] = {
        "operationId": f"{each.method.lower()}_{each.name.removeprefix('api_')}",
        "tags": [operation.group],
        "summary": operation.summary,
        "description": scopes_in_words(each.scopes),
        "responses": {"200": _answer(operation), **_errors(operation)},
    }
    parameters = [
        *({"name": name, "in": "path", "required": True, "schema": schema} for name, schema in each.ids.items()),
        *(_parameter("query", name, schema, operation) for name, schema in operation.query.items()),
        *(_parameter("header", name, HEADERS[name], operation) for name in operation.headers),
    ]
    if parameters:
        described["parameters"] = parameters
    if operation.body is not None:
        body = {"required": not operation.may_be_empty, "content": {JSON: {"schema": operation.body}}}
        described["requestBody"] = body
    return described


def _parameter(where: str, name: str, schema: JsonSchema, operation: Operation) -> dict[str, Any]:
    bare = {key: value for key, value in schema.items() if key != "description"}
    told = {"description": schema["description"]} if "description" in schema else {}
    required = where == "query" and name in operation.required_query
    return {"name": name, "in": where, "required": required, **told, "schema": bare}


def _answer(operation: Operation) -> dict[str, Any]:
    content: dict[str, Any] = {
        media_type: {"schema": operation.answer if media_type == JSON else {"type": "string"}}
        for media_type in operation.media_types
    }
    if operation.streams:
        content[EVENTS] = {"schema": {"type": "string", "description": "Server-sent events, with `stream: true`."}}
    told = {name: {"description": TOLD[name], "schema": {"type": "string"}} for name in operation.told}
    return {"description": "What was asked for.", "content": content, **({"headers": told} if told else {})}


def _errors(operation: Operation) -> dict[str, Any]:
    statuses = {*ALWAYS, *operation.errors, *(OF_BODIES if operation.body is not None else ())}
    return {
        str(status): {"description": ERRORS[status], "content": {JSON: {"schema": ERROR}}}
        for status in sorted(statuses)
    }


def _name_schemas(value: Any, named: dict[str, JsonSchema]) -> Any:
    """Return *value* with references in place of schemas that have a title; these are put into *named*."""
    if isinstance(value, list | tuple):
        return [_name_schemas(each, named) for each in value]
    if not isinstance(value, Mapping):
        return value
    inside = {name: _name_schemas(each, named) for name, each in value.items() if name != "title"}
    title = value.get("title")
    if not isinstance(title, str):
        return inside if title is None else inside | {"title": _name_schemas(title, named)}
    if named.setdefault(title, inside) != inside:
        raise ValueError(f"two schemas have the title {title}")
    return {"$ref": f"#/components/schemas/{title}"}

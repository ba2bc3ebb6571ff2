"""Spans of replies, requests and tool calls, as a collector gets them: a tree with ids and numbers, and no words."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
import uuid

import pytest

from conversations import tracing
from conversations.models import Completion, Run, ToolCall
from conversations.services.replies.stop_reply import stop_reply
from tests.support.people import begin, make_user, post
from tests.support.source import PROJECT
from tests.support.span_collector import serve_span_collector
from tests.support.waiting import in_thread, wait_until

from .answered_talk import answered

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "kingfisher"


@pytest.fixture
def collector(settings):
    """A collector that gets the spans of this process, and a function that waits for them."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="pip install windowseat[otel]")
    settings.DEMO_TOKENS_PER_SECOND = 0
    with serve_span_collector() as collector:
        settings.OTEL_EXPORTER_OTLP_ENDPOINT = collector.address
        tracing.begin_tracing()
        try:
            yield collector
        finally:
            tracing.end_tracing()


async def sent_spans(collector):
    """Return the spans by their operation, once no worker can add to them."""
    await in_thread(tracing.end_tracing)
    found = {}
    for span in collector.spans:
        found.setdefault(span.attributes["gen_ai.operation.name"], []).append(span)
    return found


async def ended(reply):
    def has_ended():
        reply.refresh_from_db()
        return reply.has_ended and not Run.objects.exclude(state="ended").exists()

    await wait_until(has_ended)
    return reply


async def test_a_reply_with_a_tool_call_is_one_tree(collector, worker):
    reply = await answered(f"What is 17 × 23, {WORDS}?")
    await worker.drain(timeout_seconds=60)
    spans = await sent_spans(collector)
    [run] = spans["invoke_agent"]
    [tool] = spans["execute_tool"]
    assert {span.name for span in spans["chat"]} == {"chat windowseat-demo"}
    assert len(spans["chat"]) == 2
    assert (run.name, run.parent_id, run.kind) == ("invoke_agent windowseat", b"", "SPAN_KIND_INTERNAL")
    assert (tool.name, tool.kind) == ("execute_tool calculator", "SPAN_KIND_INTERNAL")
    assert {span.kind for span in spans["chat"]} == {"SPAN_KIND_CLIENT"}
    below = [*spans["chat"], tool]
    assert {(span.parent_id, span.trace_id) for span in below} == {(run.span_id, run.trace_id)}
    assert all(run.began <= span.began <= span.ended <= run.ended for span in below)
    assert run.attributes["windowseat.reply.id"] == reply.pk
    assert run.attributes["gen_ai.conversation.id"] == str(await in_thread(lambda: reply.conversation.public_id))
    assert run.attributes["windowseat.run.id"] == (await in_thread(Run.objects.get)).pk
    assert tool.attributes["windowseat.call.id"] == (await in_thread(ToolCall.objects.get)).pk
    assert {span.resource["service.name"] for span in below} == {"windowseat"}
    assert set(collector.paths) == {"/v1/traces"}
    assert not {"17 * 23", "391"} & set(map(str, tool.attributes.values()))
    assert not any(WORDS.encode() in body for body in collector.bodies)


async def test_a_request_has_model_tokens_and_address_and_no_words_or_keys(collector, worker, provider, upstream):
    provider("ok")
    await ended((await in_thread(lambda: post(begin(make_user("alice")), f"Hello {WORDS}"))).reply)
    row = await in_thread(Completion.objects.get)
    [chat] = (await sent_spans(collector))["chat"]
    host, port = upstream.base_url.removeprefix("http://").partition("/")[0].split(":")
    expected = {
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "ok",
        "gen_ai.response.model": "ok",
        "gen_ai.usage.input_tokens": row.input_tokens,
        "gen_ai.usage.output_tokens": row.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": row.cached_input_tokens,
        "gen_ai.response.finish_reasons": ["stop"],
        "server.address": host,
        "server.port": int(port),
        "windowseat.completion.id": row.pk,
        "windowseat.purpose": "reply",
    }
    assert {name: chat.attributes.get(name) for name in expected} == expected
    assert "error.type" not in chat.attributes
    for secret in (WORDS, "Hello", "sk-canary", "alice"):
        assert not any(secret.encode() in body for body in collector.bodies)


async def test_each_attempt_that_fails_has_its_error(collector, worker, provider):
    provider("status-401")
    reply = await ended((await in_thread(lambda: post(begin(make_user("alice")), "Hello"))).reply)
    spans = await sent_spans(collector)
    [run], [chat] = spans["invoke_agent"], spans["chat"]
    assert chat.attributes["error.type"] == run.attributes["error.type"] == reply.error_code != ""
    assert chat.status == run.status == "STATUS_CODE_ERROR"


async def test_a_stopped_reply_is_told_as_stopped(collector, worker, provider, upstream):
    provider("endless")
    reply = (await in_thread(lambda: post(begin(make_user("alice")), "Hello"))).reply
    await wait_until(lambda: upstream.log())
    await in_thread(stop_reply, conversation=reply.conversation, reply_id=reply.pk)
    await ended(reply)
    [run] = (await sent_spans(collector))["invoke_agent"]
    assert run.attributes["error.type"] == "stopped"


def test_a_collector_that_does_not_answer_delays_no_end(settings, monkeypatch):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="pip install windowseat[otel]")
    monkeypatch.setattr(tracing, "FLUSH_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.OTEL_EXPORTER_OTLP_ENDPOINT = f"http://127.0.0.1:{silent.getsockname()[1]}"
        tracing.begin_tracing()
        with tracing.traced_run(run_id=1, attempt=1, reply_id=1, conversation=uuid.uuid4()):
            pass
        began = time.monotonic()
        tracing.end_tracing()
        assert time.monotonic() - began < 5  # by itself the SDK waits for ten
    assert not tracing.is_tracing()


def test_without_the_extra_there_is_one_warning_and_no_span(settings, monkeypatch, caplog):
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:1"
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with caplog.at_level(logging.WARNING, "conversations.tracing"):
        tracing.begin_tracing()
    [warning] = [record.message for record in caplog.records]
    assert "the extra otel is not installed" in warning
    assert not tracing.is_tracing()


def test_a_site_without_tracing_imports_nothing_of_it():
    code = (
        "import django, sys; django.setup()\n"
        "from conversations.management.commands import run_worker\n"
        "from conversations import tracing\n"
        "tracing.begin_tracing()\n"
        "assert not {'opentelemetry.sdk.trace', 'opentelemetry.exporter'} & {*sys.modules}"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        check=True,
        env=os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
    )

"""Tracing by OpenTelemetry: spans of replies, tool calls and requests to providers, by the GenAI conventions.

Off unless OTEL_EXPORTER_OTLP_ENDPOINT is set and the extra `otel` is installed: then nothing of it is imported here,
and each place that could begin a span asks one variable. Spans have ids, names of models and tools, numbers and error
codes: no words of people or models, and no keys.

    invoke_agent windowseat      the making of one reply, by one run
      ├─ chat MODEL              a request to a provider; also embeddings MODEL
      └─ execute_tool NAME       a tool call

Which span is above another is kept here, not in OpenTelemetry's own context: libraries would send that on to servers.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.conf import settings

logger = logging.getLogger(__name__)
AGENT = "windowseat"
TRACES_PATH = "v1/traces"
FLUSH_SECONDS = 3.0
NANOSECONDS = 1_000_000_000

Attribute = str | int | float | tuple[str, ...]
Attributes = Mapping[str, Attribute | None]

_tracer: Any = None  # None: off
_provider: Any = None
_run_span: ContextVar[Any] = ContextVar("run_span", default=None)


def begin_tracing() -> None:
    """Begin to send spans, if this site wants that. Without the extra there is one warning, and no spans."""
    global _tracer, _provider
    endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT
    if not endpoint or _tracer is not None:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        logger.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra otel is not installed: no spans are sent")
        return
    named = {} if "service.name" in _given_resource() else {"service.name": AGENT}
    _provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/{TRACES_PATH}")
    _provider.add_span_processor(BatchSpanProcessor(exporter))
    _tracer = _provider.get_tracer(AGENT)


def _given_resource() -> Mapping[str, Any]:
    """Return what OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say of this process."""
    from opentelemetry.sdk.resources import OTELResourceDetector

    given: Mapping[str, Any] = OTELResourceDetector().detect().attributes
    return given


def end_tracing() -> None:
    """Send the spans that wait, for at most `FLUSH_SECONDS`, and begin no more."""
    global _tracer, _provider
    provider, _tracer, _provider = _provider, None, None
    if provider is not None:  # the SDK keeps to no time limit of ours while a collector does not answer
        ending = threading.Thread(target=provider.shutdown, name="end of tracing", daemon=True)
        ending.start()
        ending.join(FLUSH_SECONDS)


@contextmanager
def traced_run(*, run_id: int, attempt: int, reply_id: int, conversation: uuid.UUID) -> Iterator[None]:
    """Trace the making of a reply: the spans that begin within, also in tasks and threads, are below its span."""
    if _tracer is None:
        yield
        return
    attributes: Attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": AGENT,
        "gen_ai.agent.name": AGENT,
        "gen_ai.conversation.id": str(conversation),
        "windowseat.run.id": run_id,
        "windowseat.run.attempt": attempt,
        "windowseat.reply.id": reply_id,
    }
    with _span(f"invoke_agent {AGENT}", attributes) as span:
        token = _run_span.set(span)
        try:
            yield
        finally:
            _run_span.reset(token)


@contextmanager
def traced_tool_call(name: str, *, call_id: int) -> Iterator[None]:
    """Trace a call of the tool *name*, without its arguments and its result."""
    if _tracer is None:
        yield
        return
    attributes: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "windowseat.call.id": call_id,
    }
    with _span(f"execute_tool {name}", attributes):
        yield


def is_tracing() -> bool:
    return _tracer is not None


def record_request(
    *, operation: str, language_model: str, began_at: float, ended_at: float, error_code: str, attributes: Attributes
) -> None:
    """Record a request to a provider that has ended; the moments are Unix time, *operation* is chat or embeddings."""
    if _tracer is None:
        return
    from opentelemetry.trace import SpanKind

    span = _tracer.start_span(
        f"{operation} {language_model}",
        context=_context(),
        kind=SpanKind.CLIENT,
        start_time=int(began_at * NANOSECONDS),
        attributes=_known({"gen_ai.operation.name": operation, "gen_ai.request.model": language_model, **attributes}),
    )
    if error_code:
        _set_error(span, error_code)
    span.end(int(max(began_at, ended_at) * NANOSECONDS))


@contextmanager
def _span(name: str, attributes: Attributes) -> Iterator[Any]:
    span = _tracer.start_span(name, context=_context(), start_time=time.time_ns(), attributes=_known(attributes))
    try:
        yield span
    except asyncio.CancelledError as cancelled:
        _set_error(span, "".join(map(str, cancelled.args)) or "stopped")
        raise
    except BaseException as error:
        _set_error(span, getattr(error, "code", None) or type(error).__name__)
        raise
    finally:
        span.end()


def _context() -> Any:
    """Return OpenTelemetry's context with the run's span, or an empty one: never that of a library."""
    from opentelemetry.context import Context
    from opentelemetry.trace import set_span_in_context

    above = _run_span.get()
    return set_span_in_context(above, Context()) if above is not None else Context()


def _known(attributes: Attributes) -> dict[str, Attribute]:
    return {name: value for name, value in attributes.items() if value is not None and value != ""}


def _set_error(span: Any, code: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", code)
    span.set_status(Status(StatusCode.ERROR))

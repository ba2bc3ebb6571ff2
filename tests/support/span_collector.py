"""An OpenTelemetry collector on a loopback port: it takes spans over OTLP/HTTP and keeps them.

with serve_span_collector() as collector:
    ...  # a site with OTEL_EXPORTER_OTLP_ENDPOINT=collector.address
    assert collector.spans[0].name == "chat demo"
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as it came: ids as bytes, times in nanoseconds, *kind* and *status* as the protocol names them."""

    name: str
    kind: str
    status: str
    span_id: bytes
    parent_id: bytes
    trace_id: bytes
    began: int
    ended: int
    attributes: dict[str, Any]
    resource: dict[str, Any]


@dataclass
class SpanCollector:
    """The running server: the *spans* that have come, the *bodies* that they came in, and their *paths*."""

    address: str = ""
    spans: list[ReceivedSpan] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def take(self, path: str, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
        from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

        self.paths.append(path)
        self.bodies.append(body)
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in group.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        ReceivedSpan(
                            name=span.name,
                            kind=Span.SpanKind.Name(span.kind),
                            status=Status.StatusCode.Name(span.status.code),
                            span_id=span.span_id,
                            parent_id=span.parent_span_id,
                            trace_id=span.trace_id,
                            began=span.start_time_unix_nano,
                            ended=span.end_time_unix_nano,
                            attributes=_plain(span.attributes),
                            resource=_plain(group.resource.attributes),
                        )
                    )


def _plain(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)


class _Handler(BaseHTTPRequestHandler):
    collector: SpanCollector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.collector.take(self.path, body)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing: what came is in the collector."""


@contextmanager
def serve_span_collector() -> Iterator[SpanCollector]:
    collector = SpanCollector()
    handler = type("Handler", (_Handler,), {"collector": collector})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    collector.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""An application served by uvicorn on a port of its own."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import uvicorn

from tests.support.patience import wait_for
from tests.support.ports import free_port


@contextmanager
def serve(application, **protocols):
    """Serve *application* by uvicorn with these *protocols*, and yield the port."""
    port = free_port()
    config = uvicorn.Config(application, port=port, log_level="critical", lifespan="off", loop="uvloop", **protocols)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started, "the server listens")
    yield port
    server.should_exit = True
    thread.join()


def is_closed(connection):
    """Wait until the other side ends the connection; what it says before is thrown away."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True

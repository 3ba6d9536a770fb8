"""HTTP servers that tests answer with."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer
from typing import TypeVar

Server = TypeVar("Server", bound=HTTPServer)
POLL_S = 0.01
"""How soon a server ends after the block; the default is half a second."""


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server answers in a thread; it is closed at the end of the block."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(POLL_S,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

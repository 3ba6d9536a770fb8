"""Free TCP ports for tests."""

import os
import random
import socket
from contextlib import ExitStack

_FIRST, _BEHIND = map(int, os.environ.get("SDA_TEST_PORTS", "20000-32000").split("-"))
"""Below the ports of outgoing connections. Parallel test runs use a range each (`make test`), since a chosen port looks
unused until somebody listens on it."""
_CHANCE = random.SystemRandom()  # hypothesis seeds the shared generator, which would give every run the same ports


def unused_ports(count: int) -> list[int]:
    """Distinct ports that are unused at this moment."""
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            port = _CHANCE.randrange(_FIRST, _BEHIND)
            try:
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            found.append(port)
    return found

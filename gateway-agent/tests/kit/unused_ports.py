"""TCP ports for what a test starts."""

import os
import random
import socket
from contextlib import ExitStack

_FIRST, _BEHIND = map(int, os.environ.get("SDA_TEST_PORTS", "20000-32000").split("-"))
"""Below the ports of outgoing connections. Test runs side by side are given a range each (`make test`): what one has
chosen and does not listen on yet, another would take for unused."""
_CHANCE = random.SystemRandom()  # hypothesis seeds the shared one, and everybody then draws the same ports


def unused_ports(count: int) -> list[int]:
    """Ports of this machine nobody uses at this moment, all different."""
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

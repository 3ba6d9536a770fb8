"""An engine with the stand-in images until Ctrl-C, to try `make up` in containers by hand where there is no Docker.

PYTHONPATH=tests .venv/bin/python -m containers [classic|containerd]
"""

import signal
import sys

from . import images
from .daemon import private_engine


def main() -> None:
    """Run it; prints the variables with which `docker` reaches it."""
    with private_engine(sys.argv[1] if len(sys.argv) > 1 else "classic") as engine:
        images.provide(engine)
        for key, value in engine.environment.items():
            sys.stdout.write(f"export {key}='{value}'\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    main()

"""Lists the engines for testing containers, and runs a private one on machines without Docker.

python -m containers stores                  prints what SDA_ENGINE_STORE may be, `machine` for the machine's own engine
python -m containers run classic|containerd  runs one with the substitute images until Ctrl-C; prints its address
"""

import signal
import sys

from . import images
from .daemon import STORES, busy, own_of_machine, private_engine
from .packages import NoEngineError


def main() -> int:
    """Exit code 1 with a message if no engine is possible, 2 for wrong arguments."""
    try:
        match sys.argv[1:]:
            case ["stores"]:
                sys.stdout.write(f"{stores()}\n")
            case ["run", store] if store in STORES:
                run(store)
            case _:
                sys.stderr.write(f"{__doc__}")
                return 2
    except NoEngineError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def stores() -> str:
    """The testable engines; a private one is started once, to check that it works."""
    if own_of_machine():
        return "machine"
    if not busy():
        with private_engine(STORES[0]):
            pass
    return " ".join(STORES)


def run(store: str) -> None:
    """Run an engine until it is stopped."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    with private_engine(store) as engine:
        images.provide(engine)
        for key, value in engine.environment.items():
            sys.stdout.write(f"export {key}='{value}'\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    sys.exit(main())

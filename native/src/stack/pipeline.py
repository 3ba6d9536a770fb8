"""Whether the whole chain works: Node-RED's own /health knows, since its heartbeat travels all of it."""

import json
from urllib.error import URLError
from urllib.request import urlopen

from .errors import StackError
from .health import TIMEOUT_S
from .settings import Settings
from .wait import wait_for


def wait_until_whole(settings: Settings, within_s: float = 60.0) -> None:
    """Wait until broker, ingest, database and flows work together.

    Raises:
        StackError: with what /health said last.
    """
    last: dict[str, object] = {}

    def whole() -> bool:
        try:
            with urlopen(f"{settings.http_url}/health", timeout=TIMEOUT_S) as answer:  # noqa: S310 - our own address
                last.update(json.load(answer))
        except (URLError, OSError, ValueError) as error:
            last["error"] = str(error)
        return last.get("status") == "up"

    try:
        wait_for(whole, within_s, "the pipeline")
    except StackError:
        raise StackError(f"the pipeline is not whole after {within_s:.0f} s; /health says {json.dumps(last)}") from None

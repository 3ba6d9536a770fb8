"""httpx for addresses of this machine, with a client's manners: whoever is told to come again (503), because the
machine is busy, does so. By itself httpx reads all certificate authorities anew for each client, which costs 30 ms of a
processor."""

import ssl
from functools import partial
from typing import Any

import httpx
from httpx_retries import Retry, RetryTransport

_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_AGAIN = Retry(
    total=1000,
    total_timeout=60,
    allowed_methods=["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"],
    status_forcelist=[503],
    retry_on_exceptions=(),
    respect_retry_after_header=False,  # sooner than asked to, since tests are many
    backoff_factor=0.1,
    backoff_jitter=0,
    max_backoff_wait=0.5,
)


class Client(httpx.Client):
    """An `httpx.Client`.

    Args:
        patient: whether it comes again after a 503, for a minute; who wants to see the 503 is not.
        transport: which way, if not the usual one.
    """

    def __init__(self, *, patient: bool = True, transport: httpx.BaseTransport | None = None, **options: Any) -> None:
        way = transport or httpx.HTTPTransport(verify=_NO_TLS)
        super().__init__(transport=RetryTransport(way, _AGAIN) if patient else way, **options)


def request(method: str, url: str, *, patient: bool = True, cookies: Any = None, **options: Any) -> httpx.Response:
    """One request with a client of its own, as `httpx.request`."""
    with Client(patient=patient, cookies=cookies) as client:
        return client.request(method, url, **options)


get = partial(request, "GET")
options = partial(request, "OPTIONS")
post = partial(request, "POST")

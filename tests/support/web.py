"""httpx for addresses of this machine, with retries of 503, since the machine may be busy. Plain httpx reads all
certificate authorities for each client, which costs 30 ms of CPU."""

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
    respect_retry_after_header=False,  # sooner than the header says, to keep the tests fast
    backoff_factor=0.1,
    backoff_jitter=0,
    max_backoff_wait=0.5,
)


class Client(httpx.Client):
    """An `httpx.Client`.

    Args:
        retry_503: whether to retry after a 503, for a minute; off for tests that expect the 503.
        transport: the transport, if not the default.
    """

    def __init__(self, *, retry_503: bool = True, transport: httpx.BaseTransport | None = None, **options: Any) -> None:
        way = transport or httpx.HTTPTransport(verify=_NO_TLS)
        super().__init__(transport=RetryTransport(way, _AGAIN) if retry_503 else way, **options)


def request(method: str, url: str, *, retry_503: bool = True, cookies: Any = None, **options: Any) -> httpx.Response:
    """One request with a new client, like `httpx.request`."""
    with Client(retry_503=retry_503, cookies=cookies) as client:
        return client.request(method, url, **options)


get = partial(request, "GET")
options = partial(request, "OPTIONS")
post = partial(request, "POST")

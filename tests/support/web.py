"""httpx for addresses of this machine: by itself it reads all certificate authorities anew for each client, which costs
30 ms of a processor each time."""

import ssl
from functools import partial

import httpx

_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Client = partial(httpx.Client, verify=_NO_TLS)
get = partial(httpx.get, verify=_NO_TLS)
options = partial(httpx.options, verify=_NO_TLS)
post = partial(httpx.post, verify=_NO_TLS)
request = partial(httpx.request, verify=_NO_TLS)
stream = partial(httpx.stream, verify=_NO_TLS)

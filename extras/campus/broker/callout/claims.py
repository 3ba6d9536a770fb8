"""The JWTs of NATS' auth callout: the request is read, the answer signed."""

import base64
import json
import time
from collections.abc import Mapping
from typing import Any

import nkeys

from .admission import Login
from .subjects import Rights, permissions

_HEADER = {"typ": "JWT", "alg": "ed25519-nkey"}
Claims = Mapping[str, Any]


def read(token: bytes) -> Claims:
    """The claims of a request. Only nats-server can send one, so its signature is not checked. Raises ValueError."""
    parts = token.split(b".")
    if len(parts) != 3:
        raise ValueError("the request is no JWT")
    claims: Claims = json.loads(base64.urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)))
    return claims


def login_of(request: Claims) -> Login:
    """Who asks to be admitted."""
    nats = request["nats"]
    client, options = nats["client_info"], nats["connect_opts"]
    return Login(
        username=options.get("user", ""),
        password=options.get("pass", ""),
        client_id=client.get("mqtt_id", ""),
        host=client.get("host", ""),
        tls="client_tls" in nats,
        mqtt=client.get("type") == "mqtt",
    )


class Issuer:
    """Signs answers with the key that nats.conf names."""

    def __init__(self, seed: str) -> None:
        self._key = nkeys.from_seed(seed.encode())
        self._public = self._key.public_key.decode()

    def admit(self, request: Claims, site: str, username: str, rights: Rights) -> bytes:
        """The answer that admits a client to the account of its site."""
        user = {
            "sub": request["nats"]["user_nkey"],
            "aud": site,
            "name": username,
            "nats": {
                **permissions(rights),
                "subs": -1,
                "data": -1,
                "payload": -1,
                "allowed_connection_types": ["MQTT"],
                "type": "user",
                "version": 2,
            },
        }
        return self._answer(request, {"jwt": self._sign(user)})

    def refuse(self, request: Claims, reason: str) -> bytes:
        """The answer that refuses a client; nats-server logs the reason, the client gets `not authorized`."""
        return self._answer(request, {"error": reason})

    def _answer(self, request: Claims, result: Mapping[str, str]) -> bytes:
        nats = request["nats"]
        claims = {
            "sub": nats["user_nkey"],
            "aud": nats["server_id"]["id"],
            "nats": {**result, "type": "authorization_response", "version": 2},
        }
        return self._sign(claims).encode()

    def _sign(self, claims: Mapping[str, object]) -> str:
        body = {"iss": self._public, "iat": int(time.time()), **claims}
        signed = f"{_encode(_HEADER)}.{_encode(body)}"
        return f"{signed}.{_base64(self._key.sign(signed.encode()))}"


def _encode(part: Mapping[str, object]) -> str:
    return _base64(json.dumps(part, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

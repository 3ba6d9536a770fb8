"""Opens connections to a broker without blocking: name, TCP, TLS. Only the standard library."""

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

READ_BYTES = 16384  # a whole record of TLS, so that no data is left where the event loop cannot see it
LOOK_UP_AGAIN_AFTER_S = 5.0  # thousands of connections share one look-up
_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Stream:
    """A connected, non-blocking socket, with or without TLS."""

    __slots__ = ("_socket",)

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def receive(self) -> bytes | None:
        """What has come; None: nothing; b"": the other side has closed. Raises OSError."""
        try:
            return self._socket.recv(READ_BYTES)
        except _NOT_NOW:
            return None

    def send(self, data: bytes) -> int:
        """Write; returns how many bytes were taken. Raises OSError."""
        try:
            return self._socket.send(data)
        except _NOT_NOW:
            return 0

    def fileno(self) -> int:
        """The file descriptor, -1 after ``close``."""
        return self._socket.fileno()

    def cut(self) -> None:
        """End both directions at once, without TLS's farewell; ``receive`` then returns b""."""
        with contextlib.suppress(OSError):  # it has ended already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class Endpoint:
    """Where a broker listens; ``tls`` None: not encrypted. Connections may share one object."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        self.host, self.port, self.tls = host, port, tls
        self._addresses: list[tuple[Any, ...]] = []
        self._looked_up_s = 0.0

    async def connect(self, within_s: float) -> Stream:
        """A connection. ``within_s``: for each of name look-up, TCP (per address) and TLS.

        Raises OSError, of which TimeoutError, socket.gaierror and ssl.SSLError are kinds, and UnicodeError.
        """
        connected = await self._connect_tcp(within_s)
        if self.tls is None:
            return Stream(connected)
        try:
            secure = self.tls.wrap_socket(connected, server_hostname=self.host, do_handshake_on_connect=False)
        except BaseException:
            connected.close()
            raise
        try:
            async with asyncio.timeout(within_s):
                await _shake_hands(secure)
        except BaseException:
            secure.close()
            raise
        return Stream(secure)

    async def _connect_tcp(self, within_s: float) -> socket.socket:
        loop = asyncio.get_running_loop()
        problem = OSError(f"{self.host} has no address")
        for family, kind, protocol, _name, address in await self._look_up(within_s):
            opened = socket.socket(family, kind, protocol)
            try:
                opened.setblocking(False)
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                async with asyncio.timeout(within_s):
                    await loop.sock_connect(opened, address)
            except OSError as error:
                opened.close()
                problem = error
            except BaseException:
                opened.close()
                raise
            else:
                return opened
        raise problem

    async def _look_up(self, within_s: float) -> list[tuple[Any, ...]]:
        if not self._addresses or time.monotonic() - self._looked_up_s > LOOK_UP_AGAIN_AFTER_S:
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(within_s):
                found = await loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
            self._addresses, self._looked_up_s = list(found), time.monotonic()
        return self._addresses


async def _shake_hands(secure: ssl.SSLSocket) -> None:
    loop = asyncio.get_running_loop()
    while True:
        try:
            secure.do_handshake()
        except ssl.SSLWantReadError:
            await _ready(loop.add_reader, loop.remove_reader, secure)
        except ssl.SSLWantWriteError:
            await _ready(loop.add_writer, loop.remove_writer, secure)
        else:
            return


async def _ready(add: Callable[..., object], remove: Callable[[int], object], secure: ssl.SSLSocket) -> None:
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    handle = secure.fileno()
    add(handle, _resolve, ready)
    try:
        await ready
    finally:
        remove(handle)


def _resolve(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)

"""A TCP proxy between an agent and a broker. It can cut connections and refuse MQTT 5."""

import asyncio
import contextlib
import threading
from types import TracebackType

_CONNECT, _MQTT_5 = 0x10, 5
_UNACCEPTABLE_VERSION = b"\x20\x02\x00\x01"  # CONNACK of MQTT 3.1.1


class TcpProxy:
    """Context manager; ``port`` leads to the broker's port without TLS. All methods may be called from any thread."""

    def __init__(self, broker_port: int, only_mqtt_3: bool = False) -> None:
        self.port = 0
        self.versions: list[int] = []
        """The requested protocol levels, in order."""
        self._broker_port = broker_port
        self._only_mqtt_3 = only_mqtt_3
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="played-link", daemon=True)

    def __enter__(self) -> "TcpProxy":
        self._thread.start()
        server = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop)
        self._server = server.result(10)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def cut(self) -> None:
        """Abort every connection."""
        asyncio.run_coroutine_threadsafe(self._cut(), self._loop).result(10)

    async def _close(self) -> None:
        self._server.close()
        await self._cut()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await self._carry(reader, writer)
        self._writers.discard(writer)
        writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readexactly(1)
        length = b""
        while not length or length[-1] & 0x80:
            length += await reader.readexactly(1)
        name_and_version = await reader.readexactly(7)
        assert first[0] == _CONNECT
        self.versions.append(name_and_version[6])
        if self._only_mqtt_3 and name_and_version[6] == _MQTT_5:
            writer.write(_UNACCEPTABLE_VERSION)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
            return
        broker_reader, broker_writer = await asyncio.open_connection("127.0.0.1", self._broker_port)
        self._writers.add(broker_writer)
        broker_writer.write(first + length + name_and_version)
        ways = [asyncio.create_task(_pass_on(*ends)) for ends in ((reader, broker_writer), (broker_reader, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        self._writers.discard(broker_writer)
        broker_writer.close()
        writer.close()
        await asyncio.gather(*ways, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()

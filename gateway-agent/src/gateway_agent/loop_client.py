"""paho in an event loop: no thread, no lock, nothing that blocks. The agent, the simulator and the load laboratory
use it.

paho has no public way to be given a connected socket, or to work without locks and without several objects for each
message. Hence a method and the locks are replaced (the locks as Home Assistant does it), and messages of MQTT 3.1.1 are
sent and acknowledged without paho's own list of them. A new minor version of paho may change this: see pyproject.toml.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, cast

from paho.mqtt.client import CallbackOnPublish_v2, Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from gateway_agent.endpoint import Endpoint, Stream

QOS = 1
_PUBACK, _PUBACK_BYTES = b"\x40\x02", 4  # of MQTT 3.1.1: type, remaining length, message id
_PACKET_TYPE, _PUBLISH = 0xF0, 0x30
_ACCEPTED = ReasonCode(PacketTypes.PUBACK)
_NO_PROPERTIES = Properties(PacketTypes.PUBACK)  # type: ignore[no-untyped-call]
_LOCKS = (
    "_in_callback_mutex",
    "_callback_mutex",
    "_msgtime_mutex",
    "_out_message_mutex",
    "_in_message_mutex",
    "_reconnect_delay_mutex",
    "_mid_generate_mutex",
)


class EventLoop(Protocol):
    """What the client needs of a loop; asyncio's has it."""

    def add_reader(self, handle: int, callback: Callable[[], object], /) -> object: ...
    def remove_reader(self, handle: int, /) -> object: ...
    def add_writer(self, handle: int, callback: Callable[[], object], /) -> object: ...
    def remove_writer(self, handle: int, /) -> object: ...


class _NoLock:
    """A lock that is always free: everything happens in one thread."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_error: object) -> None:
        pass

    def acquire(self, _blocking: bool = True) -> bool:
        return True

    def release(self) -> None:
        pass


class _Packets(list[Any]):
    """paho's queue of packets to write, in a tenth of a deque's memory: it is nearly always empty."""

    __slots__ = ()

    def popleft(self) -> Any:
        return self.pop(0)

    def appendleft(self, packet: Any) -> None:
        self.insert(0, packet)


_NO_LOCK = _NoLock()
_SHAREABLE = (int, float, str, bytes, tuple, frozenset, type(None), _NoLock)


class LoopClient(Client):
    """A paho client of a loop, asyncio's running one by default, for one connection: make a new one for the next.

    paho would keep unacknowledged messages in memory and send them again; both users have an outbox that does that.
    The callbacks are paho's: ``on_connect`` after ``open``, then ``on_publish``, ``on_message``, ``on_disconnect``.
    """

    _shared: ClassVar[dict[str, object] | None] = None

    def __init__(
        self,
        client_id: str,
        protocol: MQTTProtocolVersion,
        *,
        clean_session: bool | None = None,
        userdata: object = None,
        loop: EventLoop | None = None,
    ) -> None:
        super().__init__(
            CallbackAPIVersion.VERSION2,
            client_id,
            clean_session,
            userdata,
            protocol,
            reconnect_on_failure=False,
        )
        self.__dict__.update(dict.fromkeys(_LOCKS, _NO_LOCK))
        self.max_inflight_messages_set(0)  # no limit, so that paho queues nothing: the users have limits of their own
        self._event_loop: EventLoop = loop or asyncio.get_running_loop()
        self._stream: Stream | None = None
        self._handle = -1
        self._writes_later = False
        self.on_socket_close = _before_closing
        self._out_packet = _Packets()  # type: ignore[assignment]
        self._share_defaults()

    def _share_defaults(self) -> None:
        """Leave to the class what is the same in each client: a third of the memory where there are thousands."""
        shared = LoopClient._shared
        if shared is None:
            shared = {name: value for name, value in vars(self).items() if isinstance(value, _SHAREABLE)}
            for name, value in shared.items():
                setattr(LoopClient, name, value)
            LoopClient._shared = shared
        nothing = object()
        self.__dict__ = {n: value for n, value in vars(self).items() if shared.get(n, nothing) is not value}

    async def open(self, endpoint: Endpoint, keepalive_s: int, within_s: float, **options: Any) -> None:
        """Connect and send CONNECT; the broker's answer calls ``on_connect``, the end of the connection
        ``on_disconnect``. ``options``: further ones of paho's `connect`. Raises as `Endpoint.connect`, and ValueError.
        """
        self.start(await endpoint.connect(within_s), endpoint.host, endpoint.port, keepalive_s, **options)

    def start(self, stream: Stream, host: str, port: int, keepalive_s: int, **options: Any) -> None:
        """Send CONNECT on a connected stream, which this client closes; else as `open`. Raises OSError, ValueError."""
        self._stream = stream
        self._handle = stream.fileno()
        try:
            self.connect(host, port, keepalive_s, **options)
        except BaseException:
            stream.close()
            self._stream = None
            raise
        if self._stream is not None:  # else the end came with CONNECT
            self._event_loop.add_reader(self._handle, self._on_readable)
            self.flush()

    def send(self, topic: str, payload: bytes, retain: bool = False) -> int:
        """Publish at QoS 1; returns the message id, which ``on_publish`` gets with the acknowledgement."""
        if self._protocol is MQTTProtocolVersion.MQTTv5:
            mid = self.publish(topic, payload, QOS, retain).mid
        else:
            mid = self._mid_generate()
            self._send_publish(mid, topic.encode(), payload, QOS, retain)
        if self._out_packet:
            self.flush()
        return mid

    def flush(self) -> None:
        """Write what paho has; the rest follows when the socket takes it."""
        if self.want_write():
            self.loop_write()
        later = self._stream is not None and self.want_write()
        if later != self._writes_later:
            self._writes_later = later
            if later:
                self._event_loop.add_writer(self._handle, self.flush)
            else:
                self._event_loop.remove_writer(self._handle)

    def keep_alive(self) -> None:
        """Call every few seconds: sends pings, and ends a connection on which no answer comes."""
        self.loop_misc()
        self.flush()

    def leave(self) -> None:
        """Disconnect cleanly, so that the broker publishes no last will, and call no callback from now on.

        A socket that takes no more data is closed without DISCONNECT."""
        self._detach()
        self.disconnect()
        self._sock_close()

    def cut(self) -> None:
        """End the connection like a network outage: the broker publishes the last will."""
        if self._stream is not None:
            self._stream.cut()

    def _detach(self) -> None:
        """Remove the callbacks, so that client and user are freed at once."""
        self.on_connect = self.on_disconnect = self.on_publish = self.on_message = None
        self.on_subscribe = self.on_log = None

    def _create_socket(self) -> Any:
        """paho's `connect` calls it for a connected socket."""
        return self._stream

    def _packet_queue(self, command: int, packet: Any, mid: int, qos: int, info: Any = None) -> MQTTErrorCode:
        """paho calls it to send a packet. A PUBLISH is written at once; what the socket does not take waits in paho."""
        if command & _PACKET_TYPE == _PUBLISH and qos and not self._out_packet and self._stream is not None:
            try:
                written = self._stream.send(packet)
            except OSError:  # paho meets it again
                written = 0
            if written == len(packet):
                self._last_msg_out = time.monotonic()
                return MQTTErrorCode.MQTT_ERR_SUCCESS
            packet = packet[written:]
        return super()._packet_queue(command, packet, mid, qos, info)

    def _handle_pubackcomp(self, cmd: Any) -> MQTTErrorCode:
        """paho calls it for an acknowledgement that it has read itself: of MQTT 5, or one that came in two parts."""
        if cmd != "PUBACK" or self._protocol is MQTTProtocolVersion.MQTTv5 or self._in_packet["remaining_length"] != 2:
            return super()._handle_pubackcomp(cmd)
        self._acknowledge(self._in_packet["packet"])
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def _on_readable(self) -> None:
        if self._read_acknowledgements():
            self.loop_read()  # calls back
        while (stream := self._stream) is not None and stream.has_data():
            self.loop_read()
        if self._out_packet:
            self.flush()

    def _read_acknowledgements(self) -> bool:
        """Read PUBACKs of MQTT 3.1.1 without paho, which reads byte by byte. Whether paho has to read what is next."""
        stream = self._stream
        if stream is None or self._protocol is MQTTProtocolVersion.MQTTv5 or self._in_packet["command"]:
            return True
        while (packet := stream.take(_PUBACK, _PUBACK_BYTES)) is not None:
            self._last_bytes_received = time.monotonic()
            self._acknowledge(packet[-2:])
            if self._stream is not stream or not stream.has_data():  # the callback may have ended the connection
                return False
        return True

    def _acknowledge(self, mid: bytes | bytearray) -> None:
        if (on_publish := cast("CallbackOnPublish_v2 | None", self.on_publish)) is not None:
            on_publish(self, self._userdata, int.from_bytes(mid, "big"), _ACCEPTED, _NO_PROPERTIES)

    def forget_socket(self) -> None:
        """Called before paho closes the socket."""
        if self._stream is not None:
            self._stream = None
            self._event_loop.remove_reader(self._handle)
            self._event_loop.remove_writer(self._handle)
            self._writes_later = False


def _before_closing(client: Client, _userdata: object, _socket: object) -> None:
    if isinstance(client, LoopClient):
        client.forget_socket()

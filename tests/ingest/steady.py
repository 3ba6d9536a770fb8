"""A steady sender that loses nothing itself: it keeps every message until the broker has acknowledged it."""

import itertools
import json
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from support.running import RunningStack
from support.stack_client import end, eventually, now_ms
from support.stored import stored_readings


class SteadySender:
    """Batches of `beacons` from ten gateways in turn, `rate` a second, until the block ends.

    Every batch of a gateway has a ts of its own, so each reading is one point.
    """

    def __init__(self, stack: RunningStack, beacons: Sequence[str], rate: float) -> None:
        self.run = uuid.uuid4().hex[:8]
        self.messages = 0
        self._stack, self._beacons, self._rate = stack, beacons, rate
        self._acknowledged = 0
        self._stopped = threading.Event()
        self._client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=f"steady/{self.run}", clean_session=False)
        self._client.username_pw_set("simulator", stack.secrets["MQTT_SIMULATOR_PASSWORD"])
        self._client.on_publish = self._count
        self._client.max_inflight_messages_set(200)
        self._client.reconnect_delay_set(1, 1)
        self._client.connect("127.0.0.1", stack.ports.mqtt)

    @contextmanager
    def running(self) -> Iterator["SteadySender"]:
        """Send for the length of the block; then wait until the broker has acknowledged all of it."""
        thread = threading.Thread(target=self._send)
        self._client.loop_start()
        thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            thread.join()
        eventually(lambda: self._acknowledged == self.messages, within_s=60, what="all messages acknowledged")
        end(self._client)

    def seconds_pass(self, seconds: float) -> None:
        """Wait until the messages of that many seconds have been sent."""
        wanted = self.messages + seconds * self._rate
        eventually(lambda: self.messages >= wanted, within_s=seconds * 3 + 10, what=f"{seconds} s of messages")

    def readings(self) -> int:
        return self.messages * len(self._beacons)

    def stored(self) -> int:
        """Readings of this run that InfluxDB holds."""
        return len(stored_readings(self._stack, f"receiver =~ /^{self.run}-/"))

    def all_arrive(self, within_s: float = 60) -> None:
        """Every reading is stored, and none more than once."""
        eventually(lambda: self.stored() >= self.readings(), within_s, what=f"{self.readings()} readings stored")
        assert self.stored() == self.readings()

    def _send(self) -> None:
        for number in itertools.count():
            if self._stopped.wait(1 / self._rate):
                return
            readings = [{"beacon": beacon, "rssi": -40 - number % 50} for beacon in self._beacons]
            payload = json.dumps({"v": 1, "ts": now_ms(), "seq": number, "readings": readings})
            topic = f"sda/v1/gateway/{self.run}-{number % 10}/readings"
            self._client.publish(topic, payload, qos=1)
            self.messages += 1

    def _count(self, *_: object) -> None:
        self._acknowledged += 1

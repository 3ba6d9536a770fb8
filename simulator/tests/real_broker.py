"""A real Mosquitto for one test, and a subscriber."""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

PASSWORDS = {"simulator": "of the simulator", "listener": "of the listener"}
DEADLINE_S = 30.0
PATH = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"  # where Debian puts the broker


def wait_for(condition: Callable[[], bool], what: str, log: Callable[[], str] = str) -> None:
    """Wait until the condition holds; fail with the log after DEADLINE_S."""
    deadline = time.monotonic() + DEADLINE_S
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}\n{log()}"
        pause.wait(0.02)


class RealBroker:
    """Mosquitto in its own folder; it can be stopped cleanly and restarted with its state."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        passwords = folder / "passwords"
        passwords.write_text("".join(f"{name}:{password}\n" for name, password in PASSWORDS.items()))
        passwords.chmod(0o600)
        subprocess.run([_program("mosquitto_passwd"), "-U", passwords], check=True)
        lines = [
            f"listener {self.port} 127.0.0.1",
            "allow_anonymous false",
            "password_file passwords",
            "persistence true",
            "persistence_location ./",
            "set_tcp_nodelay true",
            "max_inflight_messages 1000",
            "max_queued_messages 100000",
            *(["user root"] if os.getuid() == 0 else []),  # else it switches to a user that cannot read the folder
        ]
        (folder / "mosquitto.conf").write_text("\n".join(lines) + "\n")

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for the simulator."""
        return {
            "MQTT_HOST": "127.0.0.1",
            "MQTT_PORT": str(self.port),
            "MQTT_SIMULATOR_PASSWORD": PASSWORDS["simulator"],
        }

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def start(self) -> None:
        with (self._folder / "mosquitto.log").open("a") as log:
            command = [_program("mosquitto"), "-c", "mosquitto.conf"]
            self._process = subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log)
        wait_for(self._answers, "Mosquitto answers", self.log)

    def stop(self) -> None:
        """SIGTERM, and wait until sessions and queues are on disk."""
        self._process.terminate()
        self._process.wait(DEADLINE_S)

    def save(self) -> None:
        """Let it write sessions to disk, so that they outlive a kill; returns when they are there."""
        database = self._folder / "mosquitto.db"
        database.unlink(missing_ok=True)
        self._process.send_signal(signal.SIGUSR1)
        wait_for(database.exists, "Mosquitto has saved", self.log)

    def kill(self) -> None:
        """SIGKILL: what it acknowledged since its last snapshot is gone."""
        self._process.kill()
        self._process.wait(DEADLINE_S)

    def log(self) -> str:
        return (self._folder / "mosquitto.log").read_text()

    def _answers(self) -> bool:
        assert self._process.poll() is None, self.log()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @contextmanager
    def listener(self, *topics: str) -> Iterator["Listener"]:
        """A subscriber of the topics with a persistent session."""
        listener = Listener(self.port, topics)
        try:
            wait_for(lambda: listener.is_subscribed, "the listener is subscribed", self.log)
            yield listener
        finally:
            listener.close()


class Listener:
    """Keeps received messages in order."""

    def __init__(self, port: int, topics: tuple[str, ...]) -> None:
        self.messages: list[tuple[str, dict[str, Any], bool]] = []
        """Topic, payload, retain flag."""
        self.malformed: list[bytes] = []
        """Payloads that are no JSON."""
        self.is_subscribed = False
        self._client = Client(CallbackAPIVersion.VERSION2, "listener", clean_session=False)
        self._client.username_pw_set("listener", PASSWORDS["listener"])
        self._client.reconnect_delay_set(0.1, 0.5)  # type: ignore[arg-type] # typed as whole seconds, accepts fractions
        self._client.on_message = self._on_message
        self._topics = [(topic, 1) for topic in topics]
        self._client.on_connect = self._on_connect
        self._client.on_subscribe = self._on_subscribe
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()

    def _on_connect(self, client: Client, *_said: object) -> None:
        client.subscribe(self._topics)

    def _on_subscribe(self, *_said: object) -> None:
        self.is_subscribed = True

    def _on_message(self, _client: Client, _userdata: object, message: MQTTMessage) -> None:
        try:
            payload = json.loads(message.payload)
        except ValueError:
            self.malformed.append(bytes(message.payload))
        else:
            self.messages.append((message.topic, payload, message.retain))

    def batches(self) -> Counter[tuple[str, int]]:
        """Number of arrivals of each batch, by topic and time stamp."""
        return Counter((topic, payload["ts"]) for topic, payload, _ in self.messages if topic.endswith("/readings"))

    def readings(self) -> int:
        """Number of readings that arrived; repeated messages count once."""
        once = {(topic, payload["ts"]): len(payload["readings"]) for topic, payload, _ in self.messages}
        return sum(once.values())

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


def _program(name: str) -> str:
    found = shutil.which(name, path=PATH)
    assert found, f"{name} is not installed (apt-get install mosquitto)"
    return found

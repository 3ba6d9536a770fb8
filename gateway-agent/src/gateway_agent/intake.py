"""From the scanner's thread to the agent's: adverts are decoded and put into the window under a lock."""

import threading
import time
from collections.abc import Mapping

from gateway_agent.decoders import decode
from gateway_agent.reception import Reception
from gateway_agent.record import Reading
from gateway_agent.window import Window


class Intake:
    """`heard` is what a Scanner calls; the rest is the agent's."""

    def __init__(self, reception: Reception, publish_unregistered: bool) -> None:
        self._window = Window(reception, publish_unregistered)
        self._lock = threading.Lock()
        self.last_heard = time.monotonic()

    def heard(self, address: str, rssi: int, manufacturer: Mapping[int, bytes], service: Mapping[str, bytes]) -> None:
        """One advert."""
        sighting = decode(address, manufacturer, service)
        now = time.monotonic()
        with self._lock:
            self.last_heard = now
            self._window.add(address, rssi, sighting, now)

    def close(self) -> list[Reading]:
        """The readings of the window that ends now."""
        with self._lock:
            return self._window.close(time.monotonic())

    @property
    def reception(self) -> Reception:
        """The settings in force."""
        return self._window.reception

    @reception.setter
    def reception(self, reception: Reception) -> None:
        with self._lock:
            self._window.reception = reception

    @property
    def adverts(self) -> int:
        """Adverts heard since the start."""
        return self._window.adverts

    @property
    def ignored(self) -> Mapping[str, int]:
        """Adverts left out on purpose, by reason."""
        return self._window.ignored

    @property
    def unregistered_distinct(self) -> int:
        """Distinct unknown beacons held at present."""
        return self._window.unregistered_distinct

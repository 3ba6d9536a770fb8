"""`gateway-agent scan`: a live table of received adverts, with rich."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gateway_agent import beacon_id
from gateway_agent.decoders import Telemetry, describe, join
from gateway_agent.scanner import ScanError, Scanner

RATE_OVER_S = 10.0
FORGET_AFTER_S = 60.0
MAX_ROWS = 500  # rows remembered; a screen shows fewer


@dataclass(slots=True)
class Row:
    """One beacon id and its adverts so far."""

    beacon: str
    kind: str
    address: str
    rssi: int
    since: float
    times: deque[float] = field(default_factory=lambda: deque(maxlen=1000))

    def rate(self, now: float) -> float:
        """Adverts per second over the last ten seconds, or since the first advert."""
        while self.times and now - self.times[0] > RATE_OVER_S:
            self.times.popleft()
        return len(self.times) / min(RATE_OVER_S, max(1.0, now - self.since))


class AdvertTable:
    """Collects adverts by id. Thread-safe."""

    def __init__(self) -> None:
        self.adverts = 0
        self._rows: dict[str, Row] = {}
        self._telemetry: dict[str, Telemetry] = {}
        self._lock = threading.Lock()

    def add(self, address: str, rssi: int, manufacturer: Mapping[int, bytes], service: Mapping[str, bytes]) -> None:
        """Add one advert."""
        now, mac = time.monotonic(), beacon_id.from_mac(address)
        with self._lock:
            self.adverts += 1
            named = False
            for frame in describe(manufacturer, service):
                if latest := join(self._telemetry.get(address), frame.telemetry):
                    self._telemetry[address] = latest
                if beacon := frame.beacon or frame.detail:
                    self._note(beacon, frame.kind, address, rssi, now)
                    named = True
                elif frame.telemetry and mac not in self._rows:
                    self._note(mac, frame.kind, address, rssi, now)
                    named = True
            if not named:
                kind = self._rows[mac].kind if mac in self._rows else "mac"
                self._note(mac, kind, address, rssi, now)

    def rows(self, now: float) -> Iterator[tuple[Row, Telemetry]]:
        """Rows by RSSI, strongest first. Beacons silent for a minute are removed."""
        with self._lock:
            for beacon in [b for b, row in self._rows.items() if now - row.times[-1] > FORGET_AFTER_S]:
                del self._rows[beacon]
            here = {row.address for row in self._rows.values()}
            self._telemetry = {address: latest for address, latest in self._telemetry.items() if address in here}
            rows = sorted(self._rows.values(), key=lambda row: (-row.rssi, row.beacon))
            telemetry = dict(self._telemetry)
        for row in rows:
            yield row, telemetry.get(row.address, Telemetry())

    def _note(self, beacon: str, kind: str, address: str, rssi: int, now: float) -> None:
        row = self._rows.get(beacon)
        if row is None:
            if len(self._rows) >= MAX_ROWS:
                return
            row = self._rows[beacon] = Row(beacon, kind, address, rssi, now)
        row.address, row.rssi = address, rssi
        row.times.append(now)


def render(adverts: AdvertTable, now: float, height: int | None = None) -> Table:
    """The table; at most ``height`` rows."""
    # No lines, and only the id may wrap: everything fits into 80 columns.
    table = Table(title=f"{adverts.adverts} adverts", title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("id", overflow="fold")
    table.add_column("kind", no_wrap=True)
    for name in ("RSSI", "per s", "battery", "°C", "% RH"):
        table.add_column(name, justify="right", no_wrap=True)
    for number, (row, latest) in enumerate(adverts.rows(now)):
        if height is not None and number >= height:
            break
        climate = (_text(latest.temperature_c, "{:.1f}"), _text(latest.humidity_pct, "{:.0f}"))
        # As Text: rich would read some addresses as markup.
        table.add_row(Text(row.beacon), row.kind, str(row.rssi), f"{row.rate(now):.1f}", _battery(latest), *climate)
    return table


def _battery(latest: Telemetry) -> str:
    return _text(latest.battery_mv, "{} mV") or _text(latest.battery_pct, "{} %")


def _text(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


async def run(adapter: str, seconds: float | None) -> int:
    """Show the table until Ctrl-C or for ``seconds``. Without a terminal it is printed once, at the end."""
    adverts, console = AdvertTable(), Console()
    scanner = Scanner(adverts.add, adapter)
    try:
        await scanner.start()
    except ScanError as error:
        _complain(console, f"{error}\n`gateway-agent doctor` says what to do.")
        return 1
    ends = None if seconds is None else time.monotonic() + seconds
    try:
        if console.is_terminal:
            with Live(console=console, auto_refresh=False) as live:
                while ends is None or time.monotonic() < ends:
                    live.update(render(adverts, time.monotonic(), console.height - 6), refresh=True)
                    await asyncio.sleep(0.5)
        else:
            await asyncio.sleep(seconds or RATE_OVER_S)
            console.print(render(adverts, time.monotonic()))
    finally:
        try:
            await scanner.stop()
        except ScanError as error:
            _complain(console, f"{error}\nThe scan may have ended earlier; see `gateway-agent doctor`.")
    return 0


def _complain(console: Console, text: str) -> None:
    console.print(text, style="red", highlight=False, markup=False)

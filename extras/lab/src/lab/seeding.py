"""Stores history and telemetry before a run, directly in InfluxDB: older than what memory holds."""

from collections.abc import Iterable, Iterator
from itertools import islice

from influxdb_client.client.influxdb_client import InfluxDBClient
from influxdb_client.client.write_api import SYNCHRONOUS

from lab.calls import RSSI, Site
from lab.catalogue import EVENT_S, TELEMETRY_BEACONS
from lab.plan import Seed
from lab.stored import ORGANISATION, TIMEOUT_MS
from lab.target import Target

OLDER_THAN_MEMORY_S = 900
LINES = 5000
DAY_S = 86_400


def past_end_s(now_s: float) -> int:
    """The last second of the history that a run stores."""
    return int(now_s) - OLDER_THAN_MEMORY_S


def seed(target: Target, site: Site, wanted: Seed) -> int:
    """Store what a scenario wants; returns the number of points."""
    count = 0
    with InfluxDBClient(target.influx_url, target.influx_write_token, org=ORGANISATION, timeout=TIMEOUT_MS) as client:
        writer = client.write_api(write_options=SYNCHRONOUS)
        for bucket, lines in (
            ("locations", _locations(site, wanted)),
            ("telemetry", _telemetry(site, wanted)),
            ("locations", _events(site, wanted)),
        ):
            for some in _chunks(lines):
                writer.write(bucket=bucket, record="\n".join(some), write_precision="ms")
                count += len(some)
    return count


def _locations(site: Site, wanted: Seed) -> Iterator[str]:
    for person in range(wanted.staff):
        for second in range(site.past_end_s - wanted.rows + 1, site.past_end_s + 1):
            place = site.past_place(second)
            fields = f'level="{place.level}",room="{place.room}",beacon="{place.beacon}",rssi={RSSI}i'
            yield f"location,staff_id=past-{person} {fields} {second * 1000}"


def _telemetry(site: Site, wanted: Seed) -> Iterator[str]:
    end_s = site.past_end_s // 60 * 60
    for minute in range(round(wanted.telemetry_days * DAY_S / 60)):
        warmth, wetness = 20 + minute % 60 / 10, 40 + minute % 90 / 9
        fields = f"battery_mv={3000 - minute / 100},temperature_c={warmth},humidity_pct={wetness}"
        for beacon in telemetry_beacons(site):
            yield f"telemetry,beacon={beacon} {fields} {(end_s - (minute + 1) * 60) * 1000}"


def telemetry_beacons(site: Site) -> list[str]:
    """The beacons with stored telemetry."""
    return [place.beacon for place in site.places[:TELEMETRY_BEACONS]]


def _events(site: Site, wanted: Seed) -> Iterator[str]:
    for number in range(wanted.events):
        place = site.place_of(number)
        yield (
            f'event,type=enter,subject=past-{number % 5} level="{place.level}",room="{place.room}" '
            f"{(site.past_end_s - number * EVENT_S) * 1000}"
        )


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    left = iter(lines)
    while some := list(islice(left, LINES)):
        yield some

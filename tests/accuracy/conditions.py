"""Recordings under other conditions: other receivers, phones, tags and plans than those that were recorded. Pure."""

import random
from dataclasses import replace
from functools import partial

from accuracy.recorded import Mode, Recording
from accuracy.recut import Cut, Variation

LONG_MS = (2000, 4000)  # windows of receivers that save power
EVERY_MS = (1000, 2000)  # between two adverts of a tag or beacon that saves power
STRONGEST = 4  # readings of a phone's batch (docs/phones.md)
WEAKER_DB = 15
UNHEARD_DBM = -100  # weaker adverts are not received
MISSING_SHARE = 0.5
OTHER: dict[Mode, Mode] = {"gateway": "phone", "phone": "gateway"}
BEACON_ID = "D0{:010X}"


def conditions(times: int = 3) -> tuple[Variation, ...]:
    """All of them; random ones several times."""
    listed: list[tuple[str, Cut, int]] = [
        *((f"windows of {ms / 1000:g} s", partial(_windows, ms=ms), 1) for ms in LONG_MS),
        *((f"an advert every {ms / 1000:g} s", partial(adverts_every, ms=ms), 1) for ms in EVERY_MS),
        ("roles swapped", roles_swapped, 1),
        (f"a phone's {STRONGEST} strongest", strongest_only, 1),
        ("a room without a device", room_without_device, times),
        ("half of the positions missing", positions_missing, times),
        (f"heard {WEAKER_DB} dB weaker", weaker, 1),
    ]
    return tuple(Variation(*one) for one in listed)


def _windows(recording: Recording, _: random.Random, ms: int) -> Recording:
    gateways = [{**one, "window_ms": ms} for one in recording.building["gateways"]]
    return replace(recording, window_ms=ms, building={**recording.building, "gateways": gateways})


def adverts_every(recording: Recording, rng: random.Random, ms: int) -> Recording:
    """One advert of each device at most in each period: a tag or beacon that advertises rarely."""
    phase = rng.randrange(ms)
    last: dict[tuple[str, str], int] = {}
    kept = []
    for one in recording.adverts:
        key, period = (one.receiver, one.beacon), (one.ts_ms + phase) // ms
        if last.get(key) != period:
            last[key] = period
            kept.append(one)
    return replace(recording, adverts=tuple(kept))


def roles_swapped(recording: Recording, _: random.Random) -> Recording:
    """Gateways become beacons and the tag a phone, or the reverse: a radio path is the same in both directions."""
    ids = {one["id"]: BEACON_ID.format(number) for number, one in enumerate(recording.devices)}
    mode = OTHER[recording.mode]
    (staff,) = recording.building["staff"]
    if mode == "phone":
        devices = [_beacon(one, ids[one["id"]]) for one in recording.devices]
        adverts = [one._replace(receiver=staff["id"], beacon=ids[one.receiver]) for one in recording.adverts]
        building = {**recording.building, "gateways": [], "beacons": devices}
    else:
        tag = BEACON_ID.format(len(ids))
        devices = [{key: value for key, value in one.items() if key != "tx"} for one in recording.devices]
        adverts = [one._replace(receiver=one.beacon, beacon=tag) for one in recording.adverts]
        building = {
            **recording.building,
            "gateways": devices,
            "beacons": [],
            "staff": [{**staff, "tags": [tag]}],
        }
    return replace(recording, mode=mode, building=building, adverts=tuple(adverts))


def _beacon(gateway: dict[str, object], beacon: str) -> dict[str, object]:
    return {key: value for key, value in gateway.items() if key not in ("rssi_offset", "min_rssi")} | {"id": beacon}


def strongest_only(recording: Recording, rng: random.Random) -> Recording:
    """A phone that publishes the strongest beacons of each window only; gateways become beacons for it."""
    phone = recording if recording.mode == "phone" else roles_swapped(recording, rng)
    return replace(phone, max_readings=STRONGEST)


def room_without_device(recording: Recording, rng: random.Random) -> Recording:
    """Without the devices of one room; unchanged where all are in one."""
    rooms = sorted({one["room"] for one in recording.devices})
    out = rng.choice(rooms) if len(rooms) > 1 else None
    key = "gateways" if recording.mode == "gateway" else "beacons"
    devices = [one for one in recording.devices if one["room"] != out]
    left = {one["id"] for one in devices}
    adverts = tuple(one for one in recording.adverts if recording.device(one) in left)
    return replace(recording, building={**recording.building, key: devices}, adverts=adverts)


def positions_missing(recording: Recording, rng: random.Random) -> Recording:
    """Of half of the devices only the room is known."""
    key = "gateways" if recording.mode == "gateway" else "beacons"
    unknown = {one["id"] for one in rng.sample(recording.devices, round(MISSING_SHARE * len(recording.devices)))}
    devices = [{**one, "approximate": True} if one["id"] in unknown else one for one in recording.devices]
    return replace(recording, building={**recording.building, key: devices})


def weaker(recording: Recording, _: random.Random) -> Recording:
    """A tag or phone (beacons) with less power than the building file states; what gets too weak is not heard."""
    shifted = (one._replace(rssi=one.rssi - WEAKER_DB) for one in recording.adverts)
    return replace(recording, adverts=tuple(one for one in shifted if one.rssi >= UNHEARD_DBM))

"""Alters recordings: other levels, or no measured positions. Pure."""

import random
from dataclasses import replace

from accuracy.recorded import HEARD_DBM, Recording

TAG_DB = 15  # power settings of tags differ by more
DEVICE_DB = 6


def stronger(recording: Recording, by_db: int) -> Recording:
    """All readings are stronger by a constant, as with another tag or phone."""
    return _shifted(recording, {one["id"]: by_db for one in recording.devices})


def uneven(recording: Recording, seed: int) -> Recording:
    """Each device is stronger or weaker by DEVICE_DB, at random."""
    rng = random.Random(f"{recording.of}/{seed}")  # noqa: S311 - play, not secrets
    return _shifted(recording, {one["id"]: rng.choice((-DEVICE_DB, DEVICE_DB)) for one in recording.devices})


def unlike(recording: Recording, seed: int) -> Recording:
    """Each device is stronger or weaker by up to DEVICE_DB, uniformly distributed."""
    rng = random.Random(f"{recording.of}/{seed}")  # noqa: S311 - play, not secrets
    return _shifted(recording, {one["id"]: round(rng.uniform(-DEVICE_DB, DEVICE_DB)) for one in recording.devices})


def unmeasured(recording: Recording) -> Recording:
    """Only the rooms of devices are known, not their positions."""
    key = "gateways" if recording.mode == "gateway" else "beacons"
    devices = [{**one, "approximate": True} for one in recording.devices]
    return replace(recording, building={**recording.building, key: devices})


def _shifted(recording: Recording, by_db: dict[str, int]) -> Recording:
    def level(rssi: int, device: str) -> int:
        return max(HEARD_DBM[0], min(HEARD_DBM[-1], rssi + by_db[device]))

    adverts = tuple(one._replace(rssi=level(one.rssi, recording.device(one))) for one in recording.adverts)
    return replace(recording, adverts=adverts)

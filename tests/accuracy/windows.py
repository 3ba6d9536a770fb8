"""Makes batches of a recording's adverts, as receivers send them: windows, statistic, latency. Pure."""

import random
from dataclasses import replace

from simulator.message import Reading, window_rssi

from accuracy.follow import Sent
from accuracy.recorded import WINDOW_MS, Advert, Recording

LATENCY_MS = (10, 60)  # receiver, network and broker


def batches(recording: Recording, phases: int) -> list[Sent]:
    """Batches in order of arrival. Each receiver's windows start at a random moment; `phases` is the seed
    of these moments, and of the latency."""
    rng = random.Random(f"{recording.of}/{recording.name}/{phases}")  # noqa: S311 - play, not secrets
    window_ms = recording.window_ms
    phase = {one: rng.randrange(window_ms) for one in sorted({advert.receiver for advert in recording.adverts})}
    heard: dict[tuple[int, str], dict[str, list[int]]] = {}
    for ts_ms, receiver, beacon, rssi in recording.adverts:
        end_ms = ts_ms + window_ms - (ts_ms - phase[receiver]) % window_ms
        heard.setdefault((end_ms, receiver), {}).setdefault(beacon, []).append(rssi)
    sent = []
    for (end_ms, receiver), levels in sorted(heard.items()):
        readings = tuple(Reading(beacon, window_rssi(values)) for beacon, values in sorted(levels.items()))
        if recording.max_readings:
            readings = tuple(sorted(readings, key=lambda one: -one.rssi)[: recording.max_readings])
        sent.append(Sent(end_ms + rng.uniform(*LATENCY_MS), recording.mode, receiver, end_ms, readings))
    return sorted(sent, key=lambda one: one.now_ms)


def published(recording: Recording) -> Recording:
    """The recording with what is published of it, at the ends of windows, where that is much less than was heard."""
    if recording.window_ms == WINDOW_MS and recording.max_readings is None:
        return recording
    found = [
        Advert(one.ts, one.receiver, reading.beacon, reading.rssi)
        for one in batches(recording, 0)
        for reading in one.readings
    ]
    return replace(recording, adverts=tuple(sorted(found)))

"""Two simple methods to name the room, for comparison: they use raw adverts and rooms of devices. Pure.

`strongest`: the room of the strongest reading of the second. `mean`: the exponential mean over 2 s of each device's
levels in dB, powers summed by room, and a change only when another room wins twice in a row."""

import math
from collections import defaultdict
from collections.abc import Callable

from accuracy.recorded import Recording

MEAN_MS = 2000  # time constant
OLDEST_MS = 5000  # older readings do not count
WINS = 2
Way = Callable[[Recording], dict[int, str]]


def strongest(recording: Recording) -> dict[int, str]:
    """Room by `ts_ms` of each second of the truth: from its adverts, else the previous second's room."""
    room_of = _room_of(recording)
    best: dict[int, str] = {}
    last, at, adverts = "", 0, recording.adverts
    for second in recording.truth:
        levels: list[tuple[int, str]] = []
        while at < len(adverts) and adverts[at].ts_ms < second.ts_ms:
            levels.append((adverts[at].rssi, room_of[recording.device(adverts[at])]))
            at += 1
        last = max(levels, key=lambda one: one[0])[1] if levels else last
        if last:
            best[second.ts_ms] = last
    return best


def mean(recording: Recording) -> dict[int, str]:
    """Room by `ts_ms` of each second of the truth; none before the first reading."""
    room_of = _room_of(recording)
    level: dict[str, tuple[int, float]] = {}
    found: dict[int, str] = {}
    room, rival, wins, at, adverts = "", "", 0, 0, recording.adverts
    for second in recording.truth:
        while at < len(adverts) and adverts[at].ts_ms < second.ts_ms:
            one, device = adverts[at], recording.device(adverts[at])
            before_ms, before = level.get(device, (one.ts_ms, float(one.rssi)))
            kept = math.exp(-(one.ts_ms - before_ms) / MEAN_MS)
            level[device] = one.ts_ms, before * kept + one.rssi * (1 - kept)
            at += 1
        power: defaultdict[str, float] = defaultdict(float)
        for device, (ms, decibels) in level.items():
            if second.ts_ms - ms < OLDEST_MS:
                power[room_of[device]] += 10 ** (decibels / 10)
        if power:
            best = max(power, key=power.__getitem__)
            wins = 0 if best == room else wins + 1 if best == rival else 1
            rival = best
            if not room or wins >= WINS:
                room, wins = best, 0
        if room:
            found[second.ts_ms] = room
    return found


def _room_of(recording: Recording) -> dict[str, str]:
    return {one["id"]: one["room"] for one in recording.devices}

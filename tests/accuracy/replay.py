"""Whether history that is rebuilt from stored readings is the one that was said live, second by second."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from accuracy.drawn import draw
from accuracy.follow import Estimate, Play, Sent, follow_all
from accuracy.measure import spread
from accuracy.recorded import Advert, Recording, batches

SEEDS = range(1, 15)
PEOPLE = 3
JITTER_S = 0.03  # mean of an exponential delay: receivers overtake each other
LATEST_S = 0.09  # network and broker take 10 to 100 ms
AGAIN_SHARE, AGAIN_S = 0.05, 3.0  # of the batches come a second time, some seconds later
WARM_S = 900  # a rebuild begins so long before what it is about
COMPARED_S = 300  # at the end, after a rebuild that began so late
TAG = "DA7A0000000{}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """One drawn building: seconds of all people, and those with another room when they are rebuilt, from the beginning,
    and begun WARM_S before."""

    seed: int
    mode: str
    seconds: int
    other: int
    warm_seconds: int
    warm_other: int

    @property
    def strict(self) -> bool:
        return self.other == 0 and self.warm_other == 0


def measure_replay(seeds: Iterable[int] = SEEDS, said: Callable[[str], object] = str) -> list[Replayed]:
    """Each building with its people, live and rebuilt. Raises FollowError."""

    def one(seed: int) -> Replayed:
        said(f"live and rebuilt: drawn building {seed}")
        recording = together(draw(seed).recordings)
        sent = batches(recording, 0)
        begin_ms = recording.truth[0].ts_ms
        last_ms = recording.truth[-1].ts_ms + 1000
        stored = sorted(sent, key=lambda one: (one.ts, one.receiver))
        warm = [one for one in stored if one.ts >= last_ms - 1000 * (WARM_S + COMPARED_S)]
        plays = [
            Play(recording.building, disturbed(sent, seed), recording.end_ms),
            Play(recording.building, stored, recording.end_ms, rebuild=True),
            Play(recording.building, warm, recording.end_ms, rebuild=True),
        ]
        live, whole, late = follow_all(plays)
        from_s = warm[0].ts // 1000 + WARM_S
        seconds, other = differ(live, whole, begin_ms // 1000)
        return Replayed(seed, recording.mode, seconds, other, *differ(live, late, from_s))

    return spread(one, seeds)


def together(recordings: list[Recording]) -> Recording:
    """People who each walk some of the recordings, one after the other, all at the same time."""
    first = recordings[0]
    begin_ms = first.truth[0].ts_ms
    staff, adverts = [], list[Advert]()
    truth = list(first.truth)
    for number in range(PEOPLE):
        who, tag = f"walker-{number}", TAG.format(number)
        staff.append({"id": who, "name": who, "tags": [tag] if first.mode == "gateway" else []})
        for turn, one in enumerate(recordings[number::PEOPLE]):
            by_ms = begin_ms + turn * 1000 * len(one.truth) - one.truth[0].ts_ms
            for ts_ms, receiver, beacon, rssi in one.adverts:
                heard = (receiver, tag) if first.mode == "gateway" else (who, beacon)
                adverts.append(Advert(ts_ms + by_ms, *heard, rssi))
            if number == 0 and turn:
                truth += [second._replace(ts_ms=second.ts_ms + by_ms) for second in one.truth]
    building = {**first.building, "staff": staff}
    return replace(first, name="together", building=building, adverts=tuple(sorted(adverts)), truth=tuple(truth))


def disturbed(sent: list[Sent], seed: int) -> list[Sent]:
    """As they arrive: receivers overtake each other (the broker keeps the order of each), and some come twice."""
    rng = random.Random(f"disturbed/{seed}")  # noqa: S311 - play, not secrets
    found = []
    last_ms: dict[str, float] = {}
    for one in sent:
        delay_ms = 1000 * min(LATEST_S, rng.expovariate(1 / JITTER_S))
        late = replace(one, now_ms=max(last_ms.get(one.receiver, 0), one.now_ms + delay_ms))
        last_ms[one.receiver] = late.now_ms
        found.append(late)
        if rng.random() < AGAIN_SHARE:
            found.append(replace(late, now_ms=late.now_ms + 1000 * rng.uniform(0, AGAIN_S)))
    return sorted(found, key=lambda one: one.now_ms)


def differ(live: dict[str, Estimate], again: dict[str, Estimate], from_s: float) -> tuple[int, int]:
    """Seconds from then on that either knows, and those of them with another room."""
    total = other = 0
    for who in live.keys() | again.keys():
        said, rebuilt = (one.get(who, Estimate()).rooms() for one in (live, again))
        seconds = [second for second in said.keys() | rebuilt.keys() if second >= from_s]
        total += len(seconds)
        other += sum(said.get(second) != rebuilt.get(second) for second in seconds)
    return total, other

"""Runs a million random payloads through each decoder: no exception, and the time it takes.

python gateway-agent/bench decoders [--payloads 1000000] [--seed 1]
"""

import argparse
import random
import time

from gateway_agent.decoders import altbeacon, bthome, decode, eddystone, ibeacon, moko
from rig import say

# Half of the payloads start like a frame of the format, so that they get past the first checks.
HEADS = {
    ibeacon.decode: [b"\x02\x15"],
    altbeacon.decode: [b"\xbe\xac"],
    eddystone.decode: [b"\x00", b"\x10", b"\x20\x00"],
    bthome.decode: [b"\x40", b"\x44"],
    moko.decode_bxp: [b"\x40", b"\x50", b"\x60", b"\x70"],
    moko.decode_sensor: [b"\x80\x18", b"\x80"],
    moko.decode_h: [b"\x64"],
}
LONGEST = 40


def main() -> None:
    """Run all decoders, then whole adverts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--payloads", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rnd = random.Random(options.seed)  # noqa: S311 - payloads, not secrets
    for decoder, heads in HEADS.items():
        frames, took = 0, 0.0
        for _ in range(options.payloads // 1000):
            some = [rnd.choice(heads) * rnd.randrange(2) + rnd.randbytes(rnd.randrange(LONGEST)) for _ in range(1000)]
            began = time.perf_counter()
            frames += sum(decoder(data) is not None for data in some)
            took += time.perf_counter() - began
        name = f"{decoder.__module__.rsplit('.', 1)[1]}.{decoder.__name__}"
        each = took / options.payloads * 1e6
        say(f"{name}: {options.payloads} payloads, {frames} frames, {took:.1f} s ({each:.2f} µs each)")
    services = (eddystone.UUID, bthome.UUID, moko.UUID_BXP, moko.UUID_SENSOR, moko.UUID_H)
    began = time.perf_counter()
    for _ in range(options.payloads):
        data = rnd.randbytes(rnd.randrange(LONGEST))
        decode("C2:A6:28:38:4B:08", {0x004C: data}, {rnd.choice(services): data})
    say(f"whole adverts: {options.payloads}, {time.perf_counter() - began:.1f} s with making them")

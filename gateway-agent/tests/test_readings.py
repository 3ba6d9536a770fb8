"""The contract's message."""

import json

from gateway_agent.readings import MAX_BYTES, MAX_READINGS, Reading, message, pack
from hypothesis import given
from hypothesis import strategies as st

readings = st.builds(
    Reading,
    beacon=st.text("0123456789ABCDEF-", min_size=12, max_size=64),
    rssi=st.integers(-126, 20),
    n=st.integers(1, 1000),
    tx=st.none() | st.integers(-127, 20),
    battery_mv=st.none() | st.integers(1, 20_000),
    temperature_c=st.none() | st.floats(-100, 150),
    humidity_pct=st.none() | st.floats(0, 100),
)


@given(st.lists(readings, max_size=30), st.integers(1, 50))
def test_messages_keep_the_limits_and_every_reading(some: list[Reading], times: int) -> None:
    everything = some * times
    said: list[dict[str, object]] = []
    for count, body in pack(everything):
        payload = message(1637396919123, 17, body)
        assert len(payload) <= MAX_BYTES
        batch = json.loads(payload)
        assert (batch["v"], batch["ts"], batch["seq"]) == (1, 1637396919123, 17)
        assert 0 < len(batch["readings"]) == count <= MAX_READINGS
        said += batch["readings"]
    assert [reading["beacon"] for reading in said] == [reading.beacon for reading in everything]


def test_unknown_fields_are_left_out() -> None:
    assert Reading("C2A628384B08", -61, 1).to_json() == '{"beacon":"C2A628384B08","rssi":-61,"n":1}'

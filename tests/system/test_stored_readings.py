"""What is stored of readings: batches of one millisecond, and the points of earlier versions while they are kept."""

from support.api import Api
from support.building import Building
from support.influx_writer import store
from support.running import RunningStack
from support.stack_client import at_least, batch, eventually, history, influx, now_ms, publish
from support.stored import stored_readings

DAY_MS = 86_400_000


def test_batches_of_one_millisecond_are_all_stored_and_one_sent_again_is_one_point(
    stack: RunningStack, demo: Building
) -> None:
    first, second, third = (beacon.id for beacon in demo.beacons[:3])
    now = now_ms()
    one, other = batch((first, -50), (second, -60), ts=now), batch((third, -70), ts=now)
    end = batch((first, -50), ts=now + 1)
    publish(stack, *(("phone/millisecond/readings", body) for body in (one, other, one, other, end)))
    where = "receiver = 'millisecond'"
    points = eventually(lambda: at_least(3, influx(stack, "readings", f"SELECT readings FROM batch WHERE {where}")))  # noqa: S608 - our own
    assert [point["time"] for point in points] == [now, now, now + 1]
    stored = stored_readings(stack, f"{where} AND time < {now + 1}ms")
    assert {(row["beacon"], row["rssi"]) for row in stored} == {(first, -50), (second, -60), (third, -70)}


def test_both_schemas_are_located_again_as_one_walk(stack: RunningStack, demo: Building, api: Api) -> None:
    first, second = demo.beacons_of_two_rooms()
    began_ms = (now_ms() - DAY_MS) // 1000 * 1000
    at = [began_ms + n * 1000 for n in range(40)]
    lines = [
        f"reading,kind=phone,receiver=upgraded,beacon={beacon.id} rssi={rssi}i,battery_mv=2950i {ts}"
        for ts in at[:20]
        for beacon, rssi in ((first, -50), (second, -80))
    ]
    assert store(stack, "readings", lines) == 40
    later = [batch((first.id, -80), (second.id, -50), ts=ts) for ts in at[20:]]
    publish(stack, *(("phone/upgraded/readings", one) for one in later))
    eventually(lambda: len(stored_readings(stack, "receiver = 'upgraded'")) == 40, what="batches stored")

    window = {"from": at[0] / 1000, "to": at[-1] / 1000}
    api.ask("requestRebuild", 202, **window)
    rooms = [demo.room_name(beacon.room) for beacon in (second, first)]
    records = eventually(lambda: found if len(found := _rooms(stack, at)) == 2 else None, what="both rooms in history")
    assert records == rooms

    raw = api.get("listTelemetry", beacon=first.id, every="raw", start=window["from"], end=window["to"] + 1)["points"]
    assert [point[:3] for point in raw] == [[ts, "upgraded", 2950] for ts in at[:20]]


def _rooms(stack: RunningStack, at: list[int]) -> list[str]:
    """Rooms from the newest to the oldest, each once."""
    return list(dict.fromkeys(one["location"] for one in history(stack, "upgraded", at[0] / 1000, at[-1] / 1000)))

"""Types of decoded adverts. Calibrated power is always at 1 m, whatever distance the format uses."""

from typing import NamedTuple

# Path loss from 0 m to 1 m for formats that give their power at 0 m. Source: the Eddystone specification,
# "Tx Power ... measured at 0 meters ... adding 41 dBm" (github.com/google/eddystone, eddystone-uid/README.md).
LOSS_0M_TO_1M_DB = 41
TX_RANGE = (-127, 20)  # dBm at 1 m, from the contract; a misconfigured beacon may send any value
BATTERY_MV_RANGE = (1, 20_000)
TEMPERATURE_C_RANGE = (-100.0, 150.0)
HUMIDITY_PCT_RANGE = (0.0, 100.0)


class Telemetry(NamedTuple):
    """A beacon's telemetry; None is unknown. Voltage is in millivolts, a percentage stays a percentage."""

    battery_mv: int | None = None
    temperature_c: float | None = None
    humidity_pct: float | None = None
    battery_pct: int | None = None


class Frame(NamedTuple):
    """One decoded frame: ``kind`` for people, ``beacon`` id in the contract's form, ``tx`` dBm at 1 m.

    ``beacon`` is None if the frame has no id and belongs to the sending device (TLM, sensor frames, URL).
    """

    kind: str
    beacon: str | None = None
    tx: int | None = None
    telemetry: Telemetry | None = None
    detail: str = ""


class Sighting(NamedTuple):
    """One advert: all its ids (id -> calibrated power or None) and its device's telemetry."""

    ids: dict[str, int | None]
    telemetry: Telemetry | None


def signed8(byte: int) -> int:
    """Two's complement of one byte."""
    return byte - 256 if byte > 127 else byte


def telemetry(
    battery_mv: int | None = None,
    temperature_c: float | None = None,
    humidity_pct: float | None = None,
    battery_pct: int | None = None,
) -> Telemetry | None:
    """Telemetry without impossible values (such as bit errors); None if nothing is left."""
    if battery_mv is not None and not BATTERY_MV_RANGE[0] <= battery_mv <= BATTERY_MV_RANGE[1]:
        battery_mv = None
    if temperature_c is not None:
        in_range = TEMPERATURE_C_RANGE[0] <= temperature_c <= TEMPERATURE_C_RANGE[1]
        temperature_c = round(temperature_c, 2) + 0.0 if in_range else None  # + 0.0: no -0.0
    if humidity_pct is not None:
        in_range = HUMIDITY_PCT_RANGE[0] <= humidity_pct <= HUMIDITY_PCT_RANGE[1]
        humidity_pct = round(humidity_pct, 2) if in_range else None
    if battery_pct is not None and not 0 <= battery_pct <= 100:
        battery_pct = None
    if battery_mv is None and temperature_c is None and humidity_pct is None and battery_pct is None:
        return None
    return Telemetry(battery_mv, temperature_c, humidity_pct, battery_pct)

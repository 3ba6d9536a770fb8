"""What a decoder gives. Calibrated power is always at 1 m, whatever the format says it at."""

from typing import NamedTuple

# Path loss from 0 m to 1 m for formats that give their power at 0 m. Source: the Eddystone specification,
# "Tx Power ... measured at 0 meters ... adding 41 dBm" (github.com/google/eddystone, eddystone-uid/README.md).
LOSS_0M_TO_1M_DB = 41
TX_RANGE = (-127, 20)  # dBm at 1 m: the contract's; a beacon that was set up wrongly may say anything
BATTERY_MV_RANGE = (1, 20_000)
TEMPERATURE_C_RANGE = (-100.0, 150.0)
HUMIDITY_PCT_RANGE = (0.0, 100.0)


class Telemetry(NamedTuple):
    """What a beacon says of itself; None is unknown. Volts go as millivolts, a percentage stays one."""

    battery_mv: int | None = None
    temperature_c: float | None = None
    humidity_pct: float | None = None
    battery_pct: int | None = None


class Frame(NamedTuple):
    """One decoded frame: ``kind`` for people, ``beacon`` id in the contract's form, ``tx`` dBm at 1 m.

    ``beacon`` is None where the frame names nobody and belongs to the device that sent it (TLM, sensor frames, URL).
    """

    kind: str
    beacon: str | None = None
    tx: int | None = None
    telemetry: Telemetry | None = None
    detail: str = ""


class Sighting(NamedTuple):
    """One advert: every id it goes by (id -> calibrated power or None) and what it says of its device."""

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
    """A Telemetry without values no sensor can mean (a bit error is not a fire); None when nothing is left."""
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

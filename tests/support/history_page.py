"""Reads the history page, and the same data from `/api/v1`."""

from datetime import UTC, datetime
from typing import Any

import httpx

from . import web
from .crowd import Crowd, stays_of
from .running import RunningStack

SHOW_AND_PLAY = """async () => {
  const soon = async (probe) => {
    for (;;) {
      const found = probe();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const at = () => document.querySelector('.past')?.dataset.at;
  const show = await soon(() => document.querySelector('.choose form button.main'));
  const startMs = performance.now();
  show.click();
  (await soon(() => document.querySelector('.player button.main'))).click();
  const first = at();
  await soon(() => at() !== first && document.querySelector('.here [data-person]'));
  return (performance.now() - startMs) / 1000;
}"""
"""Seconds from the click on Show to a running playback."""

LISTED = """() => Object.fromEntries([...document.querySelectorAll('.here [data-person]')]
  .map((one) => [one.dataset.person, one.closest('[data-here]').dataset.here]))"""
"""People by room in the list beside the plan."""

DRAWN = """() => {
  const svg = document.querySelector('.plan > svg');
  const rooms = [...svg.querySelectorAll('.room')];
  const people = {};
  for (const marker of svg.querySelectorAll('.marker')) {
    const [x, y] = marker.style.transform.match(/-?[\\d.]+/g).map(Number);
    const at = Object.assign(svg.createSVGPoint(), { x, y });
    people[marker.dataset.staff] = rooms.find((room) => room.querySelector('path').isPointInFill(at))?.dataset.room;
  }
  const many = [...svg.querySelectorAll('.cluster')].map((one) => [one.dataset.cluster, Number(one.textContent)]);
  return { people, many: Object.fromEntries(many) };
}"""
"""Room of each marker by its position, and the number of each cluster."""

COLOURS = """async (bytes) => {
  const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const context = canvas.getContext('2d');
  context.drawImage(picture, 0, 0);
  const { data } = context.getImageData(0, 0, picture.width, picture.height);
  const found = new Set();
  for (let i = 0; i < data.length; i += 4) found.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
  return { width: picture.width, colours: [...found] };
}"""
"""The width and all colours ("red,green,blue") of a picture."""


def written(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def where(stays: list[dict[str, Any]], ms: int) -> dict[str, str]:
    """Each person's room at an instant, from stays."""
    found: dict[str, str] = {}
    for one in sorted(stays, key=lambda one: int(one["enter_ms"])):
        if one["enter_ms"] <= ms:
            found.pop(one["staff_id"], None)
            if ms <= one["leave_ms"]:
                found[one["staff_id"]] = one["room"]
    return found


def stays_by_api(stack: RunningStack, crowd: Crowd, start_ms: int, end_ms: int) -> list[dict[str, Any]]:
    """All stays from `/api/v1/staff/{staff_id}/stays`, person by person."""
    with web.Client(base_url=stack.http_url, timeout=20) as caller:
        return [{"staff_id": who, **one} for who in crowd.staff for one in stays_of(caller, who, start_ms, end_ms)]


def location_at(caller: httpx.Client, who: str, ms: int) -> str:
    """A person's room by the last location in the ten seconds before an instant."""
    asked = {"start": (ms - 10_000) / 1000, "end": (ms + 1) / 1000}
    answer = caller.get(f"/api/v1/staff/{who}/locations", params=asked)
    return str(answer.json()["locations"][-1]["room"])


def clipped(stays: list[dict[str, Any]], level: str, window: tuple[int, int]) -> dict[str, list[tuple[int, int]]]:
    """Stays on a level, clipped to a window, by room."""
    found: dict[str, list[tuple[int, int]]] = {}
    for one in stays:
        if one["level"] == level:
            found.setdefault(one["room"], []).append((max(one["enter_ms"], window[0]), min(one["leave_ms"], window[1])))
    return found

/**
 * Sparklines from samples. Times in epoch ms; unknown values leave a gap.
 * @typedef {[ms: number, value: number]} Point
 */

/** Time span of a line. */
export const WINDOW_MS = 15 * 60_000;
/** Points further apart are not joined, and an older value is not current: three intervals of the slowest figure. */
const GAP_MS = 30_000;

/** Points of known values. @param {number[]} ms @param {(number|null)[]} values one for each time @returns {Point[]} */
export const pointsOf = (ms, values) => ms.flatMap((at, i) => (typeof values[i] === 'number' ? [/** @type {Point} */ ([at, values[i]])] : []));

/** The newest value. @param {Point[]} points @param {number} nowMs @returns {number|null} null: it is too old */
export function latest(points, nowMs) {
  const [ms, value] = points.at(-1) ?? [-Infinity, 0];
  return nowMs - ms <= GAP_MS ? value : null;
}

/** The next of 1, 2, 5, 10, 20 …: the value at the upper edge. @param {number} value */
export function ceiling(value) {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * (/** @type {number} */ ([1, 2, 5, 10].find((step) => value <= step * power)));
}

/**
 * A line over the last quarter of an hour, as the path of an SVG.
 * @param {Point[]} points
 * @param {{toMs: number, max: number, width: number, height: number}} field values at its right and upper edge
 */
export function pathOf(points, { toMs, max, width, height }) {
  let lastMs = -Infinity;
  return points.map(([ms, value]) => {
    const joined = ms - lastMs <= GAP_MS;
    lastMs = ms;
    const x = (width * (ms - toMs + WINDOW_MS)) / WINDOW_MS;
    const y = height * (1 - Math.min(value, max) / max);
    const at = `${x.toFixed(1)} ${y.toFixed(1)}`;
    return joined ? `L${at}` : `M${at}h0`; // h0: a single point is a dot
  }).join('');
}

import polylabel from 'polylabel';

/**
 * Rooms on a plan. The building file has y running north; drawings have it running down: `drawn` turns a polygon over,
 * and everything else here works on drawn ones. Lengths in metres.
 * @typedef {[number, number]} Point
 * @typedef {Point[]} Polygon
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/** @param {Polygon} polygon of the building file @param {number} height_m of its level @returns {Polygon} */
export const drawn = (polygon, height_m) => polygon.map(([x, y]) => [x, height_m - y]);

/** As an SVG path. @param {Polygon} polygon */
export const pathOf = (polygon) => `M${polygon.map(([x, y]) => `${round(x)},${round(y)}`).join('L')}Z`;

/** Some edges of it, by the number of the corner that each begins at, as an SVG path. @param {Polygon} polygon @param {number[]} edges */
export const edgesOf = (polygon, edges) => edges.filter((edge) => edge < polygon.length)
  .map((edge) => `M${[polygon[edge], polygon[(edge + 1) % polygon.length]].map(([x, y]) => `${round(x)},${round(y)}`).join('L')}`).join('');

/** @param {number} value to the centimetre */
const round = (value) => Math.round(value * 100) / 100;

/** @param {Polygon} polygon @returns {Box} */
export function bounds(polygon) {
  const xs = polygon.map(([x]) => x);
  const ys = polygon.map(([, y]) => y);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

/** The point inside that is farthest from any wall: where a sign would hang. @param {Polygon} polygon @returns {Point} */
export function centre(polygon) {
  const [x, y] = polylabel([polygon], 0.1);
  return [x, y];
}

/** Even-odd rule. @param {Polygon} polygon @param {Point} point */
export function inside(polygon, [x, y]) {
  let odd = false;
  polygon.forEach(([ax, ay], i) => {
    const [bx, by] = polygon[(i + 1) % polygon.length];
    if ((ay > y) !== (by > y) && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) odd = !odd;
  });
  return odd;
}

/** To the nearest wall. @param {Polygon} polygon @param {Point} point */
export function wallDistance(polygon, [x, y]) {
  return Math.min(...polygon.map(([ax, ay], i) => {
    const [bx, by] = polygon[(i + 1) % polygon.length];
    const [dx, dy] = [bx - ax, by - ay];
    const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(x - ax - along * dx, y - ay - along * dy);
  }));
}

/** More corners than this would take long, and are curves, where a few do as well. */
const LINES = 20;

/**
 * The widest strip near the top of the polygon that a sign fits into: for its name.
 * @param {Polygon} polygon
 * @param {number[]} heights_m of the sign, the first that fits is taken
 * @returns {Box} the strip; where none fits, one around the centre
 */
export function signBox(polygon, heights_m) {
  for (const height_m of heights_m) {
    const box = widestStrip(polygon, height_m);
    if (box) return box;
  }
  const [x, y] = centre(polygon);
  const half = wallDistance(polygon, [x, y]);
  const height = Math.min(2 * half, ...heights_m);
  return { x: x - half, y: y - height / 2, width: 2 * half, height };
}

/** @param {Polygon} polygon @param {number} height_m @returns {Box|null} */
function widestStrip(polygon, height_m) {
  const lines = (/** @type {number[]} */ values) => thin([...new Set(values)].sort((a, b) => a - b));
  const xs = lines(polygon.map(([x]) => x));
  const tops = lines(polygon.map(([, y]) => y));
  /** @type {Box|null} */
  let best = null;
  let most = -Infinity;
  for (const y of tops) {
    const lower = (y - tops[0]) / 2; // wide counts, but a name belongs to the top of its room
    for (let i = 0; i < xs.length; i += 1) {
      for (let j = xs.length - 1; j > i && xs[j] - xs[i] - lower > most; j -= 1) {
        const box = { x: xs[i], y, width: xs[j] - xs[i], height: height_m };
        if (!contains(polygon, box)) continue;
        best = box;
        most = box.width - lower;
      }
    }
  }
  return best;
}

/** @param {number[]} values */
const thin = (values) => (values.length <= LINES ? values : values.filter((_, i) => i % Math.ceil(values.length / LINES) === 0));

/** Whether a box lies in a polygon: a grid of its points does. @param {Polygon} polygon @param {Box} box */
function contains(polygon, { x, y, width, height }) {
  const steps = 12;
  for (let i = 0; i <= steps; i += 1) {
    const along = x + width * (0.01 + 0.98 * (i / steps));
    if (!inside(polygon, [along, y + 0.05 * height]) || !inside(polygon, [along, y + 0.95 * height])) return false;
  }
  return true;
}

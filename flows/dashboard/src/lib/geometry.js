import polylabel from 'polylabel';
import { borderDistance, inside } from '../../../lib/building/geometry.js';

/**
 * Geometry of rooms on a drawn plan. The building file has y to the north, a drawing has it downwards: `drawn` converts a
 * polygon, all other functions take drawn ones. Lengths in metres.
 * @typedef {[number, number]} Point
 * @typedef {Point[]} Polygon
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/** @param {Polygon} polygon of the building file @param {number} height_m of its level @returns {Polygon} */
export const drawn = (polygon, height_m) => polygon.map(([x, y]) => [x, height_m - y]);

/** A polygon as an SVG path. @param {Polygon} polygon */
export const pathOf = (polygon) => `M${polygon.map(([x, y]) => `${round(x)},${round(y)}`).join('L')}Z`;

/** Some edges as an SVG path; an edge has the number of its first corner. @param {Polygon} polygon @param {number[]} edges */
export const edgesOf = (polygon, edges) => edges.filter((edge) => edge < polygon.length)
  .map((edge) => `M${[polygon[edge], polygon[(edge + 1) % polygon.length]].map(([x, y]) => `${round(x)},${round(y)}`).join('L')}`).join('');

/** @param {number} value rounded to the centimetre */
const round = (value) => Math.round(value * 100) / 100;

/** @param {Polygon} polygon @returns {Box} */
export function bounds(polygon) {
  const xs = polygon.map(([x]) => x);
  const ys = polygon.map(([, y]) => y);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

/** The inner point farthest from all walls. @param {Polygon} polygon @returns {Point} */
export function centre(polygon) {
  const [x, y] = polylabel([polygon], 0.1);
  return [x, y];
}

/** Number of corners to try; more are curves, where a few are enough. */
const LINES_MAX = 20;

/**
 * The widest strip near the top of a polygon that the sign of the room fits into.
 * @param {Polygon} polygon
 * @param {number[]} heights_m heights of the sign, the first that fits is used
 * @returns {Box} the strip; where none fits, one around the centre
 */
export function signBox(polygon, heights_m) {
  for (const height_m of heights_m) {
    const box = widestStrip(polygon, height_m);
    if (box) return box;
  }
  const [x, y] = centre(polygon);
  const half = borderDistance(polygon, [x, y]);
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
    const lower = (y - tops[0]) / 2; // width counts, but a name belongs to the top of its room
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
const thin = (values) => (values.length <= LINES_MAX ? values : values.filter((_, i) => i % Math.ceil(values.length / LINES_MAX) === 0));

/** Whether a box is inside a polygon, tested on a grid of points. @param {Polygon} polygon @param {Box} box */
function contains(polygon, { x, y, width, height }) {
  const steps = 12;
  for (let i = 0; i <= steps; i += 1) {
    const along = x + width * (0.01 + 0.98 * (i / steps));
    if (!inside(polygon, [along, y + 0.05 * height]) || !inside(polygon, [along, y + 0.95 * height])) return false;
  }
  return true;
}

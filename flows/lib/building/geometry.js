// @ts-check
'use strict';

/**
 * Plane geometry of rooms: polygons as corners in order, lengths in metres.
 * @typedef {[number, number]} Point
 * @typedef {Point[]} Polygon
 */

/** Plans are drawn to the centimetre. */
const TOLERANCE_M = 0.01;

/** @param {Polygon} polygon @returns {[Point, Point][]} */
const edges = (polygon) => polygon.map((corner, i) => [corner, /** @type {Point} */ (polygon[(i + 1) % polygon.length])]);

/** @param {Point} point @param {[Point, Point]} edge @returns {number} metres */
function distance([x, y], [[ax, ay], [bx, by]]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}

/** Whether a point is inside a polygon (even-odd rule); on the border it may be either. @param {Polygon} polygon @param {Point} point */
function inside(polygon, [x, y]) {
  let isOdd = false;
  for (const [[ax, ay], [bx, by]] of edges(polygon)) {
    if ((ay > y) !== (by > y) && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) isOdd = !isOdd;
  }
  return isOdd;
}

/** Distance of a point to the border of a polygon, metres. @param {Polygon} polygon @param {Point} point */
const borderDistance = (polygon, point) => Math.min(...edges(polygon).map((edge) => distance(point, edge)));

/** @param {Polygon} polygon @param {Point} point @param {number} [within] metres */
const onBorder = (polygon, point, within = TOLERANCE_M) => edges(polygon).some((edge) => distance(point, edge) <= within);

/**
 * Whether the point lies in the polygon or on its border.
 * @param {Polygon} polygon
 * @param {Point} point
 * @param {number} [within] metres from the border
 */
const covers = (polygon, point, within = TOLERANCE_M) => inside(polygon, point) || onBorder(polygon, point, within);

/**
 * Points strictly inside: the centroids of triangles of neighbouring corners, where those lie inside.
 * @param {Polygon} polygon
 * @returns {Point[]}
 */
function innerPoints(polygon) {
  return polygon.flatMap((b, i) => {
    const a = /** @type {Point} */ (polygon.at(i - 1));
    const c = /** @type {Point} */ (polygon[(i + 1) % polygon.length]);
    /** @type {Point} */
    const middle = [(a[0] + b[0] + c[0]) / 3, (a[1] + b[1] + c[1]) / 3];
    return inside(polygon, middle) && !onBorder(polygon, middle) ? [middle] : [];
  });
}

/**
 * The midpoints of the pieces into which the other polygon's walls cut an edge.
 * @param {[Point, Point]} edge
 * @param {Polygon} other
 * @returns {Point[]}
 */
function pieces([[ax, ay], [bx, by]], other) {
  const [dx, dy] = [bx - ax, by - ay];
  const cuts = edges(other).flatMap(([[cx, cy], [ex, ey]]) => {
    const across = dx * (ey - cy) - dy * (ex - cx);
    if (across !== 0) return [((cx - ax) * (ey - cy) - (cy - ay) * (ex - cx)) / across];
    const along = (/** @type {number} */ x, /** @type {number} */ y) => ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1);
    return [along(cx, cy), along(ex, ey)]; // parallel
  });
  const at = [0, 1, ...cuts.filter((cut) => cut > 0 && cut < 1)].sort((m, n) => m - n);
  return at.slice(1).map((end, i) => {
    const middle = (end + /** @type {number} */ (at[i])) / 2;
    return [ax + middle * dx, ay + middle * dy];
  });
}

/**
 * Whether two polygons share some area; a common wall is none.
 * @param {Polygon} one
 * @param {Polygon} other
 */
function overlap(one, other) {
  return [[one, other], [other, one]].some(([a, b]) => {
    const [first, second] = [/** @type {Polygon} */ (a), /** @type {Polygon} */ (b)];
    return [...edges(first).flatMap((edge) => pieces(edge, second)), ...innerPoints(first)]
      .some((point) => inside(second, point) && !onBorder(second, point));
  });
}

module.exports = { borderDistance, covers, inside, overlap, TOLERANCE_M };

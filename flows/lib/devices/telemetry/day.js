// @ts-check
'use strict';

/**
 * The minutes of one beacon and one UTC day, encoded once: the text of all points as in an answer, and the offset of each
 * point, so that any part of the day is a slice.
 * @typedef {import('../../store/telemetry').Point} Point
 */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MINUTES = 1440;

class Day {
  /**
   * @param {number} startMs of the day
   * @param {Point[]} points ascending, of this day; the last point of a minute counts
   */
  constructor(startMs, points) {
    const byMinute = new Map(points.map((point) => [Math.floor((point[0] - startMs) / MINUTE_MS), point]));
    const texts = [...byMinute.values()].map((point) => `,${encode(point)}`);
    this.startMs = startMs;
    this.minutes = Uint16Array.from(byMinute.keys());
    this.offsets = new Uint32Array(texts.length + 1);
    texts.forEach((text, i) => { this.offsets[i + 1] = /** @type {number} */ (this.offsets[i]) + text.length; });
    /** All points, each with a comma before it; plain ASCII. */
    this.text = Buffer.from(texts.join(''), 'latin1');
  }

  get count() {
    return this.minutes.length;
  }

  /** Approximate memory. */
  get bytes() {
    return this.text.length + this.offsets.byteLength + this.minutes.byteLength + 512;
  }

  /** Index of the first point at or after a time, epoch ms. @param {number} ms */
  indexFrom(ms) {
    const minute = Math.max(0, Math.min(MINUTES, Math.ceil((ms - this.startMs) / MINUTE_MS)));
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (/** @type {number} */ (this.minutes[middle]) < minute) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Text of the points in [from, to). @param {number} from @param {number} to */
  slice(from, to) {
    return this.text.subarray(this.offsets[from], this.offsets[to]);
  }

  /** Start of the minute of a point, epoch ms. @param {number} index */
  msAt(index) {
    return this.startMs + /** @type {number} */ (this.minutes[index]) * MINUTE_MS;
  }

  /** Points in [from, to) as numbers. @param {number} from @param {number} to @returns {Point[]} */
  points(from, to) {
    return JSON.parse(`[${this.slice(from, to).toString('latin1').slice(1)}]`);
  }
}

/** @param {readonly (number|string|null)[]} point rounded to two decimals; battery to whole mV */
function encode([ts, ...values]) {
  const [receiver, rest] = typeof values[0] === 'string' ? [`${JSON.stringify(values[0])},`, values.slice(1)] : ['', values];
  const texts = rest.map((value, i) => (typeof value !== 'number' ? 'null' : i === 0 ? Math.round(value) : Math.round(value * 100) / 100));
  return `[${ts},${receiver}${texts.join()}]`;
}

module.exports = { Day, encode, MINUTE_MS, DAY_MS };

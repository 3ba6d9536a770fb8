// @ts-check
'use strict';

/**
 * The badge of a node in the editor: rates and states, at most once a second and only when the text is another one.
 * @typedef {{fill: 'green'|'yellow'|'red'|'grey', shape: 'dot'|'ring', text: string}} Badge
 */

const SHOW_MS = 1000;

/** How often something happens. */
class Rate {
  #count = 0;
  #sinceMs;

  /** @param {number} nowMs */
  constructor(nowMs) {
    this.#sinceMs = nowMs;
  }

  /** @param {number} count */
  add(count) {
    this.#count += count;
  }

  /** Per second since this was asked last; whole above 10. @param {number} nowMs @returns {string} */
  perSecond(nowMs) {
    const rate = this.#count / Math.max((nowMs - this.#sinceMs) / 1000, 0.001);
    this.#count = 0;
    this.#sinceMs = nowMs;
    return rate >= 10 || rate === 0 ? String(Math.round(rate)) : rate.toFixed(1);
  }
}

/**
 * @param {{status: (badge: Badge|{}) => void}} node of Node-RED
 * @param {(nowMs: number) => Badge} read
 * @param {() => number} [clock]
 * @returns {() => void} to be called on close
 */
function showBadge(node, read, clock = Date.now) {
  let shown = '';
  const show = () => {
    const badge = read(clock());
    const text = JSON.stringify(badge);
    if (text === shown) return;
    shown = text;
    node.status(badge);
  };
  const timer = setInterval(show, SHOW_MS);
  show();
  return () => {
    clearInterval(timer);
    node.status({});
  };
}

module.exports = { Rate, showBadge };

// @ts-check
'use strict';

/** As long as a clock may be off, and so as far as it may be set back, and a little more. */
const KEPT_MS = 310_000;

/**
 * The last stamps of a receiver, in the order of arrival, as 32 bits each. Pure.
 */
class Stamps {
  constructor() {
    this.ring = new Uint32Array(8);
    this.first = 0;
    this.count = 0;
    this.lastMs = 0;
  }

  /** @param {number} ms */
  add(ms) {
    this.lastMs = ms;
    while (this.count > 0 && this.#at(0) < ms - KEPT_MS) this.#drop();
    if (this.count === this.ring.length) this.#grow();
    this.ring[(this.first + this.count) % this.ring.length] = ms % 2 ** 32;
    this.count += 1;
  }

  /** @param {number} ms */
  has(ms) { return this.ring.includes(ms % 2 ** 32) && this.since(ms).includes(ms); }

  /** Those of a time and later, ascending. @param {number} ms @returns {number[]} */
  since(ms) {
    const found = new Set();
    for (let n = 0; n < this.count; n += 1) if (this.#at(n) >= ms) found.add(this.#at(n));
    return [...found].sort((a, b) => a - b);
  }

  /** @param {number} n */
  #at(n) {
    const value = /** @type {number} */ (this.ring[(this.first + n) % this.ring.length]);
    return this.lastMs - ((this.lastMs % 2 ** 32) - value | 0);
  }

  #drop() {
    this.first = (this.first + 1) % this.ring.length;
    this.count -= 1;
  }

  #grow() {
    const all = Uint32Array.from({ length: this.count }, (_, n) => this.#at(n) % 2 ** 32);
    this.ring = new Uint32Array(2 * this.count);
    this.ring.set(all);
    this.first = 0;
  }
}

module.exports = { Stamps, KEPT_MS };

// @ts-check
'use strict';

/**
 * Registry of the flows' own figures: flat numbers for the heartbeat, which Telegraf writes to the bucket `health`, and the same
 * figures for Prometheus (`prometheus.js`). Names end with their unit (`_ms`, `_s`, `_bytes`).
 * @typedef {object} Figure
 * @property {string} name
 * @property {'counter'|'gauge'} kind a counter only grows, from 0 at each start
 * @property {string} help one sentence
 * @property {string} [label] what the parts of a figure differ by: `reason`, `part`; few values, never a person
 * @property {'sum'|'none'} [flat] sum: the heartbeat has the sum of the parts too; none: not in the heartbeat
 * @property {() => number|null|Record<string, number>} read null: not known; with a label: a number for each of its values
 * @typedef {ReturnType<typeof createFigures>} Figures
 */

const NAME = /^[a-z][a-z0-9_]*$/;

function createFigures() {
  /** @type {Map<string, Figure>} */
  const figures = new Map();
  /** @type {Set<() => void>} */
  const rolls = new Set();

  /** @param {Figure} figure @returns {[string, number][]} */
  function flatOf({ name, label, flat, read }) {
    const value = read();
    if (flat === 'none' || value === null) return [];
    if (label === undefined) return [[name, /** @type {number} */ (value)]];
    const parts = Object.entries(/** @type {Record<string, number>} */ (value));
    const each = parts.map(([key, number]) => /** @type {[string, number]} */ ([`${name}_${nameOf(key)}`, number]));
    return flat === 'sum' ? [[name, parts.reduce((sum, [, number]) => sum + number, 0)], ...each] : each;
  }

  return {
    /**
     * @param {Figure[]} more
     * @param {() => void} [roll] closes the interval of interval figures
     * @returns {() => void} removes them
     * @throws {Error} where a name is invalid or taken
     */
    add(more, roll = () => {}) {
      for (const figure of more) {
        if (!NAME.test(figure.name) || figures.has(figure.name)) throw new Error(`a figure cannot be named "${figure.name}", or there is one already`);
        figures.set(figure.name, figure);
      }
      rolls.add(roll);
      return () => {
        for (const { name } of more) figures.delete(name);
        rolls.delete(roll);
      };
    },
    /** Closes the interval and starts the next; called with each heartbeat. */
    roll: () => { for (const roll of rolls) roll(); },
    /** @returns {Figure[]} */
    all: () => [...figures.values()],
    /** All figures under flat names. @returns {Record<string, number>} */
    flat: () => Object.fromEntries([...figures.values()].flatMap(flatOf).filter(([, number]) => Number.isFinite(number))),
  };
}

/** A label value as part of a name; the route `/` becomes `root`. @param {string} text */
const nameOf = (text) => text.toLowerCase().match(/[a-z0-9]+/g)?.join('_') ?? 'root';

module.exports = { createFigures };
